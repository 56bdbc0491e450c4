/** An SD-JWT VC under examination, with all or some of its disclosures, and with a key binding or without. */
import { decodeHeader, decodePayload, parseClaims } from '../credentials/jws.ts'
import { checkKeyBinding, readKeyBinding } from '../credentials/sd-jwt/key-binding.ts'
import {
  anyCredential,
  decodeIssuersJwt,
  decodeSdJwtClaims,
  splitSdJwt,
} from '../credentials/sd-jwt/sd-jwt.ts'
import { Issuer } from './issuer.ts'
import { once } from './once.ts'
import { checkSdJwtCompliance } from './sd-jwt-compliance.ts'
import type { Token } from './token.ts'

/** Makes the examined credential of a compact SD-JWT. */
export function readSdJwt(text: string): Token {
  const read = once(() => decodeSdJwtClaims(text))
  const decode = once(() => decodeIssuersJwt(text))
  // It is signed, whatever the disclosures are worth.
  const payload = once(() => decodePayload(splitSdJwt(text).jwt))
  const bind = once(() => {
    const { keyBinding } = splitSdJwt(text)
    return keyBinding === undefined ? undefined : readKeyBinding(keyBinding)
  })
  return {
    claims: () => {
      const credential = read()
      const { vct = anyCredential, claims, processed } = credential
      return { ...credential, schemas: vct === anyCredential ? [] : [vct], subjects: [claims, processed] }
    },
    payload,
    issuerDid: () => parseClaims(Issuer, payload()).iss,
    audience: () => bind()?.claims.aud,
    jwts: () => {
      const keyBinding = bind()
      return keyBinding ? [decode(), keyBinding.jws] : [decode()]
    },
    checkBelongings: () => checkKeyBinding(read()),
    checkCompliance: () => {
      checkSdJwtCompliance(decodeHeader(splitSdJwt(text).jwt), read())
      bind()
    },
  }
}
