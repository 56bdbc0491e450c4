/**
 * Sign-in tokens: short-lived JWTs (RFC 7519, EdDSA) for applications that keep no session of their own.
 *
 * Every tenant is an issuer (`iss`) of its own, though one key signs for all: a backend must compare `iss`,
 * so that it rejects the tokens of other tenants.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { calculateJwkThumbprint, SignJWT } from 'jose'
import * as z from 'zod'
import { randomId } from '../../foundation/id.ts'
import { steadyNow } from '../../foundation/clock.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { challenges } from './authentication.ts'
import type { Enterprise } from './enterprise.ts'
import { getSession } from './session.ts'

/** The public keys of the tokens (RFC 7517 §5). */
export const JwkSet = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string(),
        alg: z.literal('EdDSA'),
        use: z.literal('sig'),
      }),
    ),
  })
  .meta({ id: 'JwkSet' })
export type JwkSet = z.infer<typeof JwkSet>

export const Token = z
  .object({
    token: z.string(),
    tokenType: z.literal('Bearer'),
    issuer: z.url(),
    audience: z.string(),
    subject: z.string(),
    expireAt: z.iso.datetime(),
  })
  .meta({ id: 'AuthenticationToken' })
export type Token = z.infer<typeof Token>

export type SignInTokens = {
  /** Signs a token for a DID that answered a challenge of a wallet. */
  issue(walletId: string, did: string): Promise<Token>
  keys(): Promise<JwkSet>
}

/** The DER bytes before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410 §7). */
const ed25519Pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const PublicJwk = z.object({ x: z.string() })

/** `seed` is the private key (32 bytes), derived from the agent key. It is filled with zeros. */
export function createSignInTokens(
  seed: Uint8Array,
  settings: { url: string; audience: string; lifetimeSeconds: number },
): SignInTokens {
  const der = Buffer.concat([ed25519Pkcs8, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  for (const bytes of [der, seed]) bytes.fill(0)
  const { url, audience, lifetimeSeconds } = settings
  const { x } = PublicJwk.parse(createPublicKey(key).export({ format: 'jwk' }))
  const publicJwk = { kty: 'OKP', crv: 'Ed25519', x } as const
  let thumbprint: Promise<string> | undefined
  const keyId = () => (thumbprint ??= calculateJwkThumbprint(publicJwk))
  return {
    async issue(walletId, did) {
      const kid = await keyId()
      const issuer = `${url}/wallets/${walletId}`
      const now = Math.floor(Date.now() / 1_000)
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid })
        .setIssuer(issuer)
        .setSubject(did)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(now + lifetimeSeconds)
        .setJti(randomId())
        .sign(key)
      return {
        token,
        tokenType: 'Bearer',
        issuer,
        audience,
        subject: did,
        expireAt: new Date((now + lifetimeSeconds) * 1_000).toISOString(),
      }
    },
    async keys() {
      const kid = await keyId()
      return { keys: [{ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' }] }
    },
  }
}

/**
 * Exchanges a successful challenge for a token, once.
 *
 * @throws {Problem} 404 for an unknown challenge, 400 while it is not successful, 410 when its token was
 * issued already, or it is too late.
 */
export async function exchangeChallenge(wallet: Wallet, enterprise: Enterprise, id: string): Promise<Token> {
  const { state } = await getSession(wallet.db, challenges, id)
  if (state !== 'success') {
    const detail = `The challenge is ${state}. Only a successful one can be exchanged for a token.`
    throw new Problem('/errors/authenticate/challenge-not-successful', detail)
  }
  const did = await wallet.transaction((tx) => claimToken(tx, id, wallet.env.config.AUTH_CHALLENGE_EXPIRY))
  if (did !== undefined) return enterprise.signInTokens.issue(wallet.id, did)
  const detail = 'The token of this challenge was issued already, or has expired. Create a new challenge.'
  throw new Problem('/errors/authenticate/token-expired', detail)
}

/** The DID of a challenge whose token is not issued yet, which this call marks as issued. */
async function claimToken(tx: Tx, id: string, seconds: number): Promise<string | undefined> {
  const now = steadyNow()
  const claimed = await tx
    .updateTable('enterprise_session')
    .set({ token_until: null })
    .where('id', '=', id)
    .where('token_until', '>', new Date(now).toISOString())
    // A clock that was set back before the process started must not extend the time.
    .where('token_until', '<=', new Date(now + seconds * 1_000).toISOString())
    .returning('did')
    .executeTakeFirst()
  return claimed?.did ?? undefined
}
