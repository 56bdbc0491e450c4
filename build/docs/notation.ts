/** Prints JSON Schema in TypeScript notation. */

export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema | JsonSchema[]
  prefixItems?: JsonSchema[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
}

/** Prints a schema. `pad` is the indentation of its first line. */
export function toNotation(schema: JsonSchema, pad = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ')
  const union = schema.anyOf ?? schema.oneOf
  if (union) return [...new Set(union.map((each) => toNotation(each, pad)))].join(' | ')
  if (schema.allOf) return schema.allOf.map((each) => toNotation(each, pad)).join(' & ')
  if (Array.isArray(schema.type))
    return schema.type.map((type) => toNotation({ ...schema, type }, pad)).join(' | ')
  switch (schema.type) {
    case 'object':
      return toObject(schema, pad)
    case 'array':
      return toArray(schema, pad)
    case 'integer':
      return 'number'
    default:
      return schema.type ?? 'any'
  }
}

function toArray({ items, prefixItems }: JsonSchema, pad: string): string {
  if (prefixItems) return `[${prefixItems.map((each) => toNotation(each, pad)).join(', ')}]`
  const of = items && !Array.isArray(items) ? toNotation(items, pad) : 'any'
  return / [|&] /.test(of) && !of.startsWith('{') ? `(${of})[]` : `${of}[]`
}

function toObject({ properties = {}, required = [], additionalProperties }: JsonSchema, pad: string): string {
  const deeper = `${pad}  `
  const rest =
    typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
      ? additionalProperties
      : undefined
  const isOpen = rest !== undefined || typeof additionalProperties === 'object'
  const members = [
    ...Object.entries(properties).map(([name, value]) => {
      const key = /^[\w$]+$/.test(name) ? name : JSON.stringify(name)
      const about = [value.format, value.description?.replaceAll(/\s+/g, ' ')].filter(Boolean).join('; ')
      return `${deeper}${key}${required.includes(name) ? '' : '?'}: ${toNotation(value, deeper)}${about ? `  // ${about}` : ''}`
    }),
    ...(isOpen ? [`${deeper}[name: string]: ${rest ? toNotation(rest, deeper) : 'any'}`] : []),
  ]
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${pad}}`
}
