/** A credential under examination, whatever its format: read once, however many checks look at it. */
import type { CredentialStatus } from '../credentials/credential.ts'
import type { JsonObject } from '../credentials/json.ts'
import type { Jws } from '../credentials/jws.ts'
import { isSdJwt } from '../credentials/sd-jwt/sd-jwt.ts'
import type { Validity } from '../credentials/validity.ts'
import { readJwt } from './jwt-token.ts'
import { readSdJwt } from './sd-jwt-token.ts'

/** What checks want to know of a credential's claims. */
export type Examined = Validity & {
  issuerDid: string
  /** URLs. */
  schemas: string[]
  statuses: CredentialStatus[]
  /** The claims about the subject in the ways that a schema may mean them: to fit it in one is enough. */
  subjects: [JsonObject, ...JsonObject[]]
}

/** Every reading throws a `VerificationError` when the credential cannot be read so, the same one every time. */
export type Token = {
  /** The payload of the issuer's JWT, whatever it says. */
  payload: () => JsonObject
  /** The claims, whatever the header says. */
  claims: () => Examined
  issuerDid: () => string
  /** The `aud` as it is written, if there is one. */
  audience: () => unknown
  /** The JWTs in it, with headers that are understood here; the first is the issuer's. */
  jwts: () => [Jws, ...Jws[]]
  /** Throws unless all that comes along with the issuer's JWT belongs to it. */
  checkBelongings: () => void
  /** Throws unless the credential is as the standard of its format wants it. */
  checkCompliance: () => void
}

/** Makes the examined credential of a compact JWT or SD-JWT; nothing is read until somebody asks. */
export function toToken(credential: string): Token {
  return isSdJwt(credential) ? readSdJwt(credential) : readJwt(credential)
}
