/**
 * Compares two OpenAPI documents: what a client of the older one can no longer do, or does not expect.
 *
 * A request of the older document must be valid by the newer one, and a response of the newer one by the
 * older. Both are one question: does one schema allow every value of the other? New optional members are
 * allowed on both sides.
 */
import { isDeepStrictEqual } from 'node:util'

export type Schema = {
  $ref?: string
  type?: string | string[]
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  propertyNames?: Schema
  items?: Schema
  [keyword: string]: unknown
}
type Content = Record<string, { schema: Schema }>
type Parameter = { name: string; in: string; required: boolean; schema: Schema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { content?: Content }>
  security: object[]
  'x-scopes'?: string[]
}
export type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** A schema with the document that its references are in. */
type Side = { document: Document; schema: Schema }

const allTypes = ['array', 'boolean', 'null', 'number', 'object', 'string']

/** A schema without rules, or one that lists all types, as release 0.1.0 did. */
function isAny(schema: Schema): boolean {
  const types = schema.anyOf?.map(({ type }) => type).toSorted()
  return Object.keys(schema).every((name) => name === 'description') || isDeepStrictEqual(types, allTypes)
}

/** The alternatives of a schema. */
function optionsOf(schema: Schema): Schema[] {
  if (!Array.isArray(schema.type)) return schema.anyOf ?? [schema]
  return schema.type.map((type) => ({ ...schema, type }))
}

function resolve({ document, schema }: Side): Schema {
  const name = schema.$ref?.slice('#/components/schemas/'.length)
  return name === undefined ? schema : resolve({ document, schema: document.components.schemas[name]! })
}

/** The limits: the keyword, and whether the greater value allows more. */
const limits = [
  ...['maxLength', 'maxItems', 'maximum'].map((name) => [name, 1] as const),
  ...['minLength', 'minItems', 'minimum', 'exclusiveMinimum'].map((name) => [name, -1] as const),
]

/**
 * Why a value of `narrow` may not be one of `wide`: one line for each place. `isRequest`: `wide` is the newer
 * schema.
 */
export function excess(
  wide: Side,
  narrow: Side,
  isRequest: boolean,
  at = '',
  seen = new Set<string>(),
): string[] {
  const refs = `${wide.schema.$ref} ${narrow.schema.$ref}`
  if (wide.schema.$ref && narrow.schema.$ref && seen.has(refs)) return []
  const inner = new Set(seen).add(refs)
  const [outer, own] = [resolve(wide), resolve(narrow)]
  if (isAny(outer)) return []
  if (isAny(own)) return [`${at}: any value`]
  const compare = (a: Schema, b: Schema, place: string) =>
    excess({ ...wide, schema: a }, { ...narrow, schema: b }, isRequest, place, inner)
  const [allowed, possible] = [optionsOf(outer), optionsOf(own)]
  if (allowed.length > 1 || possible.length > 1)
    return possible.flatMap((option, index) => {
      const place = possible.length > 1 ? `${at}|${index}` : at
      const found = allowed.map((each) => compare(each, option, place))
      return found.reduce((best, each) => (each.length < best.length ? each : best))
    })
  return [...simpleExcess(outer, own, at), ...objectExcess(outer, own, isRequest, at, compare)]
}

function simpleExcess(outer: Schema, own: Schema, at: string): string[] {
  if (
    outer.type !== undefined &&
    outer.type !== own.type &&
    !(outer.type === 'number' && own.type === 'integer')
  )
    return [`${at}: type ${toText(own.type)}`]
  const values = (schema: Schema) => ('const' in schema ? [schema.const] : schema.enum)
  const [allowed, possible] = [values(outer), values(own)]
  if (allowed && !possible) return [`${at}: values beside ${JSON.stringify(allowed)}`]
  if (allowed) {
    const others = possible!.filter((value) => !allowed.includes(value))
    return others.length > 0 ? [`${at}: the values ${JSON.stringify(others)}`] : []
  }
  const beyond = limits.filter(([name, sign]) => {
    const [limit, value] = [outer[name], own[name]] as [number | undefined, number | undefined]
    return (
      !possible && limit !== undefined && limit !== 0 && (value === undefined || (value - limit) * sign > 0)
    )
  })
  const formats = ['format', 'pattern'].filter(
    (name) => !possible && outer[name] !== undefined && outer[name] !== own[name],
  )
  return [
    ...beyond.map(([name]) => `${at}: ${name} ${toText(own[name])} instead of ${toText(outer[name])}`),
    ...formats.map((name) => `${at}: ${name} ${toText(own[name])} instead of ${toText(outer[name])}`),
  ]
}

type Compare = (outer: Schema, own: Schema, place: string) => string[]

function objectExcess(
  outer: Schema,
  own: Schema,
  isRequest: boolean,
  at: string,
  compare: Compare,
): string[] {
  if (outer.type === 'array') return compare(outer.items ?? {}, own.items ?? {}, `${at}[]`)
  if (outer.type !== 'object') return []
  const [older, newer] = isRequest ? [own, outer] : [outer, own]
  const [before, after] = [older.properties ?? {}, newer.properties ?? {}]
  const removed =
    newer.additionalProperties === undefined ? Object.keys(before).filter((name) => !(name in after)) : []
  const required = (outer.required ?? []).filter((name) => !own.required?.includes(name))
  const shared = Object.keys(outer.properties ?? {}).filter((name) => name in (own.properties ?? {}))
  const rest = [outer.additionalProperties, own.additionalProperties] as const
  return [
    ...removed.map((name) => `${at}.${name}: removed`),
    ...required.map((name) => `${at}.${name}: ${isRequest ? 'required' : 'not always there'}`),
    ...shared.flatMap((name) => compare(outer.properties![name]!, own.properties![name]!, `${at}.${name}`)),
    ...(rest[0] === false && rest[1] !== false ? [`${at}: other members`] : []),
    ...(typeof rest[0] === 'object' && typeof rest[1] === 'object'
      ? compare(rest[0], rest[1], `${at}.*`)
      : []),
    ...(outer.propertyNames ? compare(outer.propertyNames, own.propertyNames ?? {}, `${at} names`) : []),
  ]
}

/** The operations of a document. The names in paths are left out, because clients do not send them. */
const operations = ({ paths }: Document) =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
        operation,
      ]),
    ),
  )

/** What the newer document refuses or answers that the older one does not say: one line for each place. */
export function narrowings(older: Document, newer: Document): string[] {
  const now = operations(newer)
  return [...operations(older)].flatMap(([key, operation]) => {
    const current = now.get(key)
    return current
      ? operationNarrowings(older, newer, operation, current).map((line) => `${key} ${line}`)
      : [`${key} removed`]
  })
}

function operationNarrowings(older: Document, newer: Document, was: Operation, is: Operation): string[] {
  const request = (now: Schema, then: Schema, at: string) =>
    excess({ document: newer, schema: now }, { document: older, schema: then }, true, at)
  const response = (now: Schema, then: Schema, at: string) =>
    excess({ document: older, schema: then }, { document: newer, schema: now }, false, at)
  const named = ({ parameters = [] }: Operation) => parameters.filter((each) => each.in !== 'path')
  const same = (a: Parameter) => (b: Parameter) => a.name === b.name && a.in === b.in
  const [json, wasJson] = [is, was].map(
    ({ requestBody }) => Object.values(requestBody?.content ?? {})[0]?.schema,
  )
  return [
    ...named(was).flatMap((then) => {
      const now = named(is).find(same(then))
      return now ? request(now.schema, then.schema, `?${then.name}`) : [`?${then.name}: removed`]
    }),
    ...named(is)
      .filter((now) => now.required && !named(was).some((then) => same(now)(then) && then.required))
      .map(({ name }) => `?${name}: required`),
    ...(is.requestBody?.required && !was.requestBody?.required ? ['request: required'] : []),
    ...(json ? request(json, wasJson ?? {}, 'request') : []),
    ...Object.entries(was.responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).flatMap(([media, { schema }]) => {
        const now = is.responses[status]?.content?.[media]
        return now ? response(now.schema, schema, status) : [`${status}: no ${media}`]
      }),
    ),
    ...Object.keys(was.responses).flatMap((status) => (is.responses[status] ? [] : [`${status}: removed`])),
    ...(was['x-scopes'] ?? []).flatMap((scope) =>
      is['x-scopes']?.includes(scope) ? [] : [`scope ${scope}: refused`],
    ),
    ...was.security.flatMap((scheme) =>
      is.security.some((each) => isDeepStrictEqual(each, scheme)) || is.security.length === 0
        ? []
        : [`${Object.keys(scheme)[0]}: refused`],
    ),
  ]
}

/** A limit or format of a schema in a message. */
function toText(value: unknown): string {
  return value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)
}
