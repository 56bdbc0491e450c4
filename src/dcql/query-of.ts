/** Queries for credentials of given types. */
import type { DcqlCredential } from './match.ts'
import type { ClaimsPath, DcqlFormat, DcqlQuery } from './query.ts'

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
