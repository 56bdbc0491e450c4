/** The parts of an SD-JWT. */
import * as z from 'zod'
import { checkIssuerSignature, IssuerId } from '../../codecs/issuer-signature.ts'
import { decodeHeader, decodePayload, parseClaims } from '../../codecs/jws.ts'
import { checkKeyBinding, findBindingAlgorithm, readKeyBinding } from '../../codecs/sd-jwt/key-binding.ts'
import { anyCredential, decodeIssuerJwt, decodeSdJwtClaims, splitSdJwt } from '../../codecs/sd-jwt/sd-jwt.ts'
import { issuerOf } from '../../codecs/x509-issuer.ts'
import { once, type Parts } from '../parts.ts'
import { checkCompliance } from './compliance.ts'

/** The claim that names the signer. It may be in the certificate instead. */
const Issuer = z.looseObject({ iss: IssuerId.optional() })

/** Decodes nothing yet. */
export function partsOf(text: string): Parts {
  const decoded = once(() => decodeSdJwtClaims(text))
  const jws = once(() => decodeIssuerJwt(text))
  const payload = once(() => decodePayload(splitSdJwt(text).jwt))
  const binding = once(() => {
    const { keyBinding } = splitSdJwt(text)
    return keyBinding === undefined ? undefined : readKeyBinding(keyBinding)
  })
  const issuer = once(() => {
    const { iss } = parseClaims(Issuer, payload())
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
    audience: () => binding()?.claims.aud,
    checkAlgorithms: () => {
      jws()
      binding()
    },
    async checkSignatures(keys) {
      const signed = jws()
      await checkKeyBinding(decoded(), keys.resolve)
      await checkIssuerSignature(signed, issuer(), keys)
    },
    checkCompliance: () => {
      checkCompliance(decodeHeader(splitSdJwt(text).jwt), decoded())
      binding()
    },
    toCandidate: () => {
      const { alg } = jws().header
      const { processed: claims, isBound, holderKey } = decoded()
      // A credential that is not bound has no key binding, so its algorithm does not matter. '' matches no
      // algorithm.
      const bound = isBound && { 'kb-jwt_alg_values': (holderKey && findBindingAlgorithm(holderKey)) ?? '' }
      return { algorithms: { 'sd-jwt_alg_values': alg, ...bound }, claims, measured: claims }
    },
  }
}
