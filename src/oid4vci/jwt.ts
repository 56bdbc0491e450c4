/** Parts of the JWTs that wallets send: proofs and attestations. */
import * as z from 'zod'
import { faultsOf } from '../base/faults.ts'
import type { JsonObject } from '../base/json.ts'
import { NumericDate } from '../credentials/validity.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { type PublicJwk, toPublic } from '../crypto/keys.ts'
import { createJwkDid, resolveJwkDid } from '../did/jwk.ts'

/** A public key. A private one must not be sent. */
export const HeaderKey = z.looseObject({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(['Ed25519', 'secp256k1', 'P-256']),
  x: z.string().max(100),
  y: z.string().max(100).optional(),
  d: z.never('is private and must not be there').optional(),
})

/** Whether a JWK is a key on its curve. */
export function isKey(jwk: PublicJwk): boolean {
  try {
    resolveJwkDid(createJwkDid(toPublic(jwk)))
    return true
  } catch {
    return false
  }
}

/** Claims with times (RFC 7519 §4.1). */
export const Times = z.looseObject({
  iat: NumericDate.optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
})

/** Epoch seconds, and the tolerance for differing clocks. */
export type Clock = { now: number; leewaySeconds: number }

/** Why a token is not valid now. It continues a sentence about the token. */
export function faultOfTimes({ iat, nbf, exp }: z.infer<typeof Times>, clock: Clock): string | undefined {
  const { now, leewaySeconds } = clock
  if (exp !== undefined && exp <= now - leewaySeconds) return 'it has expired'
  if (nbf !== undefined && nbf > now + leewaySeconds) return 'its nbf is in the future'
  if (iat !== undefined && iat > now + leewaySeconds) return 'its iat is in the future'
  return undefined
}

/** Parses the header or the claims of a token; `part` names its members. @throws {VerificationError} `malformed`, naming the member */
export function readMembers<Type extends z.ZodType>(
  type: Type,
  value: JsonObject,
  part: 'header member' | 'claim',
): z.output<Type> {
  const parsed = type.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = faultsOf(parsed.error, 1)[0]!
  throw new VerificationError('malformed', `the ${part} '${path.join('.')}' ${message}`)
}
