/** Whether a credential is one that a credential query asks for (OpenID4VP 1.0 §6.1, §6.4.1). */
import type { JsonObject } from '../../foundation/json.ts'
import { type OpenIdFormat, openIdTraits, type TypeMember } from '../../definitions/format-names.ts'
import { createSelect, type Select } from './path.ts'
import {
  isUnbound,
  type ClaimsPath,
  type ClaimsQuery,
  type CredentialQuery,
  type DcqlQuery,
} from './query.ts'

/** The parts of a credential that queries refer to. */
export type DcqlCredential = {
  format: OpenIdFormat
  /** The `vct`, or the values of `type`. */
  types: readonly string[]
  /**
   * The root of paths. Of an SD-JWT: the payload with the disclosed claims, and holes in arrays for elements
   * that are not. Of a JWT: the credential, without the claims of the JWT.
   */
  claims: JsonObject
  /** The holder can prove, or has proved, that the credential is its own. */
  isBound: boolean
  /** The key identifiers of the authorities in `x5c` (RFC 5280 §4.2.1.1), base64url. */
  authorityKeyIds?: readonly string[] | undefined
}

/** Why a credential does not match: the member of the query, as text. */
export type Mismatch = { isMatch: false; reason: string }
/**
 * `paths` are the claims of the first claim set that the credential satisfies. Undefined: the query names no
 * claims.
 */
export type Match = { isMatch: true; paths: ClaimsPath[] | undefined }
export type MatchResult = Match | Mismatch

/**
 * The types of JSON-LD without the vocabulary of credentials: those in `type` of a credential, and their
 * expanded form.
 */
const vocabulary = 'https://www.w3.org/2018/credentials#'

/** The types and the claims of a credential in a form for lookups. It is made once for all queries. */
type Lookup = { types: () => ReadonlySet<string>; select: Select }

function lookupIn({ types, claims }: DcqlCredential): Lookup {
  let known: ReadonlySet<string> | undefined
  return {
    types: () => (known ??= new Set(types.flatMap((type) => [type, vocabulary + type]))),
    select: createSelect(claims),
  }
}

/**
 * Matches a credential that a wallet holds, or one that was presented.
 *
 * @throws {VerificationError} `too-large`: see `createSelect`
 */
export function matchCredential(
  credential: DcqlCredential,
  query: CredentialQuery,
  { types: known, select }: Lookup = lookupIn(credential),
): MatchResult {
  if (credential.format !== query.format) return mismatch(`format: it is ${credential.format}`)
  const types = findTypeMismatch(credential, query, known)
  if (types !== undefined) return mismatch(types)
  if (!credential.isBound && !isUnbound(query))
    return mismatch('require_cryptographic_holder_binding: it is not bound to a key of the holder')
  if (!isByAuthority(credential, query))
    return mismatch('trusted_authorities: no certificate of its issuer names one of them')
  return matchClaims(select, query)
}

/** The result for each credential query, in their order. @throws as `matchCredential` */
export function matchQuery(
  credential: DcqlCredential,
  { credentials }: Pick<DcqlQuery, 'credentials'>,
): MatchResult[] {
  const lookup = lookupIn(credential)
  return credentials.map((query) => matchCredential(credential, query, lookup))
}

function findTypeMismatch(
  { types: named, claims }: DcqlCredential,
  { format, meta }: CredentialQuery,
  known: Lookup['types'],
): string | undefined {
  const member = openIdTraits(format)?.typeMember
  const types = member === 'vct_values' ? [...named, ...extendedBy(claims)] : named
  if (member === undefined || !meta[member] || isOfType[member](meta, types, known)) return undefined
  return types.length > 1
    ? `meta.${member}: its types are ${types.slice(0, 10).join(', ')}`
    : `meta.${member}: its type is ${types.join('')}`
}

/** The types that the type of an SD-JWT VC extends (OpenID4VP 1.0 §B.3.5), as its issuer has signed them. */
function extendedBy({ aka_vcts: vcts }: JsonObject): string[] {
  return Array.isArray(vcts) ? vcts.filter((vct) => typeof vct === 'string') : []
}

/** Whether types are among those of each member of `meta`. */
const isOfType = {
  vct_values: ({ vct_values: accepted }, types) => types.some((type) => accepted!.includes(type)),
  type_values: ({ type_values: accepted }, _, known) =>
    accepted!.some((all) => all.every((type) => known().has(type))),
  doctype_value: ({ doctype_value: accepted }, types) => types.includes(accepted!),
} satisfies Record<
  TypeMember,
  (meta: CredentialQuery['meta'], types: readonly string[], known: Lookup['types']) => boolean
>

/** The types that a query names, each by itself. */
export function typesOf({ meta }: Pick<CredentialQuery, 'meta'>): string[] {
  return [meta.vct_values ?? [], meta.type_values ?? [], meta.doctype_value ?? []].flat(2)
}

/** Only authority key identifiers can be checked. Authorities of other types match no credential. */
export function isByAuthority(
  { authorityKeyIds = [] }: Pick<DcqlCredential, 'authorityKeyIds'>,
  { trusted_authorities: authorities }: Pick<CredentialQuery, 'trusted_authorities'>,
): boolean {
  if (!authorities) return true
  return authorities.some(
    ({ type, values }) => type === 'aki' && values.some((value) => authorityKeyIds.includes(value)),
  )
}

function matchClaims(select: Select, { claims, claim_sets: sets }: CredentialQuery): MatchResult {
  if (!claims) return { isMatch: true, paths: undefined }
  const missing = new Set(claims.filter((claim) => !hasClaim(select, claim)))
  const alternatives = sets
    ? sets.map((ids) => ids.map((id) => claims.find((claim) => claim.id === id)!))
    : [claims]
  const satisfied = alternatives.find((set) => set.every((claim) => !missing.has(claim)))
  if (satisfied) return { isMatch: true, paths: satisfied.map(({ path }) => path) }
  const [{ path, values }] = [...missing] as [ClaimsQuery]
  const fault = select(path) && values ? 'has another value' : 'is missing'
  return mismatch(`claims: ${describePath(path)} ${fault}`)
}

/** Values match by type and content (§6.3). One of several selected elements is enough. */
function hasClaim(select: Select, { path, values }: ClaimsQuery): boolean {
  const selected = select(path)
  if (!selected) return false
  return !values || values.some((value) => selected.has(value))
}

/** For messages: `address.street`, `nationalities[0]`, `nationalities[*]`. */
export function describePath(path: ClaimsPath): string {
  return path
    .map((part) => (typeof part === 'string' ? `.${part}` : `[${part ?? '*'}]`))
    .join('')
    .replace(/^\./, '')
}

function mismatch(reason: string): Mismatch {
  return { isMatch: false, reason }
}
