/**
 * The registry of credential definitions.
 *
 * A new definition gets its key after some seconds (`generator.ts`). From then on it never changes and is
 * public. Lists contain the definitions of one wallet.
 */
import type { Selectable } from 'kysely'
import type { Config } from '../../foundation/config/config.ts'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { toEnvelope } from '../schemas/did-url.ts'
import {
  assertAuthor,
  entriesOf,
  type EntryQuery,
  toRow,
  withDerivedMembers,
} from '../schemas/registry-entry.ts'
import type { ResolutionMethod } from '../schemas/schema.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'
import type { AgentDb, AgentTx } from '../../foundation/storage/database.ts'
import { filterBy, pageOf } from '../../foundation/storage/list-query.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { CredentialDefinitionRecord, type CredentialDefinitionInput } from './definition.ts'
import { assertEnabled } from './engine.ts'
import type { CredentialDefinition, KeyCorrectnessProof } from './model.ts'

export type DefinitionRow = Selectable<AgentTables['credential_definition']>

/** Path of the registry, below the agent's base URL. */
export const definitionsPath = 'credential-definition-registry/definitions'

/** The limit of definitions without a key in each wallet. */
const maxGenerating = 20

/** The issuer's wallet. `owns` tells whether a DID belongs to it. */
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
 * Publishes a definition. Its key follows.
 *
 * @throws {Problem} 400 for another DID method, 404 for an author that the wallet does not own, 422 for a
 *   schema that cannot be read or is not an AnonCreds schema, 503 for a temporary failure, 429 when too many
 *   definitions wait for their keys.
 */
export async function publishDefinition(
  db: AgentDb,
  { id, env, owns }: Publisher,
  input: CredentialDefinitionInput,
  resolutionMethod: ResolutionMethod,
): Promise<CredentialDefinitionRecord> {
  assertEnabled(env.config)
  await assertAuthor(input.author, owns, resolutionMethod)
  const { record } = await env.readSchema(input.schemaId)
  // Wallets read the schema at this URL, so it must return the schema and not the record.
  if (record)
    throw new Problem(
      'error:CredentialDefinitionError:CreationError',
      `schemaId: ${input.schemaId.slice(0, 300)} returns the registry record. Use the URL of the schema, which ends with /schema.`,
    )
  const { attrNames } = await env.getAnonCredsSchema(input.schemaId)
  return db.transaction().execute((tx) => addDefinition(tx, id, input, attrNames, resolutionMethod))
}

/**
 * Inserts a definition without a key, under a new id.
 *
 * @param attributes the attribute names of the schema, in their order.
 * @throws {Problem} 429 when too many definitions of the wallet wait for their keys; `WalletMoved`.
 */
export async function addDefinition(
  tx: AgentTx,
  walletId: string,
  input: CredentialDefinitionInput,
  attributes: readonly string[],
  resolutionMethod: ResolutionMethod,
): Promise<CredentialDefinitionRecord> {
  await assertNotTransferred(tx, walletId)
  const { generating } = await tx
    .selectFrom('credential_definition')
    .select((query) => query.fn.countAll().as('generating'))
    .where('wallet_id', '=', walletId)
    .where('definition', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(generating) >= maxGenerating)
    throw new Problem(
      'TooManyRequests',
      `${maxGenerating} credential definitions of the wallet wait for their keys. Try again in a minute.`,
      { retryAfter: 60 },
    )
  const row: DefinitionRow = {
    ...toRow(walletId, newId(), input, resolutionMethod),
    tag: input.tag,
    schema_id: input.schemaId,
    attributes: JSON.stringify(attributes),
    support_revocation: Number(input.supportRevocation),
    definition: null,
    key_correctness_proof: null,
  }
  await tx.insertInto('credential_definition').values(row).execute()
  return toRecord(row)
}

/**
 * Adds the key to a definition, unless it has one.
 *
 * @throws {Problem} `WalletMoved`: the wallet's new agent generates the key.
 */
export async function completeDefinition(
  tx: AgentTx,
  { walletId, guid }: { walletId: string; guid: string },
  {
    definition,
    keyCorrectnessProof,
  }: { definition: CredentialDefinition; keyCorrectnessProof: KeyCorrectnessProof },
): Promise<void> {
  await assertNotTransferred(tx, walletId)
  await tx
    .updateTable('credential_definition')
    .set({
      definition: JSON.stringify(definition),
      key_correctness_proof: JSON.stringify(keyCorrectnessProof),
    })
    .where('guid', '=', guid)
    .where('definition', 'is', null)
    .execute()
}

/** Finds a definition of any wallet, with any resolution method. */
export async function findDefinition(
  db: AgentDb,
  guid: string,
): Promise<{ record: CredentialDefinitionRecord; walletId: string; attributes: string[] } | undefined> {
  const row = await db
    .selectFrom('credential_definition')
    .selectAll()
    .where('guid', '=', guid.toLowerCase())
    .executeTakeFirst()
  return (
    row && {
      record: toRecord(row),
      walletId: row.wallet_id,
      attributes: JSON.parse(row.attributes) as string[],
    }
  )
}

/** Gets a definition of any wallet. @throws {Problem} `error:CredentialDefinitionError:GuidNotFoundError` */
export async function getDefinition(
  db: AgentDb,
  guid: string,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialDefinitionRecord> {
  const found = await findDefinition(db, guid)
  if (found?.record.resolutionMethod !== resolutionMethod) throw definitionNotFound(guid)
  return found.record
}

/** A page of a wallet's definitions in order of creation, and the number of all that match. */
export async function listDefinitions(
  db: AgentDb,
  walletId: string,
  { tag, ...query }: EntryQuery & { tag?: string | undefined },
): Promise<{ definitions: CredentialDefinitionRecord[]; total: number }> {
  let matching = entriesOf(db.selectFrom('credential_definition').selectAll(), db, walletId, query)
  if (tag !== undefined) matching = matching.where('tag', ...filterBy(db, tag))
  const { rows, total } = await pageOf(matching, ['position'], query)
  return { definitions: rows.map(toRecord), total }
}

/**
 * The definition in a record.
 *
 * @throws {Problem} `error:CredentialDefinitionError:NotGeneratedYet` while its key is being generated.
 */
export function toDefinition({ definition, guid }: CredentialDefinitionRecord): CredentialDefinition {
  if (definition) return definition
  throw new Problem(
    'error:CredentialDefinitionError:NotGeneratedYet',
    `The key of the credential definition ${guid} is being generated. Try again in a few seconds.`,
    { retryAfter: 2 },
  )
}

/** The `cred_def_id` in credentials: the HTTP or DID URL of the definition. */
export function definitionUrl(record: CredentialDefinitionRecord, restUrl: string): string {
  const { guid, author, resolutionMethod } = record
  if (resolutionMethod === 'http') return `${restUrl}/${definitionsPath}/${guid}/definition`
  return toEnvelope(author, `${definitionsPath}/did-url/${guid}/definition`, toDefinition(record)).url
}

export function definitionNotFound(guid: string): Problem {
  return new Problem(
    'error:CredentialDefinitionError:GuidNotFoundError',
    `There is no credential definition with the guid ${guid}.`,
  )
}

function toRecord(row: DefinitionRow): CredentialDefinitionRecord {
  const { definition, key_correctness_proof: proof, ...published } = withDerivedMembers(row, definitionsPath)
  return CredentialDefinitionRecord.parse({
    ...published,
    schemaId: row.schema_id,
    ...(definition !== null && { definition: JSON.parse(definition) }),
    ...(proof !== null && { keyCorrectnessProof: JSON.parse(proof) }),
    signatureType: 'CL',
    supportRevocation: row.support_revocation === 1,
    state: definition === null ? 'GENERATING' : 'READY',
    kind: 'CredentialDefinition',
  })
}

/** Reads a record, or its definition only. @throws {Problem} as `getDefinition` and `toDefinition`. */
export async function readDefinition(db: AgentDb, guid: string, isDefinitionOnly: boolean): Promise<object> {
  const found = await findDefinition(db, guid)
  if (!found) throw definitionNotFound(guid)
  return isDefinitionOnly ? toDefinition(found.record) : found.record
}
