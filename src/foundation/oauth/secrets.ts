/** Secrets of flows: random values, which are stored as digests, and private keys, which are stored sealed. */
import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'

/** A code or token of 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** SHA-256 in base64url: of a secret that cannot be guessed, or of a value that a specification hashes so. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

/** A private key on P-256 as it is stored, sealed (RFC 7518 §6.2). */
export const P256PrivateJwk = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
})
