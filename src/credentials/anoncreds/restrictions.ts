/**
 * The restrictions of proof requests: which credentials may answer.
 *
 * They are evaluated here because the library accepts markers of attributes that a credential does not have,
 * and does not know `issuer_did`.
 */
import { canonicalDid } from '../../did/document.ts'
import { attributeKey, type AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import type { PresentationRequest } from './presentation.ts'

/** The properties of a credential that restrictions refer to. */
export type Candidate = {
  schemaId: string
  credDefId: string
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

const isDid = (did: string, expected: string) => canonicalDid(did) === canonicalDid(expected)
const ofIssuer = ({ issuerId, isAuthentic }: Candidate, expected: string) =>
  isAuthentic.definition && isDid(issuerId, expected)
const ofSchemaIssuer = ({ schema, isAuthentic }: Candidate, expected: string) =>
  isAuthentic.schema && isDid(schema?.issuerId ?? '', expected)

const tags: Readonly<Record<string, (candidate: Candidate, expected: string) => boolean>> = {
  cred_def_id: ({ credDefId }, expected) => credDefId === expected,
  schema_id: ({ schemaId }, expected) => schemaId === expected,
  issuer_did: ofIssuer,
  issuer_id: ofIssuer,
  schema_issuer_did: ofSchemaIssuer,
  schema_issuer_id: ofSchemaIssuer,
  schema_name: ({ schema }, expected) => schema?.name === expected,
  schema_version: ({ schema }, expected) => schema?.version === expected,
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
    Object.entries(restriction).find(([tag, expected]) => !isMet(tag, expected, candidate)),
  )
  const [first] = unmet
  if (!first || unmet.includes(undefined)) return undefined
  const [tag, expected] = first
  return `${tag} must be ${expected}${restrictions.length > 1 ? ', or another restriction must be met' : ''}${isUnauthentic(tag, candidate) ? unauthentic : ''}`
}

const unauthentic = ', and the publisher at that URL is not authenticated: request it by its id'

function isMet(tag: string, expected: string, candidate: Candidate): boolean {
  if (Object.hasOwn(tags, tag)) return tags[tag]!(candidate, expected)
  const [, name, kind] = attributeTag.exec(tag) ?? []
  if (name === undefined) return false
  const key = attributeKey(name)
  if (kind === 'value') return candidate.revealed.get(key) === expected
  return expected === '1' && candidate.attributes.has(key)
}

function isUnauthentic(tag: string, { isAuthentic }: Candidate): boolean {
  return tag.startsWith('issuer_')
    ? !isAuthentic.definition
    : tag.startsWith('schema_issuer_') && !isAuthentic.schema
}
