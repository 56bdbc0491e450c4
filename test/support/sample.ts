/** Values that a type accepts, for requests that a test makes of a route alone. */
import * as z from 'zod'

type Schema = z.core.JSONSchema.JSONSchema

/**
 * A value of a type: its example (`.meta({ examples: [{ … }] })`), or else its required members, as far as
 * its JSON Schema describes them. `values` go over members of their names, and add optional ones.
 */
export function sampleOf(type: z.ZodType, values: Readonly<Record<string, unknown>> = {}): unknown {
  const [example] = (type.meta()?.examples ?? []) as object[]
  if (example) return membersOf(Object.entries(example), values)
  const root = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' })
  const sample = (schema: Schema): unknown => {
    if (schema.$ref !== undefined) return sample(root.$defs![schema.$ref.split('/').at(-1)!]!)
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return schema.enum[0]
    const [choice] = schema.anyOf ?? schema.oneOf ?? []
    if (choice) return sample(choice)
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => sample(each)))
    if (schema.type === 'object') {
      const { properties = {}, required = [] } = schema
      const names = Object.keys(properties).filter((name) => required.includes(name) || name in values)
      return membersOf(
        names.map((name) => [name, sample(properties[name] as Schema)]),
        values,
      )
    }
    if (schema.type === 'array') return schema.minItems ? [sample(schema.items as Schema)] : []
    if (schema.type === 'string') return textOf(schema)
    return schema.type === 'boolean' ? false : Math.max(schema.minimum ?? 1, 1)
  }
  return sample(root)
}

const membersOf = (
  entries: readonly (readonly [string, unknown])[],
  values: Readonly<Record<string, unknown>>,
) => Object.fromEntries(entries.map(([name, value]) => [name, values[name] ?? value]))

function textOf({ format, minLength = 1 }: Schema): string {
  if (format === 'uri') return 'https://issuer.example/x'
  return format === 'uuid' ? '00000000-0000-4000-8000-000000000000' : 'x'.repeat(minLength)
}
