/**
 * The token request with a refresh token (RFC 6749 §6). A server may rotate the token, so the new one is
 * stored before anything else happens.
 */
import { updateData, updateWithEvent } from '../../engine/record.ts'
import { cancelQueue } from '../../../wallet/outbox/job.ts'
import { issueCredential, type CredentialRecord } from '../../issuance/model.ts'
import { renewalQueueOf } from '../../issuance/renewal.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { describe } from './answer.ts'
import { attestClient } from './attestation.ts'
import { type Caller, post, readAnswer, refused } from './caller.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { callerOf, findReceived, getOffer, type OfferRecord, withCalls } from './record.ts'
import { findGrant, removeGrant, type RenewalGrant, storeGrant } from './renewal-grant.ts'
import { openSecrets, sealSecrets } from './secrets.ts'
import { identifiersIn, TokenResponse } from './token.ts'

/** The lifetime of an access token if the server names none, and the longest that is believed, in seconds. */
const [assumedSeconds, longestSeconds] = [60, 86_400]

/**
 * Obtains an access token for the running renewal of a record. If the server no longer accepts the refresh
 * token, the renewal of all credentials of the offer needs a person. The credentials of one offer share a
 * refresh token, so that their requests are made one after the other.
 *
 * @throws {Problem} `IssuerRefused`; 503 if the server does not answer
 */
export const refreshToken = oneAtATime('refresh token', refresh)

async function refresh(wallet: Wallet, recordId: string, _given: object): Promise<CredentialRecord> {
  const record = await getOffer(wallet.db, recordId)
  const caller = callerOf(wallet, record)
  const grant = await findGrant(wallet.db, wallet, record.thid)
  if (!grant) return endGrant(caller, record, 'the wallet has no refresh token for it any more')
  const { receivedOffer } = record
  const { token: url } = receivedOffer.endpoints
  const isNamed = receivedOffer.grant === 'authorization_code' || receivedOffer.isNamed
  const form = {
    grant_type: 'refresh_token',
    refresh_token: grant.refreshToken,
    ...(isNamed && { client_id: receivedOffer.clientId }),
  }
  const client = await attestClient(caller, record, grant.clientKey)
  const answer = await post(caller, url, { form, dpopKey: grant.dpopKey, client })
  if (answer.error === 'invalid_grant') return endGrant(caller, record, describe(answer))
  const response = readAnswer(TokenResponse, answer, url)
  const fault = faultOf(response, record, grant)
  const { refresh_token: next = grant.refreshToken } = response
  const seconds = Math.min(response.expires_in ?? assumedSeconds, longestSeconds)
  const tokenAtMs = Date.now()
  const stored = await wallet.transaction(async (tx) => {
    await storeGrant(tx, wallet, record.thid, { ...grant, refreshToken: next })
    const current = await getOffer(tx, recordId)
    if (fault !== undefined) return current
    const secrets = { ...openSecrets(wallet, current), dpopKey: grant.dpopKey }
    const change = withCalls(current, caller, {
      sealed: sealSecrets(wallet, recordId, { ...secrets, accessToken: response.access_token }),
      renewing: { ...current.receivedOffer.renewing!, tokenAtMs, tokenUntilMs: tokenAtMs + seconds * 1_000 },
    })
    await updateData(tx, current, change)
    return { ...current, ...change }
  })
  if (fault !== undefined) throw refused(url, fault)
  return stored
}

/** What is wrong with a token that the server gives for a refresh token. Continues "The request failed: …". */
function faultOf(
  { token_type, authorization_details }: (typeof TokenResponse)['_output'],
  { receivedOffer }: OfferRecord,
  { dpopKey }: RenewalGrant,
): string | undefined {
  const expected = dpopKey ? 'DPoP' : 'Bearer'
  if (token_type.toLowerCase() !== expected.toLowerCase())
    return `its token_type is not ${expected}, as that of the first token`
  const { credentialIdentifier: known, credentialConfigurationId } = receivedOffer
  const identifiers = identifiersIn(authorization_details, credentialConfigurationId)
  if (identifiers.length === 0 || known === undefined || identifiers.includes(known)) return undefined
  return 'its credential_identifiers are not those of the first token'
}

/** The issuer has ended the grant: a person has to receive the credentials of the offer anew. */
function endGrant(caller: Caller, record: OfferRecord, said: string): Promise<CredentialRecord> {
  const reason = `The issuer renews it no longer without you: ${said}. Receive the credential again.`
  return caller.wallet.transaction(async (tx) => {
    await removeGrant(tx, record.thid)
    for (const each of await findReceived(tx, record)) {
      const { renewal } = each.receivedOffer
      await cancelQueue(tx, renewalQueueOf(each.id))
      const calls = each.id === record.id ? caller.calls : each.receivedOffer.calls
      const ended = { ...renewal, state: 'needs-you', reason, dueAt: undefined } as const
      const change = withCalls(each, { ...caller, calls }, { renewal: ended, renewing: undefined })
      await updateWithEvent(tx, issueCredential, each, change)
    }
    return getOffer(tx, record.id)
  })
}
