/**
 * The parts of a credential, each of which may be malformed by itself. Each is decoded on first use, at most
 * once.
 */
import * as z from 'zod'
import type { JsonObject } from '../../foundation/json.ts'
import type { IssuerKeys } from '../codecs/issuer-signature.ts'
import type { CredentialStatus } from '../codecs/jwt-vc.ts'
import type { Validity } from '../codecs/validity.ts'
import { VerificationError } from '../codecs/verification-error.ts'

/** The claims that checks need. */
export type PartialClaims = Validity & {
  issuerDid: string
  x5c?: unknown
  /** URLs. */
  schemas: string[]
  statuses: CredentialStatus[]
  /** The claims about the subject, in each way that a schema may mean them. They must satisfy it in one. */
  subjects: [JsonObject, ...JsonObject[]]
}

/** Every function throws the same `VerificationError` each time if its part cannot be decoded. */
export type Parts = {
  /** The payload of the issuer's JWT, unchecked. */
  payload: () => JsonObject
  /** The claims, whatever the header is. */
  claims: () => PartialClaims
  issuerDid: () => string
  /** The `aud` claim, if any. */
  audience: () => unknown
  /** Checks that all algorithms are supported. */
  checkAlgorithms: () => unknown
  /** Checks the signatures of the issuer and, if it has made one, of the holder. */
  checkSignatures: (keys: IssuerKeys) => Promise<unknown>
  /** Checks conformance to the specification of the format. */
  checkCompliance: () => void
  /**
   * What presentation definitions compare: the algorithms by the members that constrain them, and the
   * document that paths select from. `measured`: the same document without repetitions, whose size is
   * limited.
   */
  toCandidate: () => {
    algorithms: Readonly<Record<string, string>>
    claims: JsonObject
    measured: JsonObject
  }
}

/** Caches the result, or the error, of the first call. */
export function once<Value>(decode: () => Value): () => Value {
  let result: { value: Value } | { error: unknown } | undefined
  return () => {
    result ??= attempt(decode)
    if ('error' in result) throw result.error
    return result.value
  }
}

function attempt<Value>(decode: () => Value): { value: Value } | { error: unknown } {
  try {
    return { value: decode() }
  } catch (error) {
    return { error }
  }
}

export const Uri = z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/, 'is not a URI')

/** A credential that does not conform to the specification of its format. */
export function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `The credential does not conform to its specification: ${reason}`)
}
