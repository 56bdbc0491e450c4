/** Creates forgeries: valid tokens, changed in one respect. */
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { type PrivateJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import type { CredentialChecks } from '../../../src/credentials/codecs/verify.ts'
import { createJwtVp } from '../../../src/credentials/codecs/jwt-vp.ts'
import type { Failure } from '../../../src/credentials/codecs/verification-error.ts'
import {
  checks,
  content,
  forge,
  headerOf,
  holder,
  issuer,
  mallory,
  nonce,
  partsOf,
  payloadOf,
} from './_people.ts'
import type { PresentationChecks } from './_verify.ts'

/** `checks` differ from the default checks of the verifier. */
export type Forgery = [
  name: string,
  failure: Failure,
  jwt: string,
  checks?: Partial<PresentationChecks & CredentialChecks>,
]
export type Payload = Record<string, any>

/** The error of a resolver for an unknown DID. */
export const notFound = new Problem('error:DIDResolution:notFound', 'there is no such DID')

export const issuerKey = issuer.keys['issue-1'].jwk
export const holderKey = holder.keys['auth-1'].jwk
export const edKey = issuer.keys['issue-2'].jwk
export const malloryKey = mallory.keys['auth-1'].jwk

export const credential = issueJwtVc({ ...content, kid: 'issue-1' })
export const shown = {
  holderDid: holder.longForm,
  holderKey,
  audience: checks.audience,
  nonce,
  credentials: [credential],
}
export const presentation = createJwtVp(shown)

/** The credential with a changed payload, signed again by its issuer or with another key. */
export function vc(
  change: (payload: Payload) => unknown,
  key: PrivateJwk = issuerKey,
  header: object = headerOf(key),
): string {
  const payload = payloadOf(credential)
  change(payload)
  return forge(header, payload, key)
}

/** The presentation with a changed payload, signed again by its holder or with another key. */
export function vp(
  change: (payload: Payload) => unknown,
  key: PrivateJwk = holderKey,
  header: object = headerOf(key),
): string {
  const payload = payloadOf(presentation)
  change(payload)
  return forge(header, payload, key)
}

/** A valid token with the signature that `make` returns. */
export function withSignature(
  make: (signature: Buffer, input: Uint8Array) => Uint8Array | string,
  token: string = credential,
): string {
  const [header, payload, signature] = partsOf(token)
  return `${header}.${payload}.${toBase64url(make(Buffer.from(signature, 'base64url'), utf8(`${header}.${payload}`)))}`
}

/** Changes nothing: the token is only signed again. */
export const unchanged = () => {}
export const header = headerOf(issuerKey)
export const jwk = toPublic(malloryKey)
