/** AnonCreds credential definitions as issuers publish them and as the API returns them. */
import * as z from 'zod'
import { Did } from '../../did/document.ts'
import { authorText } from '../../definitions/did-names.ts'
import { ResolutionMethod, SchemaVersion } from '../schemas/schema.ts'
import { CredentialDefinition, Id, KeyCorrectnessProof } from './model.ts'

/** The body that publishes a definition. Absent and null are the same. */
export const CredentialDefinitionInput = z
  .object({
    name: z.string().min(1).max(1_000),
    description: z.string().min(1).nullish(),
    version: SchemaVersion.describe('SemVer.'),
    tag: z.string().max(1_000).describe('A label; part of the definition.'),
    author: Did.describe(`The issuer: ${authorText}.`),
    schemaId: Id.describe(
      'URL or DID URL of an AnonCreds schema (not of its record), such as `…/schema-registry/schemas/{guid}/schema`.',
    ),
    signatureType: z.literal('CL'),
    supportRevocation: z
      .boolean()
      .describe('Stored and returned. AnonCreds credentials cannot be revoked in any case.'),
  })
  .meta({ id: 'CredentialDefinitionInput' })
export type CredentialDefinitionInput = z.output<typeof CredentialDefinitionInput>

/**
 * `GENERATING`: the key is being generated, which takes seconds and continues after a restart. `READY`:
 * credentials can be offered.
 */
export const DefinitionState = z.enum(['GENERATING', 'READY'])

export const CredentialDefinitionRecord = z
  .object({
    guid: z.guid().describe('Identifies this definition; derived from `longId`.'),
    id: z.guid(),
    longId: z.string(),
    name: z.string(),
    version: z.string(),
    tag: z.string(),
    description: z.string().describe('Empty when the author sent none.'),
    author: Did,
    authored: z.iso.datetime(),
    schemaId: z.string(),
    definition: CredentialDefinition.optional().describe('Absent while the key is being generated.'),
    keyCorrectnessProof: KeyCorrectnessProof.optional().describe('Absent while the key is being generated.'),
    signatureType: z.literal('CL'),
    supportRevocation: z.boolean(),
    state: DefinitionState.describe('`GENERATING` for some seconds, then `READY`.'),
    resolutionMethod: ResolutionMethod,
    kind: z.literal('CredentialDefinition'),
    self: z.string(),
  })
  .meta({ id: 'CredentialDefinitionResponse' })
export type CredentialDefinitionRecord = z.output<typeof CredentialDefinitionRecord>
