/**
 * Access tokens at the endpoints of the issuer (RFC 6750 §2.1): of the built-in authorization server, or of
 * the external one of the issuer.
 */
import { isOver } from '../../foundation/clock.ts'
import { advance } from '../engine/record.ts'
import { issueCredential } from '../issuance/model.ts'
import type { Db } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { readProof, refusal, useProof, type Protected } from './dpop.ts'
import { readExternalToken } from './external-server.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { externalServerOf } from './server-secret.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { logRefusedRequest } from './request-log.ts'
import { findGrant, findRecords, findToken, recordIdsOf, type Token } from './grant.ts'

/** The headers of a request. */
export type Presented = { authorization?: string | undefined; dpop?: string | undefined }

/**
 * What an access token is for, and the thumbprint of the key that it is bound to. `isOver`: it is good for a
 * deferred credential alone.
 */
export type Granted = Omit<Token, 'isOverForDeferred'>

/** The endpoints of a deferred credential, whose token may be good for longer there. */
const forDeferred: readonly Protected[] = ['deferred-credentials', 'notifications']

/**
 * What the access token of a request is for.
 *
 * @throws {OAuthError} `invalid_token`, `invalid_dpop_proof`, `use_dpop_nonce`
 */
export async function authorize(
  wallet: Wallet,
  issuer: IssuerRow,
  endpoint: Protected,
  { authorization = '', dpop }: Presented,
): Promise<Granted> {
  const [, scheme, token] = /^(Bearer|DPoP) +([\w.~+/-]+=*) *$/i.exec(authorization) ?? []
  if (scheme === undefined || token === undefined)
    throw new OAuthError('invalid_token', 'The request has no access token in its Authorization header.')
  const granted = await findGranted(wallet, issuer, endpoint, token)
  const isDpop = scheme.toLowerCase() === 'dpop'
  await assertBound(wallet, issuer, granted, { endpoint, isDpop, dpop, token })
  if (granted.grant.authorization_server !== null) await redeemOffer(wallet, granted)
  return granted
}

async function findGranted(
  wallet: Wallet,
  issuer: IssuerRow,
  endpoint: Protected,
  token: string,
): Promise<Granted> {
  const found = await findToken(wallet.db, issuer.id, token)
  if (found && !isOverAt(found, endpoint)) return found
  if (found) await logRefusedRequest(wallet, found.recordIds[0]!, unknownToken())
  if (found || issuer.authorization_server === null) throw unknownToken()
  return findGrantedByServer(wallet, issuer, token)
}

function isOverAt({ isOver, isOverForDeferred }: Token, endpoint: Protected): boolean {
  return forDeferred.includes(endpoint) ? isOverForDeferred : isOver
}

/**
 * The grant that a token of the external server names by `issuer_state`.
 *
 * An offer belongs to one server, so that a token of a later one is not for it.
 */
async function findGrantedByServer(wallet: Wallet, issuer: IssuerRow, token: string): Promise<Granted> {
  const { env } = wallet
  const server = externalServerOf(wallet, issuer)
  const identifier = identifierOf(env.urls.rest, issuer.id)
  const { issuerState, jkt } = await readExternalToken(env.http, server, {
    token,
    audiences: [identifier, `${identifier}/credentials`, server.clientId],
    leewaySeconds: env.config.PRESENTATION_LEEWAY,
  })
  const grant = await findGrant(wallet.db, issuer.id, 'state_digest', issuerState)
  if (grant?.authorization_server !== server.url) throw unknownToken()
  return { grant, recordIds: recordIdsOf(grant), jkt, isOver: false, refreshed: undefined }
}

/**
 * RFC 9449 §7: a token that is bound to a key needs a proof of that key, and another one must not have the
 * scheme DPoP.
 */
async function assertBound(
  wallet: Wallet,
  issuer: IssuerRow,
  { grant, jkt }: Granted,
  {
    endpoint,
    isDpop,
    dpop,
    token,
  }: { endpoint: Protected; isDpop: boolean; dpop: string | undefined; token: string },
): Promise<void> {
  if (jkt === null && !isDpop) return
  if (jkt === null || !isDpop)
    throw new OAuthError('invalid_token', `The access token is ${jkt === null ? 'not ' : ''}bound to a key.`)
  const proof = await readProof(wallet, issuer, dpop, { endpoint, accessToken: token })
  if (proof?.jkt !== jkt)
    throw refusal(
      'invalid_dpop_proof',
      proof ? 'The access token is bound to another key.' : 'The DPoP proof is missing.',
      endpoint,
    )
  await wallet.env.limitOffers(grant.id)
  await wallet.transaction((tx) => useProof(tx, proof, endpoint))
}

/** The first use of an external token redeems the offer. */
async function redeemOffer(wallet: Wallet, { recordIds }: Granted): Promise<void> {
  if ((await findOpen(wallet.db, recordIds)).length === 0) return
  const isExpired = await wallet.transaction(async (tx) => {
    let isLate = false
    for (const record of await findOpen(tx, recordIds)) {
      isLate = isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)
      await advance(tx, issueCredential, record, isLate ? 'expired' : 'received token request', {})
    }
    return isLate
  })
  if (isExpired) throw new OAuthError('invalid_token', 'The access token is for an offer that has expired.')
}

async function findOpen(db: Db, recordIds: readonly string[]) {
  return (await findRecords(db, recordIds)).filter(({ state }) => state === 'OfferCreated')
}

function unknownToken(): OAuthError {
  return new OAuthError('invalid_token', 'The access token is unknown to this issuer, or has expired.')
}
