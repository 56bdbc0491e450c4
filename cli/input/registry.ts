/** Credential schemas, credential definitions and verification policies, from flags. */
import * as Flags from '@oclif/core/flags'
import type { Answer, Input } from '../client/api.ts'
import { UsageError } from '../errors/errors.ts'
import { readJson } from './files.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The kinds of schemas by the names they have here, as the registry calls them (service §2.1). */
export const kinds = {
  json: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  'json-ld': 'http://www.w3.org/ns/json-ld#context',
  anoncreds: 'AnoncredSchemaV1',
} as const

/** True for a guid of the registry. */
export function isGuid(schema: string): boolean {
  return uuid.test(schema)
}

/** The URL of a schema: a URL stays as it is, a guid is one of the daemon at `baseUrl` (service §2.1). */
export function schemaUrl(schema: string, baseUrl: string): string {
  return isGuid(schema) ? `${baseUrl}/schema-registry/schemas/${schema}` : schema
}

type Schema = Answer<'GET /schema-registry/schemas/{guid}'>
type SchemaEnvelope = Answer<'GET /schema-registry/schemas/did-url/{guid}'>

export const didUrlFlag = Flags.boolean({
  description: 'of those that a DID URL of their author names, instead of one of this agent',
})

/** Of the list of a registry: which of its two lists, what of it, and how much. */
export const registryFlags = {
  name: Flags.string({ description: 'only those of this name' }),
  version: Flags.string({ description: 'only those of this version' }),
  author: Flags.string({ description: 'only those of this author' }),
  tag: Flags.string({ description: 'only those with this tag' }),
  'did-url': didUrlFlag,
}

/** What an envelope holds: base64url of JSON. */
export function openEnvelope(envelope: SchemaEnvelope): unknown {
  return JSON.parse(Buffer.from(envelope.resource, 'base64url').toString())
}

/** The schema in an envelope; one that is in none is itself. */
export function openSchema(answer: Schema | SchemaEnvelope): Schema {
  return 'resource' in answer ? (openEnvelope(answer) as Schema) : answer
}

/** Where others find a schema: at its DID URL where it has one, otherwise at the daemon at `baseUrl`. */
export function publicUrl(answer: Schema | SchemaEnvelope, baseUrl: string): string {
  return 'resource' in answer ? answer.url : schemaUrl(answer.guid, baseUrl)
}

type Definition = Answer<'GET /credential-definition-registry/definitions/{guid}'>
type DefinitionEnvelope = Answer<'GET /credential-definition-registry/definitions/did-url/{guid}'>

/** The definition in an envelope; one that is in none is itself. */
export function openDefinition(answer: Definition | DefinitionEnvelope): Definition {
  return 'resource' in answer ? (openEnvelope(answer) as Definition) : answer
}

/** The URL of an AnonCreds schema alone, by which definitions and credentials name it; a guid is one of the daemon at `baseUrl`. */
export function anonCredsSchemaUrl(schema: string, baseUrl: string): string {
  return isGuid(schema) ? `${schemaUrl(schema, baseUrl)}/schema` : schema
}

/** What of a definition everybody wants to know. */
export function definitionFields(definition: Definition) {
  const { guid, name, version, tag, state, author, schemaId, description } = definition
  return [
    ['definition', guid],
    ['name', `${name} ${version}`],
    ['description', description || undefined],
    ['tag', tag],
    ['state', state],
    ['author', author],
    ['schema', schemaId],
  ] as const
}

type Constraints = NonNullable<Input<'POST /verification/policies'>['body']['constraints']>

/** What a policy accepts: one schema with its issuers, or everything as JSON. */
export const constraintFlags = {
  schema: Flags.string({
    exclusive: ['constraints'],
    description: 'schema of the credentials that are accepted: its guid here, or a URL',
  }),
  'trust-issuer': Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    dependsOn: ['schema'],
    description: 'issuer whose credentials of the schema are accepted; any when left out',
  }),
  constraints: Flags.string({
    description:
      'all constraints as a JSON list of {"schemaId", "trustedIssuers"}: @file.json, @- for standard input, or written out',
  }),
}

/** The constraints that the flags name; nothing when they name none. @throws {UsageError} */
export function readConstraints(
  flags: {
    schema?: string | undefined
    'trust-issuer'?: string[] | undefined
    constraints?: string | undefined
  },
  baseUrl: string,
): Constraints | undefined {
  if (flags.schema !== undefined)
    return [{ schemaId: schemaUrl(flags.schema, baseUrl), trustedIssuers: flags['trust-issuer'] ?? [] }]
  if (flags.constraints === undefined) return undefined
  const constraints = readJson('constraints', flags.constraints)
  if (!Array.isArray(constraints))
    throw new UsageError('--constraints is not a JSON list such as [{"schemaId": "https://…"}].')
  // What is in them is for the daemon to judge.
  return constraints as Constraints
}
