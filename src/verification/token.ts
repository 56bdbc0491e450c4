/** Credentials of both token formats in one shape. Each part is decoded on first use, at most once. */
import * as z from 'zod'
import { decodeClaims, toClaimsWithVc, type CredentialStatus } from '../credentials/jwt-vc.ts'
import type { JsonObject } from '../base/json.ts'
import { IssuerId } from '../credentials/issuer-signature.ts'
import { decodeHeader, decodeJws, decodePayload, parseClaims, type Jws } from '../credentials/jws.ts'
import { checkKeyBinding, readKeyBinding } from '../credentials/sd-jwt/key-binding.ts'
import { issuerOf } from '../credentials/x509-issuer.ts'
import {
  anyCredential,
  decodeIssuerJwt,
  decodeSdJwtClaims,
  isSdJwt,
  splitSdJwt,
} from '../credentials/sd-jwt/sd-jwt.ts'
import type { Resolve } from '../did/document.ts'
import type { Validity } from '../credentials/validity.ts'
import { checkCompliance, checkSdJwtCompliance } from './compliance.ts'

/** The claims that checks need. */
export type TokenClaims = Validity & {
  issuerDid: string
  x5c?: unknown
  /** URLs. */
  schemas: string[]
  statuses: CredentialStatus[]
  /** The claims about the subject, in each way that a schema may mean them. They must satisfy it in one. */
  subjects: [JsonObject, ...JsonObject[]]
}

/** Every function throws the same `VerificationError` each time if its part cannot be decoded. */
export type Token = {
  /** The payload of the issuer's JWT, unchecked. */
  payload: () => JsonObject
  /** The claims, whatever the header is. */
  claims: () => TokenClaims
  issuerDid: () => string
  /** The issuer whose key signs, whatever else the payload contains. */
  signer: () => string
  /** The `aud` claim, if any. */
  audience: () => unknown
  /** The JWTs, with supported headers. The first is the issuer's. */
  jwts: () => [Jws, ...Jws[]]
  /** Checks the key-binding JWT, if any. */
  checkKeyBinding: (resolve: Resolve) => Promise<unknown>
  /** Checks conformance to the specification of the format. */
  checkCompliance: () => void
}

/** The claim that names the signer. That of an SD-JWT may be in its certificate instead. */
const JwtIssuer = z.looseObject({ iss: IssuerId })
const SdJwtIssuer = z.looseObject({ iss: IssuerId.optional() })

/** Wraps a compact JWT or SD-JWT. Decodes nothing yet. */
export function toToken(credential: string): Token {
  return isSdJwt(credential) ? ofSdJwt(credential) : ofJwt(credential)
}

function ofJwt(jwt: string): Token {
  const decoded = once(() => decodeClaims(jwt))
  const jws = once(() => decodeJws(jwt))
  const payload = once(() => decodePayload(jwt))
  return {
    payload,
    claims: () => {
      const credential = decoded()
      // The issuer adds `id` to the claims of the schema.
      const { id: _id, ...claims } = credential.claims
      return { ...credential, subjects: [claims, credential.claims] }
    },
    issuerDid: () => decoded().issuerDid,
    signer: () => parseClaims(JwtIssuer, toClaimsWithVc(payload())).iss,
    audience: () => payload()['aud'],
    jwts: () => [jws()],
    checkKeyBinding: () => Promise.resolve(),
    checkCompliance: () => checkCompliance(decoded().payload),
  }
}

function ofSdJwt(text: string): Token {
  const decoded = once(() => decodeSdJwtClaims(text))
  const jws = once(() => decodeIssuerJwt(text))
  const payload = once(() => decodePayload(splitSdJwt(text).jwt))
  const binding = once(() => {
    const { keyBinding } = splitSdJwt(text)
    return keyBinding === undefined ? undefined : readKeyBinding(keyBinding)
  })
  const issuer = once(() => {
    const { iss } = parseClaims(SdJwtIssuer, payload())
    return issuerOf(iss, decodeHeader(splitSdJwt(text).jwt)['x5c'])
  })
  return {
    payload,
    claims: () => {
      const credential = decoded()
      const { vct = anyCredential, claims, processed } = credential
      return { ...credential, schemas: vct === anyCredential ? [] : [vct], subjects: [claims, processed] }
    },
    issuerDid: issuer,
    signer: issuer,
    audience: () => binding()?.claims.aud,
    jwts: () => {
      const keyBinding = binding()
      return keyBinding ? [jws(), keyBinding.jws] : [jws()]
    },
    checkKeyBinding: async (resolve) => checkKeyBinding(decoded(), resolve),
    checkCompliance: () => {
      checkSdJwtCompliance(decodeHeader(splitSdJwt(text).jwt), decoded())
      binding()
    },
  }
}

/** Caches the result, or the error, of the first call. */
function once<Value>(decode: () => Value): () => Value {
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
