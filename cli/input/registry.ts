/** Credential schemas, credential definitions and verification policies, from flags. */
import * as Flags from '@oclif/core/flags'
import type { Answer, Input } from '../client/api.ts'
import type { FlagValues } from '../define-command.ts'
import { UsageError } from '../errors/errors.ts'
import { repeatable } from './arguments.ts'
import { readJson } from './files.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The types of schemas, by the name of `--kind`. */
export const kinds = {
  json: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  'json-ld': 'http://www.w3.org/ns/json-ld#context',
  anoncreds: 'AnoncredSchemaV1',
} as const

/** True for a UUID, the guid of a registry entry. */
export function isGuid(schema: string): boolean {
  return uuid.test(schema)
}

/** The URL of a schema. A guid refers to the daemon at `baseUrl`; a URL stays. */
export function schemaUrl(schema: string, baseUrl: string): string {
  return isGuid(schema) ? `${baseUrl}/schema-registry/schemas/${schema}` : schema
}

type Schema = Answer<'GET /schema-registry/schemas/{guid}'>
/** The same for schemas and definitions. */
export type Envelope = Answer<'GET /schema-registry/schemas/did-url/{guid}'>

export const didUrlFlag = Flags.boolean({
  description: 'use the registry of resources with DID URLs, instead of HTTP URLs of this agent',
})

export const registryFlags = {
  name: Flags.string({ description: 'only items with this name' }),
  version: Flags.string({ description: 'only items of this version' }),
  author: Flags.string({ description: 'only items of this author' }),
  tag: Flags.string({ description: 'only items with this tag' }),
  'did-url': didUrlFlag,
}

/** Decodes the content of an envelope: JSON in base64url. */
export function openEnvelope(envelope: Envelope): unknown {
  return JSON.parse(Buffer.from(envelope.resource, 'base64url').toString())
}

/** Returns the schema in an envelope, or the schema itself. */
export function openSchema(answer: Schema | Envelope): Schema {
  return 'resource' in answer ? (openEnvelope(answer) as Schema) : answer
}

/** The public URL of a schema: its DID URL, or its URL at the daemon. */
export function publicUrl(answer: Schema | Envelope, baseUrl: string): string {
  return 'resource' in answer ? answer.url : schemaUrl(answer.guid, baseUrl)
}

type Definition = Answer<'GET /credential-definition-registry/definitions/{guid}'>

/** Returns the credential definition in an envelope, or the definition itself. */
export function openDefinition(answer: Definition | Envelope): Definition {
  return 'resource' in answer ? (openEnvelope(answer) as Definition) : answer
}

/**
 * The URL of the content of an AnonCreds schema, which definitions and credentials refer to. A guid refers to
 * the daemon at `baseUrl`.
 */
export function anonCredsSchemaUrl(schema: string, baseUrl: string): string {
  return isGuid(schema) ? `${schemaUrl(schema, baseUrl)}/schema` : schema
}

/** A credential definition as names and values. */
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

/** The constraints of a policy: one schema with its issuers, or all constraints as JSON. */
export const constraintFlags = {
  schema: Flags.string({
    exclusive: ['constraints'],
    description: 'accepted schema: its guid on this agent, or a URL',
  }),
  'trust-issuer': Flags.string({
    ...repeatable,
    dependsOn: ['schema'],
    description: 'trusted issuer for --schema; default: any',
  }),
  constraints: Flags.string({
    description:
      'all constraints as a JSON list of {"schemaId", "trustedIssuers"}: @file.json, @- for standard input, or inline',
  }),
}

/** Reads the constraints; undefined without a flag. @throws {UsageError} */
export function readConstraints(
  flags: FlagValues<typeof constraintFlags>,
  baseUrl: string,
): Constraints | undefined {
  if (flags.schema !== undefined)
    return [{ schemaId: schemaUrl(flags.schema, baseUrl), trustedIssuers: flags['trust-issuer'] ?? [] }]
  if (flags.constraints === undefined) return undefined
  const constraints = readJson('constraints', flags.constraints)
  if (!Array.isArray(constraints))
    throw new UsageError('--constraints is not a JSON list such as [{"schemaId": "https://…"}].')
  // The daemon validates the content.
  return constraints as Constraints
}
