/**
 * Tokens that say who has signed in (ours): a JWT (RFC 7519), EdDSA, short, for an application that keeps no state of its own.
 *
 * Every tenant is an issuer of its own (`iss`), though one key signs for all: a token that one tenant was given says nothing to the back
 * end of another, which compares `iss` as every JWT library can.
 */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { calculateJwkThumbprint, SignJWT } from 'jose'
import { z } from 'zod'
import { randomId } from '../base/id.ts'
import { steadyNow } from '../base/clock.ts'
import { Problem } from '../base/problem.ts'
import type { Tx } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { getChallenge } from './authentication.ts'
import type { Enterprise } from './enterprise.ts'

/** A JSON Web Key Set (RFC 7517 §5) of what verifies the tokens. */
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

export type Tokens = {
  /** Signs a token that says that a DID has answered a challenge of a wallet. */
  issue(walletId: string, did: string): Promise<Token>
  keys(): Promise<JwkSet>
}

/** What is before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410 §7). */
const ed25519Pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const PublicJwk = z.object({ x: z.string() })

/** `seed` is the 32 bytes of the private key, which are zeros afterwards. It follows from the agent's key, so that it is on no disk. */
export function createTokens(
  seed: Uint8Array,
  settings: { url: string; audience: string; lifetimeSeconds: number },
): Tokens {
  const der = Buffer.concat([ed25519Pkcs8, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  for (const bytes of [der, seed]) bytes.fill(0)
  const { url, audience, lifetimeSeconds } = settings
  const { x } = PublicJwk.parse(createPublicKey(key).export({ format: 'jwk' }))
  const publicJwk = { kty: 'OKP', crv: 'Ed25519', x } as const
  let kidOnce: Promise<string> | undefined
  const kidOfKey = () => (kidOnce ??= calculateJwkThumbprint(publicJwk))
  return {
    async issue(walletId, did) {
      const kid = await kidOfKey()
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
      const kid = await kidOfKey()
      return { keys: [{ ...publicJwk, kid, alg: 'EdDSA', use: 'sig' }] }
    },
  }
}

/** @throws {Problem} 404 when the wallet has no such challenge, 400 while it is not successful, 410 when its token was given out or it is too late. */
export async function exchangeChallenge(wallet: Wallet, enterprise: Enterprise, id: string): Promise<Token> {
  const { state } = await getChallenge(wallet.db, id)
  if (state !== 'success') {
    const detail = `The challenge is ${state}. Only one that was answered with success is exchanged for a token.`
    throw new Problem('/errors/authenticate/challenge-not-successful', detail)
  }
  const did = await wallet.transaction((tx) => take(tx, id, wallet.env.config.AUTH_CHALLENGE_EXPIRY))
  if (did !== undefined) return enterprise.tokens.issue(wallet.id, did)
  const detail =
    'The token of this challenge was given out already, or the time for it is over. Ask for a new challenge.'
  throw new Problem('/errors/authenticate/token-expired', detail)
}

/** The DID of a challenge whose token is still to be had, and which has none any more now. */
async function take(tx: Tx, id: string, seconds: number): Promise<string | undefined> {
  const now = steadyNow()
  const taken = await tx
    .updateTable('enterprise_session')
    .set({ token_until: null })
    .where('id', '=', id)
    .where('token_until', '>', new Date(now).toISOString())
    // A clock that was set back before the process began must not make the time longer.
    .where('token_until', '<=', new Date(now + seconds * 1_000).toISOString())
    .returning('did')
    .executeTakeFirst()
  return taken?.did ?? undefined
}
