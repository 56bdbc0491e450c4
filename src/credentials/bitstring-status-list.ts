/** The Bitstring Status List credential for VC 2.0 (W3C Bitstring Status List 1.0 §2.2), signed as `vc+jwt` (VC-JOSE-COSE §3.1). */
import { toBase64url } from '../base/bytes.ts'
import type { PrivateJwk } from '../crypto/keys.ts'
import { signJws } from './jws.ts'

/** `bits` is compressed; `kid` a DID URL; `validFrom` an ISO 8601 instant. */
export type BitstringStatusListContent = {
  url: string
  issuerDid: string
  kid: string
  key: PrivateJwk
  bits: Uint8Array
  validFrom: string
}

/** Signs a list of revocations. Returns the compact JWT. */
export function createBitstringStatusList({
  url,
  issuerDid,
  kid,
  key,
  bits,
  validFrom,
}: BitstringStatusListContent): string {
  const credential = {
    '@context': ['https://www.w3.org/ns/credentials/v2'],
    id: url,
    type: ['VerifiableCredential', 'BitstringStatusListCredential'],
    issuer: issuerDid,
    validFrom,
    credentialSubject: {
      id: `${url}#list`,
      type: 'BitstringStatusList',
      statusPurpose: 'revocation',
      encodedList: `u${toBase64url(bits)}`,
    },
  }
  return signJws({ typ: 'vc+jwt', kid }, { iss: issuerDid, ...credential }, key)
}
