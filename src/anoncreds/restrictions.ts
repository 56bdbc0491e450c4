/**
 * Restrictions of proof requests (wire.md 10): which credentials may answer.
 *
 * They are judged here and not by the library, which takes markers of attributes that are not there for granted, and knows no `issuer_did`.
 */
import { canonicalDid } from '../did/document.ts'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { attributeKey } from '../schemas/anoncreds-schema.ts'
import type { PresentationRequest } from './proof-model.ts'

/** What a credential that answers is, as far as restrictions ask. */
export type Source = {
  schemaId: string
  credDefId: string
  /** The issuer that the definition names. */
  issuerId: string
  /** What the schema says of itself; may be left out where `asksOfSchema` says no. */
  schema?: Pick<AnonCredsSchema, 'name' | 'version' | 'issuerId'> | undefined
  /** The attributes that it has, by `attributeKey`. */
  attributes: ReadonlySet<string>
  /** Whether somebody vouches for the issuers that schema and definition name: at a mere URL anybody can name anybody. */
  vouched: { schema: boolean; definition: boolean }
  /** The texts that are shown, by `attributeKey`. */
  shown: ReadonlyMap<string, string>
}

type Restriction = Readonly<Record<string, string>>

const isDid = (did: string, wanted: string) => canonicalDid(did) === canonicalDid(wanted)
const ofIssuer = ({ issuerId, vouched }: Source, wanted: string) =>
  vouched.definition && isDid(issuerId, wanted)
const ofSchemaIssuer = ({ schema, vouched }: Source, wanted: string) =>
  vouched.schema && isDid(schema?.issuerId ?? '', wanted)

const tags: Readonly<Record<string, (source: Source, wanted: string) => boolean>> = {
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

/** The tags that restrictions may have, in words. */
export const tagNames = [...Object.keys(tags), 'attr::<name>::value', 'attr::<name>::marker'].join(', ')

export function isKnownTag(tag: string): boolean {
  return Object.hasOwn(tags, tag) || attributeTag.test(tag)
}

/** Whether a restriction of a request is about what only the schema itself can tell. */
export function asksOfSchema({ requested_attributes, requested_predicates }: PresentationRequest): boolean {
  const asked = [...Object.values(requested_attributes), ...Object.values(requested_predicates)]
  const named = asked.flatMap(({ restrictions }) =>
    restrictions.flatMap((restriction) => Object.keys(restriction)),
  )
  return named.some((tag) => tag.startsWith('schema_') && tag !== 'schema_id')
}

/** Why none of the restrictions lets a credential answer; nothing when one does, or there are none. All members of one must hold. */
export function findUnmet(restrictions: readonly Restriction[], source: Source): string | undefined {
  const unmet = restrictions.map((restriction) =>
    Object.entries(restriction).find(([tag, wanted]) => !holds(tag, wanted, source)),
  )
  const [first] = unmet
  if (!first || unmet.includes(undefined)) return undefined
  const [tag, wanted] = first
  return `${tag} must be ${wanted}${restrictions.length > 1 ? ', or another restriction hold' : ''}${isUnvouched(tag, source) ? unvouched : ''}`
}

const unvouched = ', and nobody vouches for who published it at that address: ask for it by its id'

function holds(tag: string, wanted: string, source: Source): boolean {
  if (Object.hasOwn(tags, tag)) return tags[tag]!(source, wanted)
  const [, name, kind] = attributeTag.exec(tag) ?? []
  if (name === undefined) return false
  const key = attributeKey(name)
  if (kind === 'value') return source.shown.get(key) === wanted
  return wanted === '1' && source.attributes.has(key)
}

function isUnvouched(tag: string, { vouched }: Source): boolean {
  return tag.startsWith('issuer_') ? !vouched.definition : tag.startsWith('schema_issuer_') && !vouched.schema
}
