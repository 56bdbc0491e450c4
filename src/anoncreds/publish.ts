/** Publishing a credential definition: what is checked before its key is made (api.md 4.11). */
import type { Config } from '../base/config.ts'
import { Problem } from '../base/problem.ts'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { assertAuthor } from '../schemas/registry-entry.ts'
import type { ResolutionMethod } from '../schemas/schema.ts'
import type { AgentDb } from '../storage/database.ts'
import type { CredentialDefinitionInput, CredentialDefinitionRecord } from './definition.ts'
import { addDefinition } from './definitions.ts'
import { mustBeEnabled } from './feature.ts'

/** What is used of a wallet, and whether a DID is one of its own. */
export type Publisher = {
  readonly id: string
  readonly env: {
    readonly config: Pick<Config, 'ENABLE_ANONCRED'>
    readSchema(url: string): Promise<{ record?: object }>
    getAnonCredsSchema(url: string): Promise<AnonCredsSchema>
  }
  owns: (did: string) => Promise<boolean>
}

/**
 * Publishes a definition; its key is not there yet.
 *
 * @throws {Problem} for an author that is no did:prism or did:web (400) or none of the wallet's (404), a schema that is not to be had or no AnonCreds
 * schema (422, or 503 for now), 429 when too many wait for their keys.
 */
export async function publishDefinition(
  db: AgentDb,
  { id, env, owns }: Publisher,
  input: CredentialDefinitionInput,
  resolutionMethod: ResolutionMethod,
): Promise<CredentialDefinitionRecord> {
  mustBeEnabled(env.config)
  await assertAuthor(input.author, owns)
  const { record } = await env.readSchema(input.schemaId)
  // Wallets read the schema at this URL, and take what they find there for it.
  if (record)
    throw new Problem(
      'error:CredentialDefinitionError:CreationError',
      `schemaId: ${input.schemaId.slice(0, 300)} leads to the record of the schema. Give the URL of the schema alone, which ends with /schema.`,
    )
  const { attrNames } = await env.getAnonCredsSchema(input.schemaId)
  return db.transaction().execute((tx) => addDefinition(tx, id, input, attrNames, resolutionMethod))
}
