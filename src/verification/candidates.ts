/** Credentials as a presentation definition looks at them. */
import { decodeClaims } from '../credentials/credential.ts'
import { decodeJws } from '../credentials/jws.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import { findExcess } from '../schemas/limits.ts'
import type { Candidate } from './evaluate.ts'

/** How much a credential may hold for strangers' paths to be followed in it; long texts, such as pictures, take no time. */
const limits = { depth: 64, values: 2_500, characters: 1_048_576 }

/**
 * A JWT VC under an id. Paths find what is in it by the names of the JWT (`$.vc.credentialSubject`, `$.iss`) and by those of the data model
 * (`$.credentialSubject`): both are in use for this format.
 *
 * @throws {VerificationError} when it cannot be read, or holds too much
 */
export function toCandidate(id: string, jwt: string): Candidate {
  const { alg } = decodeJws(jwt).header
  const { payload } = decodeClaims(jwt)
  const excess = findExcess(payload, limits)
  if (excess !== undefined) throw new VerificationError('too-large', `The credential ${excess}`)
  return { id, formats: ['jwt_vc', 'jwt'], algorithm: alg, claims: { ...payload.vc, ...payload } }
}
