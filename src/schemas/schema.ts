/** Credential schemas: as they are published and as REST shows them (service §2.1, api.md 4.10). */
import { createHash } from 'node:crypto'
import semver from 'semver'
import { z } from 'zod'
import { toHex } from '../base/bytes.ts'
import { Did } from '../did/document.ts'
import { Proof } from './proof.ts'

/** Where schemas are, below the address of their agent. */
export const schemasPath = 'schema-registry/schemas'

const notSemver = 'is not a version such as 1.0.0 (SemVer)'

/** SemVer 2.0.0 in full: no prefix, no missing parts, no numbers that a double cannot hold. */
export const SchemaVersion = z
  .string()
  .regex(/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/, { message: notSemver, abort: true })
  .refine((version) => semver.valid(version) !== null, notSemver)

/** How a schema is found: by a URL of its registry, or by a DID URL of its author. Each has a list of its own. */
export const ResolutionMethod = z.enum(['http', 'did'])
export type ResolutionMethod = z.output<typeof ResolutionMethod>

const JsonSchemaObject = z.record(z.string(), z.unknown())

/** What an author sends to publish a schema or a new version of one. Absent and null are the same. */
export const CredentialSchemaInput = z
  .object({
    name: z.string().min(1).max(1_000),
    version: SchemaVersion.describe(
      'SemVer. A breaking change increases the major version; that is not checked.',
    ),
    description: z.string().min(1).nullish(),
    type: z
      .string()
      .describe(
        'The kind: `https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json`, `http://www.w3.org/ns/json-ld#context` or `AnoncredSchemaV1`.',
      ),
    schema: JsonSchemaObject.describe(
      'A JSON schema of draft 2020-12, the same with a JSON-LD `@context`, or an AnonCreds schema.',
    ),
    tags: z
      .array(z.string())
      .max(100)
      .nullish()
      .transform((tags) => tags ?? []),
    author: Did.describe('A did:prism of the wallet, published or not, short or long, or a did:web of it.'),
    proof: Proof.nullish().describe('The author’s signature, which must be right.'),
  })
  .meta({ id: 'CredentialSchemaInput' })
export type CredentialSchemaInput = z.output<typeof CredentialSchemaInput>

export const CredentialSchema = z
  .object({
    guid: z.guid().describe('Names this version of this schema of this author; made from `longId`.'),
    id: z.guid().describe('Names the schema in all its versions.'),
    longId: z.string(),
    name: z.string(),
    version: z.string(),
    tags: z.array(z.string()),
    description: z.string().describe('Empty when the author gave none.'),
    type: z.string(),
    schema: JsonSchemaObject,
    author: Did,
    authored: z.iso.datetime(),
    proof: Proof.optional().describe('The author’s signature, where there is one.'),
    resolutionMethod: ResolutionMethod,
    kind: z.literal('CredentialSchema'),
    self: z.string(),
  })
  .meta({ id: 'CredentialSchemaResponse' })
export type CredentialSchema = z.output<typeof CredentialSchema>

/** What names a version of a schema everywhere: author DID, id, version. */
export type SchemaName = { author: string; id: string; version: string }

/** `{author}/{id}?version={version}`. */
export function longIdOf({ author, id, version }: SchemaName): string {
  return `${author}/${id}?version=${version}`
}

/** The UUID of version 3 (RFC 9562 §5.3) of the long id, without a namespace before it: as Java's `UUID.nameUUIDFromBytes` makes it. */
export function guidOf(name: SchemaName): string {
  return nameUuid(longIdOf(name))
}

/** The name-based UUID of version 3 of a text's UTF-8, without a namespace. */
export function nameUuid(text: string): string {
  const bytes = createHash('md5').update(text, 'utf8').digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x30
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Orders versions by SemVer precedence: negative when the first is lower, zero when they differ in build metadata alone. */
export function compareVersions(one: string, other: string): number {
  return semver.compare(one, other)
}
