/**
 * JWTs by which a wallet proves that it has a key, and attestations of its keys. All are verified here, in
 * one order. The caller names the type and the signer, and words the refusal.
 */
import * as z from 'zod'
import { faultsOf } from '../../foundation/faults.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { isMediaType } from '../../foundation/media-type.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { isPoint } from '../../foundation/crypto/key-objects.ts'
import { type PublicJwk, toPublic } from '../../foundation/crypto/keys.ts'
import { decodeHeader, decodeJws, isSignedBy, type Jws } from './jws.ts'
import { NumericDate } from './validity.ts'
import { VerificationError } from './verification-error.ts'

/** A JWK in a token. A private one must not be sent. */
export const TokenKey = z.looseObject({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(['Ed25519', 'secp256k1', 'P-256']),
  x: z.string().max(100),
  y: z.string().max(100).exactOptional(),
  d: z.never('is private and must not be there').optional(),
})

/** A JWK that is a key of its curve. */
export const PublicKey = TokenKey.refine(isPoint, 'is not a public key')

/** RFC 7519 §4.1. */
const Times = z.looseObject({
  iat: NumericDate.optional(),
  nbf: NumericDate.optional(),
  exp: NumericDate.optional(),
})

/** Epoch seconds, and the tolerance for differing clocks. */
export type Clock = { now: number; leewaySeconds: number }

/** A token whose signature is not verified yet. */
export type ProofJwt<Header, Claims> = { header: Header; claims: Claims; jws: Jws }

type Expected<Header extends z.ZodType, Claims extends z.ZodType, Signer> = {
  typ: string
  /** Of the header members that are needed. */
  header?: Header
  claims: Claims
  /** Undefined: the token is for everyone. */
  audience?: string
  clock: Clock
  /** The longest time since `iat`. */
  maxAgeSeconds?: number
  /**
   * Verifies the signature, after all else, since it may cost the resolution of a DID.
   *
   * @throws {VerificationError}
   */
  signer: (token: ProofJwt<z.output<Header>, z.output<Claims>>) => Signer | Promise<Signer>
  /**
   * Makes the error. `reason` continues a sentence about the token; the code of `cause` tells which check
   * failed.
   */
  refuse: (reason: string, cause: VerificationError) => Error
}

/**
 * Verifies type, form, audience, times and signature of a token.
 *
 * @returns its header and claims, and what `signer` found
 * @throws the error of `refuse`, and what `signer` throws beside a `VerificationError`
 */
export async function verifyProofJwt<Header extends z.ZodType, Claims extends z.ZodType, Signer>(
  text: string,
  expected: Expected<Header, Claims, Signer>,
): Promise<{ header: z.output<Header>; claims: z.output<Claims>; signer: Signer }> {
  const { typ, audience, signer, refuse } = expected
  try {
    const members = decodeHeader(text)
    if (!isMediaType(members['typ'], typ))
      throw new VerificationError('malformed', `the header member 'typ' is not ${typ}`)
    const header = expected.header && readMembers(expected.header, members, 'header member')
    const jws = decodeJws(text)
    const claims = readMembers(expected.claims, jws.payload, 'claim')
    if (audience !== undefined && [jws.payload['aud']].flat()[0] !== audience)
      throw new VerificationError('audience', `its aud is not ${audience}`)
    checkTimes(readMembers(Times, jws.payload, 'claim'), expected)
    const token = { header: header as z.output<Header>, claims, jws }
    return { ...token, signer: await signer(token) }
  } catch (error) {
    if (error instanceof VerificationError) throw refuse(reasonOf(error), error)
    throw error
  }
}

/**
 * Returns the key, without other members.
 *
 * @throws {VerificationError} `signature` with this reason, unless it made the signature
 */
export function requireSignature(jws: Jws, key: PublicJwk, reason: string): PublicJwk {
  if (!isSignedBy(jws, key)) throw new VerificationError('signature', reason)
  return toPublic(key)
}

function checkTimes(
  { iat, nbf, exp }: z.output<typeof Times>,
  { clock: { now, leewaySeconds }, maxAgeSeconds }: { clock: Clock; maxAgeSeconds?: number },
): void {
  const notYet = (reason: string) => new VerificationError('not-yet-valid', reason)
  const over = (reason: string) => new VerificationError('expired', reason)
  if (exp !== undefined && exp <= now - leewaySeconds) throw over('it has expired')
  if (nbf !== undefined && nbf > now + leewaySeconds) throw notYet('its nbf is in the future')
  if (iat !== undefined && iat > now + leewaySeconds) throw notYet('its iat is in the future')
  if (maxAgeSeconds !== undefined && !(iat! >= now - maxAgeSeconds - leewaySeconds))
    throw over('its iat is too long ago')
}

function readMembers<Type extends z.ZodType>(
  type: Type,
  value: JsonObject,
  part: 'header member' | 'claim',
): z.output<Type> {
  const parsed = type.safeParse(value)
  if (parsed.success) return parsed.data
  const { path, message } = faultsOf(parsed.error, 1)[0]!
  throw new VerificationError('malformed', `the ${part} '${path.join('.')}' ${message}`)
}
