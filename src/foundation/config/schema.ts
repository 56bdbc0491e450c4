/** The JSON Schema (2020-12) of configuration files. Editors use it to complete and check them. */
import * as z from 'zod'
import { guardedSecrets, knownSecrets, variables } from './config.ts'
import { formOf, type Form } from './file.ts'
import {
  challengeMethods,
  http,
  baseUrl,
  lan,
  ledger,
  lifetime,
  ports,
  signatureAlgorithms,
} from './values.ts'
import type { JsonObject } from '../json.ts'
import { locating, secretFiles, typeOf, type Name } from './setting-names.ts'

const ofMachine: readonly string[] = ['AGENT_DATA_DIR', 'AGENT_CONFIG_DIR']

/**
 * Returns the schema: names, types, ranges and forms of the settings, with descriptions and defaults. Hosts,
 * addresses and contradictions between settings are only checked by `agent config validate`.
 */
export function configSchema(): JsonObject {
  const names = (Object.keys(variables) as Name[]).filter((name) => !locating.includes(name))
  const files = [...secretFiles].map(([fileName, name]) => [
    fileName,
    { type: 'string', minLength: 1, description: `File of ${name}, instead of the value.` },
  ])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration file of identity-agent',
    description:
      'Settings of the daemon by the names of environment variables. `agent config validate <file>` also checks what a schema cannot.',
    type: 'object',
    properties: {
      $schema: { type: 'string', description: 'This schema, for editors.' },
      ...Object.fromEntries(names.map((name) => [name, describe(name)])),
      ...Object.fromEntries(files),
    },
    additionalProperties: false,
    dependentSchemas: Object.fromEntries([
      ...[...secretFiles].map(([fileName, name]) => [fileName, { properties: { [name]: false } }]),
      ...['AGENT_MASTER_KEY', 'AGENT_MASTER_KEY_FILE'].map((name) => [
        name,
        { properties: { AGENT_MASTER_KEY_STORE: { not: { const: 'keyring' } } } },
      ]),
    ]),
  }
}

function describe(name: Name): JsonObject {
  const type: z.ZodType = variables[name]
  const standard = ofMachine.includes(name) ? undefined : type.safeParse(undefined).data
  return {
    ...schemaOf[formOf(name)](name),
    description: type.description,
    ...(standard !== undefined && { default: standard }),
  }
}

const address = '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#@]+(?:[/?#]\\S*)?$'

/** Patterns of types that zod does not describe. */
const patterns = new Map<z.ZodType, string>([
  [http, address],
  [baseUrl, address],
  [lan, '^(?:auto|off|\\d{1,3}(?:\\.\\d{1,3}){3}(?:/\\d{1,2})?)$'],
  [ledger, '^(?:sqlite:.+|[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#@]+(?:/[^\\s?#]*)?)$'],
])

/** The entries of lists that have few possible ones. */
const itemsOf: Partial<Record<Name, JsonObject>> = {
  AUTH_DID_METHODS: { enum: challengeMethods },
  OIDC_ALGORITHMS: { enum: signatureAlgorithms },
}

const schemaOf: Readonly<Record<Form, (name: Name) => JsonObject>> = {
  flag: () => ({ type: 'boolean' }),
  number: fromZod,
  duration: (name) => {
    const isPositive = typeOf(name) === lifetime
    const number = isPositive ? '0*[1-9]\\d*' : '\\d+'
    return {
      anyOf: [
        { type: 'integer', minimum: isPositive ? 1 : 0 },
        {
          type: 'string',
          pattern: `^\\s*${number}[ .]?(?:s|m|h|d|(?:second|minute|hour|day)s?)?\\s*$`,
          examples: ['5m', '300 seconds'],
        },
      ],
    }
  },
  list: (name) => {
    const entry = { type: 'string', pattern: '^[^,]*[^,\\s][^,]*$' }
    const range = {
      anyOf: [
        { type: 'integer', minimum: 1, maximum: 65_535 },
        { type: 'string', pattern: '^\\s*\\d{1,5}(?:-\\d{1,5})?\\s*$' },
      ],
    }
    const items = itemsOf[name] ?? (typeOf(name) === ports ? range : entry)
    return {
      anyOf: [
        { type: 'array', items, minItems: 1 },
        { type: 'string', minLength: 1 },
      ],
    }
  },
  text: (name) => {
    const pattern = patterns.get(typeOf(name))
    if (pattern !== undefined) return { type: 'string', pattern }
    const schema = fromZod(name)
    const isGuarded = (guardedSecrets as readonly Name[]).includes(name)
    return isGuarded ? { ...schema, not: { enum: knownSecrets } } : schema
  },
}

function fromZod(name: Name): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(typeOf(name), { io: 'input' })
  return schema
}
