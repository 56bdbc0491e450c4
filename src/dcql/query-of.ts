/** Queries for credentials like a given one, or of a given type. */
import { registeredClaims } from '../credentials/sd-jwt/sd-jwt.ts'
import type { DcqlCredential } from './match.ts'
import type { ClaimsPath, DcqlFormat, DcqlQuery } from './query.ts'

/** The paths of the claims about the subject, each whole, by name: the order of disclosures is random. */
export function claimPathsOf({ format, claims }: Pick<DcqlCredential, 'format' | 'claims'>): ClaimsPath[] {
  if (format === 'dc+sd-jwt')
    return Object.keys(claims)
      .filter((name) => !(registeredClaims as readonly string[]).includes(name))
      .toSorted()
      .map((name) => [name])
  const { credentialSubject: subject } = claims
  return Object.keys(subject as object)
    .filter((name) => name !== 'id')
    .toSorted()
    .map((name) => ['credentialSubject', name])
}

/** A path as people write it: of a JWT, it begins in the subject. */
export function subjectPath(format: DcqlFormat, path: ClaimsPath): ClaimsPath {
  return format === 'dc+sd-jwt' ? path : ['credentialSubject', ...path]
}

/**
 * A query for one credential of a format, with these types and claims. Without claims, an SD-JWT discloses none.
 *
 * `isBound` false accepts a credential without a key of the holder, which a query must allow.
 */
export function queryOf(
  { format, types, isBound }: Pick<DcqlCredential, 'format' | 'types' | 'isBound'>,
  paths: readonly ClaimsPath[],
  id = 'credential',
): DcqlQuery {
  const meta = format === 'dc+sd-jwt' ? { vct_values: [...types] } : { type_values: [[...types]] }
  const claims = paths.map((path) => ({ path }))
  return {
    credentials: [
      {
        id,
        format,
        meta,
        ...(!isBound && { require_cryptographic_holder_binding: false }),
        ...(claims.length > 0 && { claims }),
      },
    ],
  }
}
