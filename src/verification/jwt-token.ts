/** A JWT VC under examination. */
import { decodeClaims } from '../credentials/credential.ts'
import { decodeJws, decodePayload } from '../credentials/jws.ts'
import { checkCompliance } from './compliance.ts'
import { once } from './once.ts'
import type { Token } from './token.ts'

/** Makes the examined credential of a compact JWT. */
export function readJwt(jwt: string): Token {
  const read = once(() => decodeClaims(jwt))
  const decode = once(() => decodeJws(jwt))
  const payload = once(() => decodePayload(jwt))
  return {
    payload,
    claims: () => {
      const credential = read()
      // The issuer adds the DID beside the claims that the schema is about.
      const { id: _id, ...claims } = credential.claims
      return { ...credential, subjects: [claims, credential.claims] }
    },
    issuerDid: () => read().issuerDid,
    audience: () => payload()['aud'],
    jwts: () => [decode()],
    checkBelongings: () => {},
    checkCompliance: () => checkCompliance(read().payload),
  }
}
