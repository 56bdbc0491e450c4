/**
 * Queries of the Digital Credentials Query Language (OpenID4VP 1.0 §6): their form and their limits. Unknown
 * members are ignored.
 */
import * as z from 'zod'
import { openIdFormats, openIdTraits } from '../../definitions/format-names.ts'

/** The limits of a query. Its text also has the limits of `parseJson`. */
export const dcqlLimits = {
  credentials: 50,
  claims: 100,
  allClaims: 500,
  path: 32,
  values: 100,
  sets: 50,
  authorities: 100,
  text: 1_024,
} as const

const Text = z.string().min(1).max(dcqlLimits.text)
const Id = z
  .string()
  .regex(/^[\w-]+$/, 'is not made of letters, digits, _ and -')
  .max(100)
const Ids = z.array(Id).min(1).max(dcqlLimits.claims)

/** A claims path pointer (§7): the name of a member, the index of an element, or null for all elements. */
export const ClaimsPath = z
  .array(z.union([Text, z.int().nonnegative(), z.null()], 'is not text, null or an index from 0'))
  .min(1)
  .max(dcqlLimits.path)
export type ClaimsPath = z.infer<typeof ClaimsPath>

const ClaimsQuery = z
  .object({
    id: Id.optional(),
    path: ClaimsPath,
    values: z
      .array(z.union([z.string().max(dcqlLimits.text), z.int(), z.boolean()]))
      .min(1)
      .max(dcqlLimits.values)
      .optional(),
    intent_to_retain: z
      .boolean()
      .optional()
      .describe('`mso_mdoc`: whether the verifier wants to keep the element. Default: false.'),
  })
  .meta({ id: 'DcqlClaimsQuery' })
export type ClaimsQuery = z.infer<typeof ClaimsQuery>

const TrustedAuthorities = z
  .object({ type: Text, values: z.array(Text).min(1).max(dcqlLimits.authorities) })
  .meta({ id: 'DcqlTrustedAuthorities' })

/** The members of `TypeMember`, each for its formats. */
const CredentialMeta = z
  .looseObject({
    vct_values: z.array(Text).min(1).max(dcqlLimits.values).optional(),
    type_values: z.array(z.array(Text).min(1).max(20)).min(1).max(dcqlLimits.values).optional(),
    doctype_value: Text.optional(),
  })
  .meta({ id: 'DcqlCredentialMeta' })

export const CredentialQuery = z
  .object({
    id: Id,
    format: Text,
    multiple: z.boolean().optional(),
    meta: CredentialMeta,
    trusted_authorities: z.array(TrustedAuthorities).min(1).max(20).optional(),
    require_cryptographic_holder_binding: z.boolean().optional(),
    claims: z.array(ClaimsQuery).min(1).max(dcqlLimits.claims).optional(),
    claim_sets: z.array(Ids).min(1).max(dcqlLimits.sets).optional(),
  })
  .superRefine(({ claims, claim_sets: sets }, context) => {
    const ids = (claims ?? []).map(({ id }) => id)
    refuseRepeated(ids, (index) => ['claims', index, 'id'], context)
    if (!sets) return
    if (!claims) context.addIssue({ code: 'custom', path: ['claim_sets'], message: 'needs claims' })
    if (ids.includes(undefined)) {
      const path = ['claims', ids.indexOf(undefined), 'id']
      context.addIssue({ code: 'custom', path, message: 'is missing, and claim_sets is present' })
    }
    for (const [index, set] of sets.entries())
      refuseUnknown(set, ids, ['claim_sets', index], 'claims', context)
  })
  .meta({ id: 'DcqlCredentialQuery' })
export type CredentialQuery = z.output<typeof CredentialQuery>

const CredentialSetQuery = z
  .object({ options: z.array(Ids).min(1).max(dcqlLimits.sets), required: z.boolean().optional() })
  .meta({ id: 'DcqlCredentialSetQuery' })

/** A query as a wallet reads it: credentials may have any format. */
export const DcqlQuery = z
  .object({
    credentials: z.array(CredentialQuery).min(1).max(dcqlLimits.credentials),
    credential_sets: z.array(CredentialSetQuery).min(1).max(dcqlLimits.sets).optional(),
  })
  .superRefine(({ credentials, credential_sets: sets }, context) => {
    const ids = credentials.map(({ id }) => id)
    refuseRepeated(ids, (index) => ['credentials', index, 'id'], context)
    const count = credentials.reduce((sum, { claims = [] }) => sum + claims.length, 0)
    if (count > dcqlLimits.allClaims) {
      const message = `name ${count} claims, and a query may name ${dcqlLimits.allClaims}`
      context.addIssue({ code: 'custom', path: ['credentials'], message })
    }
    for (const [index, { options }] of (sets ?? []).entries())
      for (const [option, named] of options.entries())
        refuseUnknown(named, ids, ['credential_sets', index, 'options', option], 'credentials', context)
  })
  .meta({ id: 'DcqlQuery' })
export type DcqlQuery = z.output<typeof DcqlQuery>

/** Whether a credential may be shown without a proof that the presenter holds it. */
export function isUnbound({ require_cryptographic_holder_binding: isRequired }: CredentialQuery): boolean {
  return isRequired === false
}

/** Why a query could be answered without a proof of who holds each credential. */
export function findUnheld({ credentials }: DcqlQuery): { path: Path; message: string } | undefined {
  for (const [index, query] of credentials.entries()) {
    const path = ['credentials', index]
    if (isUnbound(query))
      return {
        path: [...path, 'require_cryptographic_holder_binding'],
        message: 'must not be false, because the key of the holder identifies the person',
      }
    if (query.multiple === true)
      return {
        path: [...path, 'multiple'],
        message: 'must not be true, because one holder answers',
      }
  }
  return undefined
}

/** A query as a verifier sends it: formats that it can check, types that it names, and no claim twice (§6.3). */
export const RequestedDcqlQuery = DcqlQuery.superRefine(({ credentials }, context) => {
  for (const [index, query] of credentials.entries()) {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path: ['credentials', index, ...path], message })
    const member = openIdTraits(query.format)?.typeMember
    if (member === undefined) refuse(['format'], `is none of ${openIdFormats.join(', ')}`)
    else if (!query.meta[member]) refuse(['meta', member], 'is missing: name the accepted types')
    refuseAuthorities(query, refuse)
    refuseDocument(query, refuse)
    const paths = (query.claims ?? []).map(({ path }) => JSON.stringify(path))
    const twice = paths.findIndex((path, position) => paths.indexOf(path) !== position)
    if (twice >= 0) refuse(['claims', twice, 'path'], 'is that of another claim of this credential')
  }
})

type Path = (string | number)[]

/** Authorities are found in certificates, and only by their key identifiers (§6.1.1). */
function refuseAuthorities(
  { trusted_authorities: authorities, format }: CredentialQuery,
  refuse: (path: Path, message: string) => void,
): void {
  if (!authorities) return
  const able = openIdFormats.filter((id) => openIdTraits(id).hasCertificates)
  if (!able.some((id) => id === format))
    refuse(
      ['trusted_authorities'],
      `needs the format ${able.join(' or ')}: name the issuers’ DIDs in a policy`,
    )
  for (const [index, { type, values }] of authorities.entries()) {
    const place: Path = ['trusted_authorities', index]
    if (type !== 'aki') refuse([...place, 'type'], `${type} cannot be checked: only aki can`)
    else if (!values.every((value) => /^[\w-]+$/.test(value)))
      refuse([...place, 'values'], 'has a key identifier that is not base64url')
  }
}

/** A document is always bound, and its claims are elements of namespaces (OpenID4VP 1.0 §B.2.4, §7.2). */
function refuseDocument(query: CredentialQuery, refuse: (path: Path, message: string) => void): void {
  if (openIdTraits(query.format)?.claimDepth !== 2) return
  if (isUnbound(query))
    refuse(
      ['require_cryptographic_holder_binding'],
      'is false, and an mdoc is always bound to a key of its holder: leave it out',
    )
  for (const [index, { path }] of (query.claims ?? []).entries())
    if (path.length !== 2 || !path.every((part) => typeof part === 'string'))
      refuse(['claims', index, 'path'], 'is not a namespace and an element, two texts')
}

function refuseRepeated(
  ids: readonly (string | undefined)[],
  toPath: (index: number) => Path,
  context: z.RefinementCtx,
): void {
  const index = ids.findIndex((id, position) => id !== undefined && ids.indexOf(id) !== position)
  if (index >= 0) context.addIssue({ code: 'custom', path: toPath(index), message: 'is not unique' })
}

function refuseUnknown(
  named: readonly string[],
  ids: readonly (string | undefined)[],
  path: Path,
  member: string,
  context: z.RefinementCtx,
): void {
  const unknown = named.findIndex((id) => !ids.includes(id))
  if (unknown >= 0)
    context.addIssue({ code: 'custom', path: [...path, unknown], message: `is not an id in ${member}` })
}
