/** Credential schemas as authors publish them and as the API returns them. */
import { createHash } from 'node:crypto'
import semver from 'semver'
import * as z from 'zod'
import { toHex } from '../../foundation/bytes.ts'
import { Did } from '../../did/document.ts'
import { authorText } from '../../definitions/did-names.ts'
import { Proof } from './proof.ts'

/** Path of the schema registry, below the agent's base URL. */
export const schemasPath = 'schema-registry/schemas'

const notSemver = 'is not a version such as 1.0.0 (SemVer)'

/** A complete version of SemVer 2.0.0, without prefix. */
export const SchemaVersion = z
  .string()
  .regex(/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/, { message: notSemver, abort: true })
  .refine((version) => semver.valid(version) !== null, notSemver)

/** How readers find a schema: by a URL of the registry, or by a DID URL of the author. Lists are separate. */
export const ResolutionMethod = z.enum(['http', 'did'])
export type ResolutionMethod = z.output<typeof ResolutionMethod>

const JsonSchemaObject = z.record(z.string(), z.unknown())

/** The body that publishes a schema or a new version of it. Absent and null are the same. */
export const CredentialSchemaInput = z
  .object({
    name: z.string().min(1).max(1_000),
    version: SchemaVersion.describe(
      'SemVer. A breaking change should increase the major version; this is not checked.',
    ),
    description: z.string().min(1).nullish(),
    type: z
      .string()
      .describe(
        'One of `https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json`, `http://www.w3.org/ns/json-ld#context` or `AnoncredSchemaV1`.',
      ),
    schema: JsonSchemaObject.describe(
      'A JSON Schema of draft 2020-12, one with a JSON-LD `@context`, or an AnonCreds schema.',
    ),
    tags: z
      .array(z.string())
      .max(100)
      .nullish()
      .transform((tags) => tags ?? []),
    author: Did.describe(`A${authorText.slice(1)}.`),
    proof: Proof.nullish().describe('The author’s signature. It must be valid.'),
  })
  .meta({ id: 'CredentialSchemaInput' })
export type CredentialSchemaInput = z.output<typeof CredentialSchemaInput>

export const CredentialSchema = z
  .object({
    guid: z.guid().describe('Identifies this version of the schema; derived from `longId`.'),
    id: z.guid().describe('Identifies the schema; the same in all versions.'),
    longId: z.string(),
    name: z.string(),
    version: z.string(),
    tags: z.array(z.string()),
    description: z.string().describe('Empty when the author sent none.'),
    type: z.string(),
    schema: JsonSchemaObject,
    author: Did,
    authored: z.iso.datetime(),
    proof: Proof.optional().describe('The author’s signature, if there is one.'),
    resolutionMethod: ResolutionMethod,
    kind: z.literal('CredentialSchema'),
    self: z.string(),
  })
  .meta({ id: 'CredentialSchemaResponse' })
export type CredentialSchema = z.output<typeof CredentialSchema>

/** Identifies a version of a schema globally. */
export type SchemaName = { author: string; id: string; version: string }

/** `{author}/{id}?version={version}`. */
export function longIdOf({ author, id, version }: SchemaName): string {
  return `${author}/${id}?version=${version}`
}

/** UUIDv3 (RFC 9562 §5.3) of the long id, without a namespace, like Java's `UUID.nameUUIDFromBytes`. */
export function guidOf(name: SchemaName): string {
  return nameUuid(longIdOf(name))
}

/** UUIDv3 of a text's UTF-8, without a namespace. */
export function nameUuid(text: string): string {
  const bytes = createHash('md5').update(text, 'utf8').digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x30
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Compares by SemVer precedence: negative when the first is lower, zero when only the build metadata differs. */
export function compareVersions(one: string, other: string): number {
  return semver.compare(one, other)
}
