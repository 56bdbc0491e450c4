/** Prints the routes as an OpenAPI 3.1 document. */
import * as z from 'zod'
// The last failure of a record has the same form as an error response.
import { MetaLastFailure as ErrorResponse } from '../../src/exchange/protocols/model.ts'
import { JsonValue } from '../../src/foundation/json.ts'
import { readExamples } from './examples.ts'
import { scopesOf, splitKey, type Access, type Contract, type Route } from './route.ts'
import { tagOf, tags } from './tags.ts'

const security: Record<Access, Record<string, []>[]> = {
  admin: [{ adminApiKeyAuth: [] }, { jwtAuth: [] }],
  tenant: [{ apiKeyAuth: [] }, { jwtAuth: [] }],
  'admin-or-tenant': [{ adminApiKeyAuth: [] }, { apiKeyAuth: [] }, { jwtAuth: [] }],
  metrics: [{}, { metricsToken: [] }, { adminApiKeyAuth: [] }],
  public: [],
}

const securitySchemes = {
  adminApiKeyAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'x-admin-api-key',
    description: 'The administrator’s token.',
  },
  apiKeyAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'apikey',
    description: 'A key that the administrator registered for the tenant’s entity.',
  },
  jwtAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token of the operator’s OpenID provider, for the administrator or a tenant. A tenant with several wallets names one in the header X-Wallet-Id.',
  },
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'METRICS_TOKEN. Without it, the metrics are open on this machine, and for the administrator elsewhere.',
  },
}

type JsonSchema = Record<string, unknown>
export type OpenApi = {
  openapi: '3.1.0'
  info: { title: string; version: string; license: { name: string; identifier: string } }
  servers: { url: string }[]
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, Record<string, unknown>>>
  components: { schemas: Record<string, JsonSchema>; securitySchemes: typeof securitySchemes }
}

/** Makes the document. Zod types with an `id` in their metadata become components. `url`: the public base URL. */
export function openapi(
  routes: readonly Route[],
  { version, url }: { version: string; url: string },
): OpenApi {
  const { schemaOf, schemas } = convert(routes)
  const exampleOf = readExamples()
  const paths: OpenApi['paths'] = {}
  for (const { key, contract } of routes) {
    const [method, path] = splitKey(key)
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: operation(path, contract, schemaOf, exampleOf(key)),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Identity agent',
      version,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    tags,
    paths,
    components: { schemas, securitySchemes },
  }
}

type SchemaOf = (type: z.ZodType) => JsonSchema
type Example = ReturnType<ReturnType<typeof readExamples>>

function operation(path: string, contract: Contract, schemaOf: SchemaOf, example: Example) {
  const { summary, operationId, extension, access, body, stream, reply, failures, ...rest } = contract
  const [status, type] = reply
  const scopes = scopesOf(contract)
  const parameters = [
    ...parametersIn('path', rest.path, schemaOf),
    ...parametersIn('query', rest.query?.shape, schemaOf),
    ...parametersIn('header', rest.headers?.shape, schemaOf),
  ]
  return {
    tags: [tagOf(path)],
    summary,
    operationId,
    ...(extension && { 'x-extension': true }),
    security: security[access],
    ...(scopes && { 'x-scopes': scopes }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: {
          [rest.form ? 'application/x-www-form-urlencoded' : 'application/json']: {
            schema: schemaOf(body),
            ...exampled(example.request),
          },
        },
      },
    }),
    ...(stream && {
      requestBody: {
        required: true,
        content: { [stream.media]: { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    responses: {
      [status]: {
        description: 'Success',
        ...(type && { content: content(bodiesOf(contract, type), schemaOf, example.response) }),
      },
      ...(rest.redirects && { 303: { description: 'Redirect' } }),
      ...Object.fromEntries(
        failures?.statuses.map((failure) => [
          failure,
          { description: 'Failure', content: content(failures.bodies, schemaOf) },
        ]) ?? [],
      ),
      default: { description: 'Failure', content: content({ 'application/json': ErrorResponse }, schemaOf) },
    },
  }
}

/** The body of media type `text/html`, whatever type the JSON body has. */
const Html = z.string()

/** The bodies of success by media type. */
function bodiesOf(
  { media = ['application/json'], bodies = {} }: Contract,
  type: z.ZodType,
): Record<string, z.ZodType> {
  return Object.fromEntries(media.map((name) => [name, bodies[name] ?? (name === 'text/html' ? Html : type)]))
}

/** The content by media type. The example is one of JSON. */
function content(bodies: Readonly<Record<string, z.ZodType>>, schemaOf: SchemaOf, example?: unknown) {
  return Object.fromEntries(
    Object.entries(bodies).map(([name, type]) => [
      name,
      { schema: schemaOf(type), ...exampled(name === 'application/json' ? example : undefined) },
    ]),
  )
}

const exampled = (example: unknown) => (example === undefined ? {} : { example })

function parametersIn(
  place: 'path' | 'query' | 'header',
  types: Readonly<Record<string, z.ZodType>> = {},
  schemaOf: SchemaOf,
) {
  return Object.entries(types).map(([name, type]) => {
    const { description, ...schema } = schemaOf(type)
    return {
      name,
      in: place,
      required: place === 'path',
      ...(description !== undefined && { description }),
      schema,
    }
  })
}

/** Converts all zod types of the routes at once, so that types with an id are defined once and referenced. */
function convert(routes: readonly Route[]): { schemaOf: SchemaOf; schemas: Record<string, JsonSchema> } {
  const types = new Set<z.ZodType>([ErrorResponse, Html])
  for (const { contract } of routes) {
    const { path, query, headers, body, reply, bodies, failures } = contract
    const named = { ...path, ...query?.shape, ...headers?.shape }
    for (const type of [
      ...Object.values(named),
      body,
      reply[1],
      ...Object.values({ ...bodies }),
      ...Object.values({ ...failures?.bodies }),
    ])
      if (type) types.add(type as z.ZodType)
  }
  const names = new Map([...types].map((type, index) => [type, String(index)]))
  const all = z.object(Object.fromEntries([...names].map(([type, name]) => [name, type])))
  // The wire format is the input of the parsers, for replies too.
  const json = JSON.stringify(
    z.toJSONSchema(all, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => shorten(zodSchema, jsonSchema),
    }),
  )
  const { properties, $defs } = JSON.parse(
    json.replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'),
  ) as Record<string, Record<string, JsonSchema>>
  return { schemaOf: (type) => properties![names.get(type)!]!, schemas: $defs ?? {} }
}

/**
 * Removes patterns that repeat a format, and limits that all JSON numbers obey. `JsonValue` becomes a schema
 * without rules, because generated TypeScript types cannot refer to themselves.
 */
function shorten(type: z.core.$ZodType, schema: z.core.JSONSchema.BaseSchema): void {
  if (type === JsonValue) delete schema.anyOf
  if (schema.format !== undefined) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}
