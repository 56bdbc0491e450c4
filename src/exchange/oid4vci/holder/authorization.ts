/** The grant `authorization_code` (VCI §5): the person consents at the authorization server, in a browser. */
import * as z from 'zod'
import { oneLine } from '../../../foundation/foreign.ts'
import { Problem } from '../../../foundation/problem.ts'
import { wrongState } from '../../engine/protocol.ts'
import { advance, requireTransition } from '../../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../../issuance/model.ts'
import { toFailure } from '../../issuance/refusals.ts'
import { optional } from '../../../wallet/model.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { withParameters } from '../../../foundation/oauth/parameters.ts'
import { faultOfRedirectUri } from '../redirect-uri.ts'
import { digestOf, newSecret } from '../../../foundation/oauth/secrets.ts'
import { attestClient, newClientKey } from './attestation.ts'
import { type Caller, post, readAnswer, refused } from './caller.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { callerOf, failStep, findOpenSiblings, getOffer, type OfferRecord, withCalls } from './record.ts'
import { openSecrets, sealSecrets, type Secrets } from './secrets.ts'
import { later, redeem } from './token.ts'

export const BeginAuthorization = z
  .object({
    redirectUri: z
      .string()
      .max(2_000)
      .describe('Where the server sends the browser afterwards: https, or http to this machine.'),
  })
  .meta({ id: 'BeginAuthorizationRequest' })

export const CompleteAuthorization = z
  .object({
    state: z.string().describe('The query parameters of the redirect, as they were sent.'),
    code: optional(z.string().min(1).max(10_000)),
    iss: optional(z.string()),
    error: optional(z.string()),
    errorDescription: optional(z.string()),
  })
  .meta({ id: 'CompleteAuthorizationRequest' })
export type CompleteAuthorization = z.output<typeof CompleteAuthorization>

const begun = 'POST /issue-credentials/records/{recordId}/begin-authorization'

const PushedResponse = z.looseObject({ request_uri: z.string().min(1).max(10_000) })

/**
 * Begins the authorization: the record then has the URL for the person's browser. A later call begins it
 * anew.
 *
 * @throws {Problem} 400 naming the member, and for another grant; `IssuerRefused`; 503 if the server does not
 * answer
 */
export const beginAuthorization = oneAtATime('begin', begin)

async function begin(
  wallet: Wallet,
  recordId: string,
  { redirectUri }: z.output<typeof BeginAuthorization>,
): Promise<CredentialRecord> {
  const record = await getOffer(wallet.db, recordId)
  requireTransition(issueCredential, record, begun)
  const { receivedOffer } = record
  if (receivedOffer.grant !== 'authorization_code')
    throw new Problem(
      'BadRequest',
      `The offer has a pre-authorized code: call POST /issue-credentials/records/${recordId}/accept-offer.`,
    )
  const fault = faultOfRedirectUri(redirectUri)
  if (fault !== undefined) throw new Problem('BadRequest', `redirectUri ${fault}.`)
  const { issuerState } = openSecrets(wallet, record)
  const [verifier, state] = [newSecret(), newSecret()]
  const caller = callerOf(wallet, record)
  const parameters = {
    response_type: 'code',
    client_id: receivedOffer.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: digestOf(verifier),
    code_challenge_method: 'S256',
    issuer_state: issuerState,
    ...credentialsOf([record, ...(await findOpenSiblings(wallet.db, record))]),
  }
  const clientKey = newClientKey(record)
  try {
    const authorizationUrl = await toUrl(caller, record, parameters, clientKey)
    const sealed = sealSecrets(wallet, recordId, { issuerState, verifier, state, redirectUri, clientKey })
    const begunWith = { sealed, authorizationUrl, authorizationState: state, codeSentAt: undefined }
    const change = withCalls(record, caller, begunWith)
    return await wallet.transaction((tx) => advance(tx, issueCredential, record, begun, change))
  } catch (error) {
    return failStep(caller, record, error)
  }
}

/** The parameters that name the credentials: scopes, or else authorization details (VCI §5.1.1, §5.1.2). */
function credentialsOf(records: readonly OfferRecord[]): Record<string, string> {
  const { credentialIssuer, listsServers } = records[0]!.receivedOffer
  const scopes = records.flatMap(({ receivedOffer: { scope } }) => scope ?? [])
  if (scopes.length === records.length)
    return { scope: scopes.join(' '), ...(listsServers && { resource: credentialIssuer }) }
  const details = records.map(({ receivedOffer }) => ({
    type: 'openid_credential',
    credential_configuration_id: receivedOffer.credentialConfigurationId,
    ...(listsServers && { locations: [credentialIssuer] }),
  }))
  return { authorization_details: JSON.stringify(details) }
}

/** The URL of the authorization request, which is pushed if the server allows that (RFC 9126). */
async function toUrl(
  caller: Caller,
  record: OfferRecord,
  parameters: Record<string, string | undefined>,
  clientKey: Secrets['clientKey'],
): Promise<string> {
  const { endpoints, clientId } = record.receivedOffer
  const { pushedAuthorization: url, authorization } = endpoints
  if (url === undefined) return withParameters(authorization!, parameters)
  const client = await attestClient(caller, record, clientKey)
  const answer = await post(caller, url, { form: parameters, client })
  const { request_uri } = readAnswer(PushedResponse, answer, url)
  return withParameters(authorization!, { client_id: clientId, request_uri })
}

/**
 * Completes the authorization with the parameters of the redirect: redeems the code, and has the credential
 * requested. An error ends the flow. A second call with the same redirect changes nothing, also while the
 * first one runs.
 *
 * @throws {Problem} 400 for a response that is not of the begun authorization; `IssuerRefused`; 503 if the
 * server does not answer
 */
export const completeAuthorization = oneAtATime('complete', complete)

async function complete(
  wallet: Wallet,
  recordId: string,
  response: CompleteAuthorization,
): Promise<CredentialRecord> {
  const record = await getOffer(wallet.db, recordId)
  const { state, verifier, redirectUri, clientKey } = openSecrets(wallet, record)
  const isCompleted = later.includes(record.state) || record.state === 'IssuanceFailed'
  if (isCompleted && response.state === state) return record
  if (record.state !== 'AuthorizationPending')
    throw wrongState(issueCredential, record, 'obtained access token')
  const { clientId } = record.receivedOffer
  if (response.state !== state)
    throw new Problem(
      'BadRequest',
      'state: is not that of the begun authorization. Use the newest authorizationUrl, and send the parameters of its redirect.',
    )
  requireServer(record, response.iss)
  const { code, error, errorDescription } = response
  const caller = callerOf(wallet, record)
  if (error !== undefined) return endByError(caller, record, error, errorDescription)
  if (code === undefined) throw new Problem('BadRequest', 'code is missing, and so is error.')
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    client_id: clientId,
  }
  return redeem(caller, record, { form, clientKey })
}

/** RFC 9207 §2.4: a response of another server is mixed up. */
function requireServer({ receivedOffer }: OfferRecord, iss: string | undefined): void {
  const { authorizationServer, namesIssuer } = receivedOffer
  if (iss === authorizationServer || (iss === undefined && !namesIssuer)) return
  throw new Problem(
    'BadRequest',
    iss === undefined
      ? `iss: is missing, and the authorization server ${authorizationServer} always sends it. Send all parameters of the redirect, or begin the authorization again.`
      : `iss: is not the authorization server of the offer, which is ${authorizationServer}. The response is of another server; begin the authorization again.`,
  )
}

function endByError(
  caller: Caller,
  record: OfferRecord,
  error: string,
  description = '',
): Promise<CredentialRecord> {
  const { authorizationServer } = record.receivedOffer
  const said = [error, description].filter((each) => each !== '').map((each) => oneLine(each))
  const change = {
    ...withCalls(record, caller, { authorizationUrl: undefined, authorizationState: undefined }),
    metaLastFailure: toFailure(refused(authorizationServer, said.join(': '))),
  }
  return caller.wallet.transaction(async (tx) => {
    const { metaLastFailure } = change
    for (const sibling of await findOpenSiblings(tx, record))
      await advance(tx, issueCredential, sibling, 'failed authorization', { metaLastFailure })
    return advance(tx, issueCredential, record, 'failed authorization', change)
  })
}
