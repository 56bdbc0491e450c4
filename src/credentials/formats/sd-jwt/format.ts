/** Credentials as SD-JWT (RFC 9901; SD-JWT VC; OpenID4VCI 1.0 §A.3; OpenID4VP 1.0 §B.3). */
import { decodeSdJwt } from '../../codecs/sd-jwt/sd-jwt.ts'
import { bindPresentation, discloseClaims } from '../../codecs/sd-jwt/presentation.ts'
import { checkType } from '../../codecs/sd-jwt/type-check.ts'
import { requireVcType } from '../../codecs/sd-jwt/issuer-jwt.ts'
import type { Format } from '../format.ts'
import { type HeldToken, isSamePair, unbindable } from '../keys.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import { checkTerms, findDifference, signSdJwt } from './issue.ts'
import { partsOf } from './parts.ts'
import { readSdJwt, toDecoded } from './presentation.ts'

export const sdJwt: Format = {
  id: formatNames.SDJWT.openid.id,

  decode: (text) => toDecoded(decodeSdJwt(text)),

  partsOf,

  checkTerms,

  // The Cloud Agent supports SD-JWTs on Ed25519 only. Wallets of SD-JWT VCs support others.
  curveFor: ({ type }) => (type ? undefined : 'Ed25519'),

  statusFormFor: ({ type }) => (type ? 'application/statuslist+jwt' : 'application/json'),

  /**
   * If the proof names its key by the bare id, the holder chose the key. Wallets that write every `kid` as a
   * DID URL did not, and some of them cannot present bound credentials.
   */
  bindsTo: (kid) => kid !== undefined && !kid.includes('#'),

  sign: signSdJwt,

  findDifference,

  checkType(decoded, [offered]) {
    requireVcType(decoded.signed)
    const [vct] = decoded.types
    if (vct !== offered) throw new TypeError(`its vct is ${vct ?? 'missing'}, and ${offered} was offered`)
    if (decoded.isPresented) throw new TypeError('it has a key binding, which only the holder makes')
  },

  typeMetadata: {
    referenceOf(text) {
      const { vct, payload } = decodeSdJwt(text)
      return vct === undefined ? undefined : { vct, integrity: payload['vct#integrity'] }
    },
    check: (text, type) => checkType(decodeSdJwt(text), type, { isComplete: true }),
  },

  isBoundTo: ({ holderKey }, { privateJwk }) => isSamePair(holderKey, privateJwk),

  async findHolderKey(keys, { subject }, decoded) {
    if (!decoded.isBound) return undefined
    const key = await keys.confirmed(subject, decoded)
    if (key) return key
    throw unbindable('The credential is bound to a key that this wallet does not have.')
  },

  async present(keys, [held], { audience, nonce, discloses, now = Date.now() / 1_000 }, isBound) {
    const { credential, subject } = held as HeldToken
    const decoded = decodeSdJwt(credential)
    const presented = discloseClaims(
      decoded,
      decoded.disclosures.filter(({ path }) => discloses(path)),
    )
    if (!isBound || !decoded.isBound) return presented
    const holderKey = await sdJwt.findHolderKey(keys, { credential, subject }, toDecoded(decoded))
    return bindPresentation(presented, decoded, { audience: audience!, nonce, holderKey: holderKey!, now })
  },

  readPresentation: (text, { isTyped }) => readSdJwt(text, isTyped),
}
