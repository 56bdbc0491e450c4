/** The keys of a JWK Set (RFC 7517 §5) with which tokens of its server are verified. */
import { createPublicKey, type JsonWebKeyInput } from 'node:crypto'
import type { JSONWebKeySet, JWK } from 'jose'
import * as z from 'zod'
import { isJsonObject } from '../json.ts'
import { hasSmallOrder } from './small-order.ts'

/** The shortest RSA modulus (RFC 7518 §3.3). */
const leastRsaBits = 2_048

/** The keys can be anything. */
export const KeySet = z.looseObject({ keys: z.array(z.unknown()).max(100) })

/**
 * Reads a set without the keys that cannot be used, so that one bad key does not disable the others: those
 * that are malformed, weak, private or symmetric, which others know too.
 *
 * @throws {z.ZodError} for another document, or more than 100 keys
 */
export function toKeySet(document: unknown): JSONWebKeySet {
  return { keys: KeySet.parse(document).keys.filter(isUsable) }
}

function isUsable(jwk: unknown): jwk is JWK {
  if (!isJsonObject(jwk) || 'd' in jwk) return false
  try {
    const { asymmetricKeyDetails: details } = createPublicKey({
      key: jwk,
      format: 'jwk',
    } as unknown as JsonWebKeyInput)
    const { modulusLength = leastRsaBits } = details ?? {}
    return modulusLength >= leastRsaBits && !hasSmallOrder(jwk)
  } catch {
    return false
  }
}
