/** Questions for claims: one for each property of a known schema, or any claims without one. */
import { isJsonObject, type JsonObject } from '../../src/foundation/json.ts'
import { getTemplate, templateNames } from '../../src/definitions/templates/index.ts'
import { faultOf } from '../errors/errors.ts'
import { readClaims } from '../input/claims.ts'
import { isGuid } from '../input/registry.ts'
import type { Asking, Question } from './missing.ts'

/** A property of a schema, as a person fills it. */
export type ClaimField = {
  name: string
  /** Its title and its type, with a mark if it is required. */
  label: string
  isRequired: boolean
  /** The argument of `--claim` for a text. Undefined for a text that leaves it out. */
  toClaim: (text: string) => string | undefined
  faultOf: (text: string) => string | undefined
}

/** The properties of a schema, in its order. Undefined without any. */
export function fieldsOf(schema: unknown): ClaimField[] | undefined {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return undefined
  const { properties, required = [] } = schema as { properties: JsonObject; required?: unknown }
  const fields = Object.entries(properties)
    .filter(([name]) => name !== 'id')
    .map(([name, property]) => toField(name, property, Array.isArray(required) && required.includes(name)))
  return fields.length === 0 ? undefined : fields
}

function toField(name: string, property: unknown, isRequired: boolean): ClaimField {
  const { type = 'string', title, format, enum: words }: JsonObject = isJsonObject(property) ? property : {}
  const values = Array.isArray(words) ? words.map(String) : undefined
  const kind = values
    ? values.join(', ')
    : [type, format].filter((each) => typeof each === 'string').join(', ')
  const isText = type === 'string'
  return {
    name,
    label: `${typeof title === 'string' && title !== name ? `${title} (${name})` : name}: ${kind}${isRequired ? ', required' : ''}`,
    isRequired,
    toClaim: (text) => (text === '' ? undefined : `${name}${isText ? '=' : ':='}${text}`),
    faultOf(text) {
      if (text === '') return isRequired ? 'This claim is required.' : undefined
      if (values && !values.includes(text)) return `It is one of ${values.join(', ')}.`
      if (format === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(text)) return 'A date is written as 2001-02-03.'
      return isText ? undefined : faultOfJson(type, text)
    },
  }
}

const examples: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  integer: 'such as 42',
  number: 'such as 4.2',
  array: 'in JSON, such as ["a", "b"]',
  object: 'in JSON, such as {"city": "Berlin"}',
}

function faultOfJson(type: unknown, text: string): string | undefined {
  const example = examples[String(type)]
  if (example === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return `It is ${/^[aeiou]/.test(String(type)) ? 'an' : 'a'} ${String(type)}, ${example}.`
  }
  const is = Array.isArray(value) ? 'array' : typeof value
  const fits = type === 'integer' ? Number.isInteger(value) : is === type
  return fits ? undefined : `It is ${/^[aeiou]/.test(String(type)) ? 'an' : 'a'} ${String(type)}, ${example}.`
}

/** The schema of a configuration, if this agent has it. */
export async function schemaOfConfiguration(
  call: Asking['call'],
  issuerId: string,
  credentialConfigId: string,
): Promise<unknown> {
  const { schemaId } = await call(
    'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
    { path: { issuerId, credentialConfigId } },
  )
  return readSchema(call, schemaId)
}

async function readSchema(call: Asking['call'], schema: string): Promise<unknown> {
  const guid = isGuid(schema) ? schema : /\/schemas\/([0-9a-f-]{36})(?:\/schema)?$/.exec(schema)?.[1]
  if (guid === undefined) return undefined
  // A schema of another agent is not read: its claims are typed as any others.
  return call('GET /schema-registry/schemas/{guid}/schema', { path: { guid } }).catch(() => undefined)
}

/** The schema of the offer that the flags describe so far. */
async function findSchema({ call, given }: Asking): Promise<unknown> {
  const { template, schema, oid4vci, configuration } = given
  const name = templateNames.find((each) => each === template)
  if (name) return getTemplate(name).schema
  if (Array.isArray(schema) && schema.length === 1) return readSchema(call, String(schema[0]))
  if (typeof oid4vci !== 'string') return undefined
  const [issuerId, configurationId] = [flagValue(oid4vci), flagValue(configuration)]
  if (issuerId === '' || configurationId === '') return undefined
  return schemaOfConfiguration(call, issuerId, configurationId)
}

/** A value as it was typed, or as an earlier question has answered it. */
const flagValue = (value: unknown) => (typeof value === 'string' ? value.replace(/^--[\w-]+=/, '') : '')

/** Asks for the claims of an offer: by the properties of its schema, or one by one. */
export const whichClaims: Question = {
  unless: ['claims'],
  async ask(asking) {
    const { askText } = await import('./ask.ts')
    const fields = fieldsOf(await findSchema(asking))
    if (!fields) return askAny(asking.terminal)
    const claims: string[] = []
    for (const { label, isRequired, toClaim, faultOf: check } of fields) {
      const text = await askText(label, { optional: !isRequired, check }, asking.terminal)
      const claim = toClaim(text)
      if (claim !== undefined) claims.push(`--claim=${claim}`)
    }
    return claims
  },
}

async function askAny(terminal: Asking['terminal']): Promise<string[]> {
  const { askText } = await import('./ask.ts')
  const claims: string[] = []
  for (;;) {
    const isFirst = claims.length === 0
    const message = isFirst ? 'A claim, such as name=Alice or age:=42:' : 'Another claim, or Enter to finish:'
    const claim = await askText(
      message,
      { optional: !isFirst, check: (text) => faultOf(() => readClaims({ claim: [...claims, text] })) },
      terminal,
    )
    if (claim === '') return claims.map((each) => `--claim=${each}`)
    claims.push(claim)
  }
}
