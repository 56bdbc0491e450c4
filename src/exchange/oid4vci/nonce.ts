/**
 * Nonces of key proofs (VCI §7). A nonce is the time of its creation, sealed with the key of the wallet for
 * one issuer: it needs no row until a credential is issued for it, is valid at every process and after a
 * restart, and cannot be predicted.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import { findGrant } from './grant.ts'

/** The seconds for which a nonce is valid. */
export const nonceLifetimeSeconds = 300

const maxLength = 200
/** Nonces of key proofs, and of DPoP proofs (RFC 9449 §8). One is not valid as the other. */
type Purpose = 'nonce' | 'dpop'

const contextOf = (issuerId: string, purpose: Purpose) => `issuance-${purpose}:${issuerId}`

export function createNonce(wallet: Wallet, issuerId: string, purpose: Purpose = 'nonce'): string {
  return wallet.seal(contextOf(issuerId, purpose), String(Date.now()))
}

export const NonceRequest = z
  .object({ issuerState: z.string().describe('`issuer_state` of the authorization request.') })
  .meta({ id: 'NonceRequest' })

export const NonceResponse = z
  .object({ nonce: z.string(), nonceExpiresIn: z.int().describe('Seconds.') })
  .meta({ id: 'NonceResponse' })

/**
 * A nonce that an external authorization server passes on in its token response, as the Cloud Agent's does.
 *
 * @throws {Problem} 404
 */
export async function createNonceFor(
  wallet: Wallet,
  issuerId: string,
  issuerState: string,
): Promise<z.infer<typeof NonceResponse>> {
  const grant = await findGrant(wallet.db, issuerId, 'state_digest', issuerState)
  if (!grant || grant.authorization_server === null) throw stateNotFound()
  return { nonce: createNonce(wallet, issuerId), nonceExpiresIn: nonceLifetimeSeconds }
}

export function stateNotFound(): Problem {
  return new Problem(
    'NotFound',
    'issuerState: it is not that of an offer for an external authorization server.',
  )
}

/**
 * When a nonce of the issuer ends, in milliseconds since 1970. Undefined if the issuer did not create it, or
 * it has expired.
 */
export function readNonce(
  wallet: Wallet,
  issuerId: string,
  nonce: string,
  purpose: Purpose = 'nonce',
): number | undefined {
  try {
    if (nonce.length > maxLength) return undefined
    const endsMs = Number(wallet.unseal(contextOf(issuerId, purpose), nonce)) + nonceLifetimeSeconds * 1_000
    return Number.isSafeInteger(endsMs) && !isOver(endsMs) ? endsMs : undefined
  } catch {
    return undefined
  }
}

const deleteExpired = prepared((db: Db, { now }: { now: string }) =>
  db.deleteFrom('issuance_nonce').where('expires_at', '<', now),
)

const insertNonce = prepared((db: Db, { digest, expires_at }: { digest: string; expires_at: string }) =>
  db
    .insertInto('issuance_nonce')
    .values({ digest, expires_at })
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .returning('digest'),
)

/** Stores that a nonce, or another value of single use, is used. False if it was used before. */
export async function useNonce(tx: Tx, nonce: string, endsMs: number): Promise<boolean> {
  await deleteExpired(tx, { now: new Date().toISOString() })
  const row = { digest: digestOf(nonce), expires_at: new Date(endsMs).toISOString() }
  return (await insertNonce(tx, row)).rows.length > 0
}

export async function isUsed(db: Db, nonce: string): Promise<boolean> {
  const found = db.selectFrom('issuance_nonce').select('digest').where('digest', '=', digestOf(nonce))
  return (await found.executeTakeFirst()) !== undefined
}

/** VCI §8.3.1.2: the wallet should get a new nonce. */
export function invalidNonce(): OAuthError {
  return new OAuthError(
    'invalid_nonce',
    'The nonce of the proof was not made by this issuer, has expired, or was used. Get a new one from the nonce endpoint.',
  )
}
