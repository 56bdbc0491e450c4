/** The properties of a schema as fields that a person fills in, at prompts and in the dashboard. */
import { isJsonObject, type JsonObject } from '../../src/foundation/json.ts'
import { safeLine } from '../format/text.ts'

export type ClaimField = {
  /** Its title, or its name without one. */
  title: string
  /** Its title, name, type and description: `Age (age): integer, required. In years`. */
  label: string
  /** Its type and format, or the texts that it can have. */
  kind: string
  isRequired: boolean
  /** The texts that it can have, if they are known. */
  words: readonly string[] | undefined
  /** The argument of `--claim` for a text. Undefined for an empty one, which leaves the claim out. */
  toClaim: (text: string) => string | undefined
  /** Why a text cannot be the claim. */
  faultOf: (text: string) => string | undefined
}

/**
 * The properties of a schema, in its order. Undefined without any. `isPart`: a claims source has other
 * claims, so none is required.
 */
export function fieldsOf(schema: unknown, isPart = false): ClaimField[] | undefined {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return undefined
  const { properties, required = [] } = schema as { properties: JsonObject; required?: unknown }
  const fields = Object.entries(properties)
    // The agent writes the id of the subject.
    .filter(([name]) => name !== 'id')
    .map(([name, property]) =>
      toField(name, property, !isPart && Array.isArray(required) && required.includes(name)),
    )
  return fields.length === 0 ? undefined : fields
}

function toField(name: string, property: unknown, isRequired: boolean): ClaimField {
  const { type, title, description, format, ...rules }: JsonObject = isJsonObject(property) ? property : {}
  const types = [type].flat().filter((each) => typeof each === 'string' && each !== 'null') as string[]
  const isText = types.length === 0 || types.includes('string')
  const values = valuesOf(rules)
  const isBoolean = types.join() === 'boolean' && !values
  const words = isBoolean ? ['true', 'false'] : values?.map(textOf)
  const shown = isBoolean ? undefined : words
  const typed = [types.join(' or ') || 'string', ...(typeof format === 'string' ? [format] : [])]
  const kind = safeLine((shown ?? typed).join(', '))
  const called = safeLine(typeof title === 'string' && title !== '' ? title : name)
  const about = typeof description === 'string' ? `. ${safeLine(description)}` : ''
  return {
    title: called,
    label: `${called === name ? name : `${called} (${safeLine(name)})`}: ${kind}${isRequired ? ', required' : ''}${about}`,
    kind,
    isRequired,
    words,
    toClaim(text) {
      if (text === '') return undefined
      const value = values?.find((each) => textOf(each) === text)
      if (value !== undefined && typeof value !== 'string') return `${name}:=${JSON.stringify(value)}`
      return `${name}${value !== undefined || isText ? '=' : ':='}${text}`
    },
    faultOf(text) {
      if (text === '') return isRequired ? 'This claim is required.' : undefined
      if (shown) return shown.includes(text) ? undefined : `It is one of ${kind}.`
      if (format === 'date' && !/^\d{4}-\d{2}-\d{2}$/.test(text)) return 'A date is written as 2001-02-03.'
      return isText || fits(types, text) ? undefined : `It is ${types.map(withExample).join(', or ')}.`
    },
  }
}

/** The values that a property can have, if its schema lists them. */
function valuesOf({ const: only, enum: all }: JsonObject): readonly unknown[] | undefined {
  if (only !== undefined) return [only]
  return Array.isArray(all) && all.length > 0 ? all : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const examples: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  integer: 'such as 42',
  number: 'such as 4.2',
  array: 'in JSON, such as ["a", "b"]',
  object: 'in JSON, such as {"city": "Berlin"}',
}

function withExample(type: string): string {
  return [`${/^[aeiou]/.test(type) ? 'an' : 'a'} ${safeLine(type)}`, examples[type] ?? []].flat().join(', ')
}

/** Whether a text is JSON of one of the types. */
function fits(types: readonly string[], text: string): boolean {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return false
  }
  const is = Array.isArray(value) ? 'array' : typeof value
  return types.some((type) => type === is || (type === 'integer' && Number.isInteger(value)))
}
