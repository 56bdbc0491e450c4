/** Access tokens at the credential endpoint (RFC 6750 §2.1): of the built-in authorization server, or of the external one of the issuer. */
import { isOver } from '../base/clock.ts'
import { advance } from '../protocols/engine/record.ts'
import { getRecord } from '../protocols/engine/find.ts'
import { issueCredential } from '../protocols/issue-credential/model.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { readExternalToken } from './external-server.ts'
import { externalServerOf, identifierOf, type IssuerRow } from './issuers.ts'
import { OAuthError } from './oauth-error.ts'
import { findSession, type SessionRow } from './session.ts'

/** The session that the access token of a request is for. @throws {OAuthError} `invalid_token` */
export async function authorize(wallet: Wallet, issuer: IssuerRow, header = ''): Promise<SessionRow> {
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1]
  if (token === undefined)
    throw new OAuthError('invalid_token', 'The request has no access token in its Authorization header.')
  const session = await findSession(wallet.db, issuer.id, 'token_digest', token)
  if (session && !isOver(Date.parse(session.token_expires_at ?? ''))) return session
  if (session || issuer.authorization_server === null) throw unknownToken()
  return authorizeExternal(wallet, issuer, token)
}

/**
 * The session that a token of the external server names by `issuer_state`. Its first use redeems the offer.
 *
 * An offer belongs to one server, so that a token of a later one is not for it.
 */
async function authorizeExternal(wallet: Wallet, issuer: IssuerRow, token: string): Promise<SessionRow> {
  const { env } = wallet
  const server = externalServerOf(wallet, issuer)
  const identifier = identifierOf(env.urls.rest, issuer.id)
  const issuerState = await readExternalToken(env.http, server, {
    token,
    audiences: [identifier, `${identifier}/credentials`, server.clientId],
    leewaySeconds: env.config.PRESENTATION_LEEWAY,
  })
  const session = await findSession(wallet.db, issuer.id, 'state_digest', issuerState)
  if (session?.authorization_server !== server.url) throw unknownToken()
  await redeemOffer(wallet, session)
  return session
}

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
