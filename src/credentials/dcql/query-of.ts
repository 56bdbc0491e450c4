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
  const { typeMember, claimDepth } = openIdTraits(format)
  const meta = metaOf[typeMember](types)
  // Elements of a document say whether the verifier keeps them.
  const retention = claimDepth === 2 ? { intent_to_retain: false } : {}
  const claims = paths.map((path) => ({ path, ...retention }))
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
