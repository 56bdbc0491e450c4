/** Queries for credentials of given types. */
import type { DcqlCredential } from './match.ts'
import { type OpenIdFormat, openIdTraits, type TypeMember } from '../../definitions/format-names.ts'
import type { ClaimsPath, CredentialQuery, DcqlQuery } from './query.ts'

/** A path as people write it: of a JWT, it begins in the subject. */
export function subjectPath(format: OpenIdFormat, path: ClaimsPath): ClaimsPath {
  return [...openIdTraits(format).claimsRoot, ...path]
}

const metaOf = {
  vct_values: (types) => ({ vct_values: [...types] }),
  type_values: (types) => ({ type_values: [[...types]] }),
  doctype_value: ([type]) => ({ doctype_value: type }),
} satisfies Record<TypeMember, (types: readonly string[]) => CredentialQuery['meta']>

/**
 * A query for one credential of a format, with these types and claims. Without claims, an SD-JWT discloses
 * none.
 *
 * `isBound` false accepts a credential without a key of the holder, which a query must allow.
 */
export function queryOf(
  { format, types, isBound }: Pick<DcqlCredential, 'format' | 'types' | 'isBound'>,
  paths: readonly ClaimsPath[],
  id = 'credential',
): DcqlQuery {
  const meta = metaOf[openIdTraits(format).typeMember](types)
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
