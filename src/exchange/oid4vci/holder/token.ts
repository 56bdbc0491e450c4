/**
 * Token requests of a wallet (VCI §6.1). The access token is stored before it is used, because a code can be
 * redeemed once.
 */
import * as z from 'zod'
import { ifValid, validOnes } from '../../../foundation/foreign.ts'
import { isTemporary, Problem } from '../../../foundation/problem.ts'
import { generateKey } from '../../../foundation/crypto/keys.ts'
import { advance, begin, requireTransition, updateData } from '../../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../../issuance/model.ts'
import type { AcceptCredentialOffer } from '../../issuance/offers.ts'
import { wrongState } from '../../engine/protocol.ts'
import type { Tx } from '../../../foundation/storage/database.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { preAuthorizedGrant } from '../../../foundation/oauth/parameters.ts'
import { type Answer, describe } from './answer.ts'
import { attestClient, newClientKey } from './attestation.ts'
import { type Caller, post, readAnswer, refused } from './caller.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { callerOf, failStep, findFreePlace, findOpenSiblings, getOffer, type OfferRecord } from './record.ts'
import { type RenewalGrant, storeGrant } from './renewal-grant.ts'
import { openSecrets, sealSecrets, type Secrets } from './secrets.ts'
import { received, toInitial } from './store-offer.ts'

const Details = z.looseObject({
  type: z.string(),
  credential_configuration_id: z.string().optional(),
  credential_identifiers: ifValid(validOnes(z.string().max(2_000))),
})

export const TokenResponse = z.looseObject({
  /** It is sent in a header. */
  access_token: z
    .string()
    .max(100_000)
    .regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters'),
  token_type: z.string(),
  /** It is sent in a form. */
  refresh_token: ifValid(z.string().min(1).max(100_000)),
  expires_in: ifValid(z.number()),
  authorization_details: ifValid(validOnes(Details)),
})

type Details = z.output<typeof TokenResponse>['authorization_details']

/** The states after the token request. */
export const later: readonly CredentialRecord['state'][] = [
  'RequestPending',
  'CredentialDeferred',
  'CredentialReceived',
]

/**
 * Accepts an offer with a pre-authorized code: redeems it, and has the credential requested. A second call
 * changes nothing, also while the first one runs.
 *
 * @throws {Problem} 400 naming the member; `IssuerRefused`; 503 if the server does not answer
 */
const acceptOffer = oneAtATime('accept', accept)

/** OpenID4VCI as a transport of issuance: what a holder answers to the offer of an issuer. */
export const openid4vci = {
  accept: (wallet: Wallet, { id }: OfferRecord, choice: AcceptCredentialOffer) =>
    acceptOffer(wallet, id, choice),

  /** The issuer is not notified: the protocol has no message for that. */
  async reject(tx: Tx, record: OfferRecord): Promise<CredentialRecord> {
    if (record.state === 'OfferRejected') return record
    return advance(tx, issueCredential, record, 'rejected offer', {})
  },
}

async function accept(
  wallet: Wallet,
  recordId: string,
  given: AcceptCredentialOffer,
): Promise<CredentialRecord> {
  const record = await getOffer(wallet.db, recordId)
  if (later.includes(record.state)) return record
  if (record.state !== 'OfferReceived') throw wrongState(issueCredential, record, obtained)
  requireFitting(record, given)
  const { preAuthorizedCode } = openSecrets(wallet, record)
  const { isNamed, clientId } = record.receivedOffer
  const clientKey = newClientKey(record)
  const form = {
    grant_type: preAuthorizedGrant,
    'pre-authorized_code': preAuthorizedCode,
    tx_code: given.txCode,
    ...(isNamed && { client_id: clientId }),
  }
  const isGuess = given.txCode !== undefined
  return redeem(callerOf(wallet, record), record, { form, clientKey, isGuess })
}

type Redemption = {
  form: Record<string, string | undefined>
  /** The key of the wallet attestation, if the server requires one. */
  clientKey: Secrets['clientKey']
  isGuess?: boolean
}

/**
 * Redeems a code. The record notes that the code is sent before it is sent (`codeSentAt`), so that a refusal
 * after a crash can be explained. The record stays in its state if the server refuses the code.
 *
 * @throws {Problem} `IssuerRefused`; 503
 */
export async function redeem(
  caller: Caller,
  record: OfferRecord,
  { form, clientKey, isGuess = false }: Redemption,
): Promise<CredentialRecord> {
  const { wallet } = caller
  const { receivedOffer } = record
  const dpopKey = receivedOffer.usesDpop ? (generateKey('P-256') as Secrets['dpopKey']) : undefined
  const { token: url } = receivedOffer.endpoints
  const wasSent = receivedOffer.codeSentAt !== undefined
  let answer: Answer | undefined
  try {
    const client = await attestClient(caller, record, clientKey)
    await reserve(wallet, record.id)
    answer = await post(caller, url, { form, dpopKey, client })
    const refusal = reasonOfRefusal(answer, { isGuess, wasSent })
    const response = readAnswer(TokenResponse, answer, url, refusal)
    const isBound = response.token_type.toLowerCase() === 'dpop'
    if (!isBound && response.token_type.toLowerCase() !== 'bearer')
      throw refused(url, 'its token_type is neither Bearer nor DPoP')
    if (isBound && !dpopKey) throw refused(url, 'its token_type is DPoP, and the request had no DPoP proof')
    const { state } = openSecrets(wallet, record)
    const secrets = { accessToken: response.access_token, state, ...(isBound && { dpopKey }) }
    const { refresh_token: refreshToken, authorization_details: details } = response
    const grant =
      refreshToken === undefined ? undefined : { refreshToken, clientKey, ...(isBound && { dpopKey }) }
    return await storeToken(caller, record, { secrets, grant, details })
  } catch (error) {
    // Without an answer, and after one that cannot be read, the server may have redeemed the code.
    const isRefused = answer !== undefined && answer.status >= 400 && !isTemporary(error)
    return failStep(caller, record, error, isRefused ? { codeSentAt: undefined } : {})
  }
}

/** `grant` is there if the server gave a refresh token. */
type Obtained = { secrets: Secrets; grant: RenewalGrant | undefined; details: Details }

/**
 * Stores the access token with each record of the offer, and has their credentials requested. A configuration
 * for which the response names several credentials gets a record for each.
 */
function storeToken(
  { wallet, calls }: Caller,
  driver: OfferRecord,
  { secrets, grant, details }: Obtained,
): Promise<CredentialRecord> {
  return wallet.transaction(async (tx) => {
    if (grant) await storeGrant(tx, wallet, driver.thid, grant)
    let first: CredentialRecord | undefined
    for (const record of [driver, ...(await findOpenSiblings(tx, driver))]) {
      const { receivedOffer } = record
      const [identifier, ...more] = identifiersIn(details, receivedOffer.credentialConfigurationId)
      const change = (credentialIdentifier: string | undefined) => ({
        ...receivedOffer,
        calls,
        credentialIdentifier,
        authorizationUrl: undefined,
        codeSentAt: undefined,
        authorizationState: undefined,
      })
      const sealed = sealSecrets(wallet, record.id, secrets)
      const advanced = await advance(tx, issueCredential, record, obtained, {
        receivedOffer: { ...change(identifier), sealed },
        metaLastFailure: undefined,
      })
      first ??= advanced
      for (const further of more) {
        const initial = toInitial(wallet, change(further), secrets)
        const place = await findFreePlace(tx, driver)
        const next = { on: obtained, change: {} } as const
        const { thid } = driver
        await begin(tx, issueCredential, 'Holder', received, { ...initial, thid, place, next })
      }
    }
    return first!
  })
}

const obtained = 'obtained access token'

/**
 * Notes in the record that the code is about to be sent.
 *
 * @throws {Problem} if the record is in another state meanwhile
 */
async function reserve(wallet: Wallet, recordId: string): Promise<void> {
  await wallet.transaction(async (tx) => {
    const record = await getOffer(tx, recordId)
    requireTransition(issueCredential, record, obtained)
    const receivedOffer = { ...record.receivedOffer, codeSentAt: new Date().toISOString() }
    await updateData(tx, record, { receivedOffer })
  })
}

/** The most credentials of one configuration that are received. */
const maxIdentifiers = 10

/** VCI §6.2: a response with credential identifiers requires one in each credential request. */
export function identifiersIn(details: Details, configurationId: string): string[] {
  const granted = details?.find(
    (each) =>
      each.type === 'openid_credential' &&
      (each.credential_configuration_id === undefined ||
        each.credential_configuration_id === configurationId),
  )
  return [...new Set(granted?.credential_identifiers)].slice(0, maxIdentifiers)
}

function reasonOfRefusal(
  answer: Answer,
  { isGuess, wasSent }: { isGuess: boolean; wasSent: boolean },
): string {
  const said = describe(answer)
  if (answer.error !== 'invalid_grant') return said
  if (isGuess)
    return `${said}. Compare txCode with the one that the issuer gave; if it is right, ask for a new offer`
  return wasSent
    ? `${said}. This wallet has sent the code before and got no answer, which may have used it up: ask for a new offer`
    : `${said}. The code was used, was withdrawn, or has expired: ask for a new offer`
}

/** @throws {Problem} 400 */
function requireFitting(
  record: OfferRecord,
  { txCode: given, subjectId, keyId }: AcceptCredentialOffer,
): void {
  const { grant, txCode } = record.receivedOffer
  const refuse = (detail: string) => new Problem('BadRequest', detail)
  if (subjectId !== undefined || keyId !== undefined)
    throw refuse(
      `${subjectId === undefined ? 'keyId' : 'subjectId'}: leave it out. A credential of OpenID4VCI is bound to a new key of this wallet.`,
    )
  if (grant === 'authorization_code')
    throw refuse(
      `The offer needs the consent of a person at the issuer: call POST /issue-credentials/records/${record.id}/begin-authorization.`,
    )
  if (!txCode && given !== undefined) throw refuse('txCode: leave it out. The offer has no transaction code.')
  if (!txCode) return
  const { description, length, inputMode } = txCode
  if (given === undefined)
    throw refuse(
      `txCode is missing: the offer requires the transaction code that the issuer gave.${description === undefined ? '' : ` ${description}`}`,
    )
  if (length !== undefined && given.length !== length)
    throw refuse(`txCode has ${given.length} characters instead of ${length}.`)
  if (inputMode === 'numeric' && !/^\d+$/.test(given)) throw refuse('txCode must consist of digits.')
}
