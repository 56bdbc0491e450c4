/**
 * The restrictions of proof requests: which credentials may answer.
 *
 * They are evaluated here because the library accepts markers of attributes that a credential does not have,
 * and does not know `issuer_did`.
 */
import { canonicalDid } from '../did/document.ts'
import { attributeKey, type AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import type { PresentationRequest } from './presentation.ts'

/** The properties of a credential that restrictions refer to. */
export type Candidate = {
  schemaId: string
  credDefId: string
  /** The issuer of the definition. */
  issuerId: string
  /** Required if `needsSchema` of the request is true. */
  schema?: Pick<AnonCredsSchema, 'name' | 'version' | 'issuerId'> | undefined
  /** Names, as `attributeKey`. */
  attributes: ReadonlySet<string>
  /** Whether the issuers in the schema and in the definition are authentic (`isIssuerAuthentic`). */
  isAuthentic: { schema: boolean; definition: boolean }
  /** Revealed values by `attributeKey`. */
  revealed: ReadonlyMap<string, string>
}

type Restriction = Readonly<Record<string, string>>

const isDid = (did: string, wanted: string) => canonicalDid(did) === canonicalDid(wanted)
const ofIssuer = ({ issuerId, isAuthentic }: Candidate, wanted: string) =>
  isAuthentic.definition && isDid(issuerId, wanted)
const ofSchemaIssuer = ({ schema, isAuthentic }: Candidate, wanted: string) =>
  isAuthentic.schema && isDid(schema?.issuerId ?? '', wanted)

const tags: Readonly<Record<string, (candidate: Candidate, wanted: string) => boolean>> = {
  cred_def_id: ({ credDefId }, wanted) => credDefId === wanted,
  schema_id: ({ schemaId }, wanted) => schemaId === wanted,
  issuer_did: ofIssuer,
  issuer_id: ofIssuer,
  schema_issuer_did: ofSchemaIssuer,
  schema_issuer_id: ofSchemaIssuer,
  schema_name: ({ schema }, wanted) => schema?.name === wanted,
  schema_version: ({ schema }, wanted) => schema?.version === wanted,
}

const attributeTag = /^attr::(.+)::(value|marker)$/s

/** The supported tags, for error messages. */
export const tagNames = [...Object.keys(tags), 'attr::<name>::value', 'attr::<name>::marker'].join(', ')

export function isKnownTag(tag: string): boolean {
  return Object.hasOwn(tags, tag) || attributeTag.test(tag)
}

/** Whether evaluating a request needs the content of schemas. */
export function needsSchema({ requested_attributes, requested_predicates }: PresentationRequest): boolean {
  const items = [...Object.values(requested_attributes), ...Object.values(requested_predicates)]
  const used = items.flatMap(({ restrictions }) =>
    restrictions.flatMap((restriction) => Object.keys(restriction)),
  )
  return used.some((tag) => tag.startsWith('schema_') && tag !== 'schema_id')
}

/**
 * The reason why a credential satisfies none of the restrictions. Undefined when it satisfies one, or there
 * are none.
 */
export function findUnmet(restrictions: readonly Restriction[], candidate: Candidate): string | undefined {
  const unmet = restrictions.map((restriction) =>
    Object.entries(restriction).find(([tag, wanted]) => !holds(tag, wanted, candidate)),
  )
  const [first] = unmet
  if (!first || unmet.includes(undefined)) return undefined
  const [tag, wanted] = first
  return `${tag} must be ${wanted}${restrictions.length > 1 ? ', or another restriction must be met' : ''}${isUnauthentic(tag, candidate) ? unauthentic : ''}`
}

const unauthentic = ', and the publisher at that URL is not authenticated: request it by its id'

function holds(tag: string, wanted: string, candidate: Candidate): boolean {
  if (Object.hasOwn(tags, tag)) return tags[tag]!(candidate, wanted)
  const [, name, kind] = attributeTag.exec(tag) ?? []
  if (name === undefined) return false
  const key = attributeKey(name)
  if (kind === 'value') return candidate.revealed.get(key) === wanted
  return wanted === '1' && candidate.attributes.has(key)
}

function isUnauthentic(tag: string, { isAuthentic }: Candidate): boolean {
  return tag.startsWith('issuer_')
    ? !isAuthentic.definition
    : tag.startsWith('schema_issuer_') && !isAuthentic.schema
}
