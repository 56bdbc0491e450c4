/** Presents an SD-JWT as a wallet does. */
import type { JsonObject } from '../../../src/foundation/json.ts'
import {
  bindPresentation,
  discloseClaims,
  isRequested,
} from '../../../src/credentials/codecs/sd-jwt/presentation.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import type { PrivateJwk } from '../../../src/foundation/crypto/keys.ts'

type Content = {
  sdJwt: string
  /** As `isRequested`. */
  claims: JsonObject
  audience: string
  nonce: string
  /** Signs the key binding of a credential that is bound to a key. */
  holderKey?: PrivateJwk | undefined
  /** Epoch seconds. */
  now: number
}

export function presentSdJwt({ sdJwt, claims, holderKey, ...binding }: Content): string {
  const decoded = decodeSdJwt(sdJwt)
  const disclosed = decoded.disclosures.filter(({ path }) => isRequested(claims, path))
  const presented = discloseClaims(decoded, disclosed)
  return decoded.isBound && holderKey
    ? bindPresentation(presented, decoded, { ...binding, holderKey })
    : presented
}
