/** Definitions of AnonCreds credentials as they are published and as REST shows them (api.md 4.11). */
import { z } from 'zod'
import { Did } from '../did/document.ts'
import { ResolutionMethod, SchemaVersion } from '../schemas/schema.ts'
import { CredentialDefinition, Id, KeyCorrectnessProof } from './model.ts'

/** What an issuer sends. Absent and null are the same. */
export const CredentialDefinitionInput = z
  .object({
    name: z.string().min(1).max(1_000),
    description: z.string().min(1).nullish(),
    version: SchemaVersion.describe('SemVer.'),
    tag: z.string().max(1_000).describe('A word to find it by; part of the definition.'),
    author: Did.describe(
      'The issuer: a did:prism of the wallet, published or not, short or long, or a did:web of it.',
    ),
    schemaId: Id.describe(
      'URL or DID URL of an AnonCreds schema alone, such as `…/schema-registry/schemas/{guid}/schema`.',
    ),
    signatureType: z.literal('CL'),
    supportRevocation: z
      .boolean()
      .describe('Kept and shown; credentials cannot be revoked whatever it says.'),
  })
  .meta({ id: 'CredentialDefinitionInput' })
export type CredentialDefinitionInput = z.output<typeof CredentialDefinitionInput>

/** `GENERATING`: its key is being made, which takes seconds; it goes on after a restart. `READY`: credentials can be offered by it. */
export const DefinitionState = z.enum(['GENERATING', 'READY'])

export const CredentialDefinitionRecord = z
  .object({
    guid: z.guid().describe('Names this definition; made from `longId`.'),
    id: z.guid(),
    longId: z.string(),
    name: z.string(),
    version: z.string(),
    tag: z.string(),
    description: z.string().describe('Empty when the author gave none.'),
    author: Did,
    authored: z.iso.datetime(),
    schemaId: z.string(),
    definition: CredentialDefinition.optional().describe('Absent while its key is being generated.'),
    keyCorrectnessProof: KeyCorrectnessProof.optional().describe('Absent likewise.'),
    signatureType: z.literal('CL'),
    supportRevocation: z.boolean(),
    state: DefinitionState.describe('`GENERATING` for some seconds, then `READY`.'),
    resolutionMethod: ResolutionMethod,
    kind: z.literal('CredentialDefinition'),
    self: z.string(),
  })
  .meta({ id: 'CredentialDefinitionResponse' })
export type CredentialDefinitionRecord = z.output<typeof CredentialDefinitionRecord>
