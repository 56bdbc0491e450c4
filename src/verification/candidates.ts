/** Credentials as a presentation definition looks at them. */
import { decodeClaims } from '../credentials/credential.ts'
import type { JsonObject } from '../credentials/json.ts'
import { decodeJws } from '../credentials/jws.ts'
import { findBindingAlgorithm } from '../credentials/sd-jwt/key-binding.ts'
import { decodeSdJwt, isSdJwt } from '../credentials/sd-jwt/sd-jwt.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { findExcess } from '../schemas/limits.ts'
import type { Candidate } from './evaluate.ts'

/** How much a credential may hold for strangers' paths to be followed in it; long texts, such as pictures, take no time. */
const limits = { depth: 64, values: 2_500, characters: 1_048_576 }

/**
 * A credential under an id. Paths find what is in a JWT VC by the names of the JWT (`$.vc.credentialSubject`, `$.iss`) and by those of the data model
 * (`$.credentialSubject`): both are in use for this format. In an SD-JWT they find what it shows (`$.given_name`, `$.vct`).
 *
 * @throws {VerificationError} when it cannot be read, or holds too much
 */
export function toCandidate(id: string, credential: string): Candidate {
  return isSdJwt(credential) ? ofSdJwt(id, credential) : ofJwt(id, credential)
}

function ofJwt(id: string, jwt: string): Candidate {
  const { alg } = decodeJws(jwt).header
  const { payload } = decodeClaims(jwt)
  checkSize(payload)
  return { id, formats: ['jwt_vc', 'jwt'], algorithms: { alg }, claims: { ...payload.vc, ...payload } }
}

function ofSdJwt(id: string, sdJwt: string): Candidate {
  const { jws, processed: claims, holderKey } = decodeSdJwt(sdJwt)
  checkSize(claims)
  // What is bound to no key is shown without a key binding, whose algorithm then does not matter; no algorithm is called ''.
  const algorithms = {
    'sd-jwt_alg_values': jws.header.alg,
    ...(holderKey && { 'kb-jwt_alg_values': findBindingAlgorithm(holderKey) ?? '' }),
  }
  return { id, formats: ['dc+sd-jwt', 'vc+sd-jwt'], algorithms, claims }
}

function checkSize(claims: JsonObject): void {
  const excess = findExcess(claims, limits)
  if (excess !== undefined) throw new VerificationError('too-large', `The credential ${excess}`)
}
