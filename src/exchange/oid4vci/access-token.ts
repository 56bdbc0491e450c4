/**
 * Access tokens at the endpoints of the issuer (RFC 6750 §2.1): of the built-in authorization server, or of
 * the external one of the issuer.
 */
import { isOver } from '../../foundation/clock.ts'
import { advance } from '../engine/record.ts'
import { getRecord } from '../engine/find.ts'
import { issueCredential } from '../issuance/model.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { readProof, refusal, useProof, type Protected } from './dpop.ts'
import { readExternalToken } from './external-server.ts'
import { externalServerOf, identifierOf, type IssuerRow } from './issuers.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { logRefusedRequest } from './request-log.ts'
import { findSession, type SessionRow } from './session.ts'

/** The headers of a request. */
export type Presented = { authorization?: string | undefined; dpop?: string | undefined }

/** A session, and the thumbprint of the key that its access token is bound to. */
type Granted = { session: SessionRow; jkt: string | null }

/**
 * The session that the access token of a request is for.
 *
 * @throws {OAuthError} `invalid_token`, `invalid_dpop_proof`, `use_dpop_nonce`
 */
export async function authorize(
  wallet: Wallet,
  issuer: IssuerRow,
  endpoint: Protected,
  { authorization = '', dpop }: Presented,
): Promise<SessionRow> {
  const [, scheme, token] = /^(Bearer|DPoP) +([\w.~+/-]+=*) *$/i.exec(authorization) ?? []
  if (scheme === undefined || token === undefined)
    throw new OAuthError('invalid_token', 'The request has no access token in its Authorization header.')
  const granted = await findGranted(wallet, issuer, token)
  const isDpop = scheme.toLowerCase() === 'dpop'
  await assertBound(wallet, issuer, granted, { endpoint, isDpop, dpop, token })
  if (granted.session.authorization_server !== null) await redeemOffer(wallet, granted.session)
  return granted.session
}

async function findGranted(wallet: Wallet, issuer: IssuerRow, token: string): Promise<Granted> {
  const session = await findSession(wallet.db, issuer.id, 'token_digest', token)
  if (session && !isOver(Date.parse(session.token_expires_at ?? '')))
    return { session, jkt: session.token_jkt }
  if (session) await logRefusedRequest(wallet, session.record_id, unknownToken())
  if (session || issuer.authorization_server === null) throw unknownToken()
  return findGrantedByServer(wallet, issuer, token)
}

/**
 * The session that a token of the external server names by `issuer_state`.
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
  const session = await findSession(wallet.db, issuer.id, 'state_digest', issuerState)
  if (session?.authorization_server !== server.url) throw unknownToken()
  return { session, jkt }
}

/**
 * RFC 9449 §7: a token that is bound to a key needs a proof of that key, and another one must not have the
 * scheme DPoP.
 */
async function assertBound(
  wallet: Wallet,
  issuer: IssuerRow,
  { session, jkt }: Granted,
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
  await wallet.env.limitOffers(session.record_id)
  await wallet.transaction((tx) => useProof(tx, proof, endpoint))
}

/** The first use of an external token redeems the offer. */
async function redeemOffer(wallet: Wallet, { record_id: id }: SessionRow): Promise<void> {
  if ((await getRecord(wallet.db, issueCredential, id)).state !== 'OfferCreated') return
  const isExpired = await wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, id)
    if (record.state !== 'OfferCreated') return false
    const isLate = isOver((record.openid4vci?.expiresTime ?? 0) * 1_000)
    await advance(tx, issueCredential, record, isLate ? 'expired' : 'received token request', {})
    return isLate
  })
  if (isExpired) throw new OAuthError('invalid_token', 'The access token is for an offer that has expired.')
}

function unknownToken(): OAuthError {
  return new OAuthError('invalid_token', 'The access token is unknown to this issuer, or has expired.')
}
