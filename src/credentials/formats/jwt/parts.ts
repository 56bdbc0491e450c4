/** The parts of a JWT credential. */
import * as z from 'zod'
import { checkIssuerSignature, IssuerId } from '../../codecs/issuer-signature.ts'
import { decodeClaims, toClaimsWithVc } from '../../codecs/jwt-vc.ts'
import { decodeJws, decodePayload, parseClaims } from '../../codecs/jws.ts'
import { once, type Parts } from '../parts.ts'
import { checkCompliance } from './compliance.ts'

/** The claim that names the signer. */
const Issuer = z.looseObject({ iss: IssuerId })

/** Decodes nothing yet. */
export function partsOf(jwt: string): Parts {
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
    audience: () => payload()['aud'],
    checkAlgorithms: jws,
    async checkSignatures(keys) {
      const { iss } = parseClaims(Issuer, toClaimsWithVc(payload()))
      await checkIssuerSignature(jws(), iss, keys)
    },
    checkCompliance: () => checkCompliance(decoded().payload),
    toCandidate: () => {
      const { alg } = jws().header
      // Paths may use the names of the JWT (`$.vc.credentialSubject`, `$.iss`) or those of the data model
      // (`$.credentialSubject`).
      const { payload: claims } = decoded()
      return { algorithms: { alg }, claims: { ...claims.vc, ...claims }, measured: claims }
    },
  }
}
