/**
 * Authorization codes (VCI §6, RFC 6749 §4.1.3, RFC 7636 §4.6): the authorization that a person gave on the
 * consent page, and its redemption.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { updateData } from '../engine/record.ts'
import type { CredentialRecord } from '../issuance/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { CheckedRequest, grantIdOf } from './authorization-request.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import { sealIdentity } from './log-in/identity.ts'
import { type Presented, sealPresented } from './presentation/presented.ts'
import { type GrantRow, insertGrant, noRenewal, revokeTokens, sealSecrets, updateGrant } from './grant.ts'

/** The seconds for which an authorization code is valid. */
const lifetimeSeconds = 60

/**
 * The request that a code is for, when the code ends, in milliseconds since 1970, and the sealed code, for a
 * form that comes twice.
 */
const Authorized = CheckedRequest.omit({ grantId: true, identity: true }).extend({
  endsMs: z.number(),
  sealedCode: z.string().optional(),
})
type Authorized = z.infer<typeof Authorized>

const contextOf = (grantId: string) => `authorization-code:${grantId}`

/** Makes the code of a request that the person accepted. A code of an earlier request of the same offer ends. */
export async function createCode(
  tx: Tx,
  wallet: Wallet,
  issuerId: string,
  request: CheckedRequest,
  presented: Presented | undefined,
): Promise<string> {
  const code = newSecret()
  const endsMs = Date.now() + lifetimeSeconds * 1_000
  const { grantId: offerId, identity, ...kept } = request
  const grantId = grantIdOf(request)
  const sealedCode = wallet.seal(contextOf(grantId), code)
  const authorized = JSON.stringify({ ...kept, endsMs, sealedCode } satisfies Authorized)
  const authorization = {
    code_digest: digestOf(code),
    authorized,
    identity: sealIdentity(wallet, grantId, identity),
    presented: sealPresented(wallet, grantId, presented),
  }
  if (offerId === undefined)
    await insertGrant(tx, {
      id: grantId,
      issuer_id: issuerId,
      records: '[]',
      authorization_server: null,
      state_digest: null,
      sealed: sealSecrets(wallet, grantId, {}),
      guesses: 0,
      ...noRenewal,
      ...authorization,
    })
  else await updateGrant(tx, grantId, authorization)
  return code
}

/** The authorization of a grant. Undefined for one with a pre-authorized code. */
export function authorizedIn({ authorized }: GrantRow): Authorized | undefined {
  return authorized === null ? undefined : Authorized.parse(JSON.parse(authorized))
}

/** The code of an accepted request again. Undefined if it was redeemed or has expired. */
export function findCode(
  wallet: Wallet,
  { id, sealed }: GrantRow,
  { endsMs, sealedCode }: Authorized,
): string | undefined {
  if (sealed === null || isOver(endsMs) || sealedCode === undefined) return undefined
  return wallet.unseal(contextOf(id), sealedCode)
}

type Redemption = {
  client_id?: string | undefined
  redirect_uri?: string | undefined
  code_verifier?: string | undefined
  /** Of the key of the DPoP proof. */
  jkt?: string | undefined
  /** The thumbprint of the attested key of the client. */
  clientKey?: string | undefined
}

/**
 * Checks that the client which made the authorization request redeems its code, once.
 *
 * @returns the refusal. A mistake does not use the code up; a second redemption revokes the access token of
 * the first (RFC 6749 §4.1.2)
 */
export async function refusalOfCode(
  tx: Tx,
  { grant, records }: { grant: GrantRow; records: readonly CredentialRecord[] },
  { client_id: clientId, redirect_uri: redirectUri, code_verifier: verifier, jkt, clientKey }: Redemption,
): Promise<OAuthError | undefined> {
  const authorized = authorizedIn(grant)
  if (!authorized) return invalidCode('is unknown')
  if (grant.sealed === null) {
    await revokeUnused(tx, grant, records)
    return invalidCode('was used before; its access token is revoked')
  }
  const isOpen =
    authorized.configurationIds !== undefined ||
    (records.length > 0 && records.every(({ state }) => state === 'OfferCreated'))
  if (!isOpen || isOver(authorized.endsMs)) return invalidCode('has expired')
  for (const [name, value] of Object.entries({ client_id: clientId, redirect_uri: redirectUri }))
    if (value === undefined) return new OAuthError('invalid_request', `${name} is missing.`)
  if (clientId !== authorized.clientId) return invalidCode('was issued to another client_id')
  if (redirectUri !== authorized.redirectUri) return invalidCode('was issued for another redirect_uri')
  if (verifier === undefined) return new OAuthError('invalid_request', 'code_verifier is missing.')
  // The method S256 (RFC 7636 §4.2).
  if (digestOf(verifier) !== authorized.codeChallenge)
    return invalidCode('was issued for another code_verifier')
  if (authorized.jkt !== undefined && jkt !== authorized.jkt)
    return invalidCode('is bound to another DPoP key')
  if (authorized.clientKey !== undefined && clientKey !== authorized.clientKey)
    return invalidCode('is bound to the attested key of the client that pushed the request')
  return undefined
}

/** What was issued already stays with its wallet. */
async function revokeUnused(tx: Tx, { id }: GrantRow, records: readonly CredentialRecord[]): Promise<void> {
  const waiting = records.filter(({ state }) => state === 'OfferRedeemed')
  if (waiting.length === 0) return
  await revokeTokens(tx, id)
  const detail = 'The authorization code was sent twice, so its access token was revoked. Make a new offer.'
  const metaLastFailure = { status: 400, type: 'invalid_grant', title: 'Invalid Grant', detail }
  for (const record of waiting) await updateData(tx, record, { metaLastFailure })
}

/** `reason` continues the sentence "The authorization code". */
function invalidCode(reason: string): OAuthError {
  return new OAuthError('invalid_grant', `The authorization code ${reason}.`)
}
