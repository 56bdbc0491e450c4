/** DIDs that are one public key. */
import { toBase64url } from '../src/base/bytes.ts'
import type { PublicJwk } from '../src/crypto/keys.ts'
import { toMultikey } from '../src/did/multikey.ts'

export function createKeyDid(jwk: PublicJwk): string {
  return `did:key:${toMultikey(jwk)}`
}

export function createJwkDid({ kty, crv, x, y }: PublicJwk): string {
  return `did:jwk:${toBase64url(JSON.stringify({ kty, crv, x, y }))}`
}
