/**
 * The registry of credential definitions (api.md 4.11): make, read, list.
 *
 * A definition is there at once and has its key some seconds later (`generator.ts`). From then on it never changes and anybody may read it;
 * lists are of one wallet.
 */
import type { Selectable } from 'kysely'
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import { toEnvelope } from '../schemas/did-url.ts'
import { toRow, withDerivedMembers } from '../schemas/registry-entry.ts'
import type { ResolutionMethod } from '../schemas/schema.ts'
import type { CredentialDefinitionTables } from '../storage/agent-tables/credential-definition.ts'
import type { AgentDb, AgentTx } from '../storage/database.ts'
import { matchOf } from '../storage/match.ts'
import { assertNotTransferred } from '../storage/transferred.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { CredentialDefinitionRecord, type CredentialDefinitionInput } from './definition.ts'
import type { CredentialDefinition, KeyCorrectnessProof } from './model.ts'

export type DefinitionRow = Selectable<CredentialDefinitionTables['credential_definition']>

/** Where definitions are, below the address of their agent. */
export const definitionsPath = 'credential-definition-registry/definitions'

/** Definitions of one wallet that may wait for their keys. */
const generatingOfWallet = 20

/** Filters are exact but for `%`, which stands for anything. `offset` is 0 or more, `limit` 1 to 1,000. */
export type DefinitionQuery = Paging & {
  author?: string | undefined
  name?: string | undefined
  version?: string | undefined
  tag?: string | undefined
  resolutionMethod?: ResolutionMethod
}

/**
 * Writes a definition that is to be given its key, under a new id.
 *
 * @param attributes the names of the attributes of its schema, in their order.
 * @throws {Problem} 429 when too many of the wallet's wait for theirs; `WalletMoved`.
 */
export async function addDefinition(
  tx: AgentTx,
  walletId: string,
  input: CredentialDefinitionInput,
  attributes: readonly string[],
  resolutionMethod: ResolutionMethod,
): Promise<CredentialDefinitionRecord> {
  await assertNotTransferred(tx, walletId)
  const { owed } = await tx
    .selectFrom('credential_definition')
    .select((query) => query.fn.countAll().as('owed'))
    .where('wallet_id', '=', walletId)
    .where('definition', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(owed) >= generatingOfWallet)
    throw new Problem(
      'TooManyRequests',
      `${generatingOfWallet} credential definitions of the wallet wait for their keys. Try again in a minute.`,
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

/** Gives a definition of a wallet its key, unless it has one. @throws {Problem} `WalletMoved`: where the wallet is now, it gets another. */
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

/** The definition with a guid, of whichever wallet, in whichever list. */
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

/** The definition with a guid. @throws {Problem} `error:CredentialDefinitionError:GuidNotFoundError` */
export async function getDefinition(
  db: AgentDb,
  guid: string,
  resolutionMethod: ResolutionMethod = 'http',
): Promise<CredentialDefinitionRecord> {
  const found = await findDefinition(db, guid)
  if (found?.record.resolutionMethod !== resolutionMethod) throw definitionNotFound(guid)
  return found.record
}

/** A page of a wallet's definitions in the order of their making, and how many match in all. */
export async function listDefinitions(
  db: AgentDb,
  walletId: string,
  { offset, limit, order, resolutionMethod = 'http', ...texts }: DefinitionQuery,
): Promise<{ definitions: CredentialDefinitionRecord[]; total: number }> {
  let matching = db
    .selectFrom('credential_definition')
    .where('wallet_id', '=', walletId)
    .where('resolution_method', '=', resolutionMethod)
  for (const column of ['author', 'name', 'version', 'tag'] as const) {
    const text = texts[column]
    if (text !== undefined) matching = matching.where(column, ...matchOf(text))
  }
  const { rows, total } = await pageOf(matching.selectAll(), ['position'], { offset, limit, order })
  return { definitions: rows.map(toRecord), total }
}

/** The definition itself. @throws {Problem} `error:CredentialDefinitionError:NotGeneratedYet` while its key is being made. */
export function publicPart({ definition, guid }: CredentialDefinitionRecord): CredentialDefinition {
  if (definition) return definition
  throw new Problem(
    'error:CredentialDefinitionError:NotGeneratedYet',
    `The key of the credential definition ${guid} is being generated. Try again in a few seconds.`,
    { retryAfter: 2 },
  )
}

/** The URL by which credentials name their definition: of the definition alone, at the agent's address or as a DID URL (wire.md 9). */
export function definitionUrl(record: CredentialDefinitionRecord, restUrl: string): string {
  const { guid, author, resolutionMethod } = record
  if (resolutionMethod === 'http') return `${restUrl}/${definitionsPath}/${guid}/definition`
  return toEnvelope(author, `${definitionsPath}/did-url/${guid}/definition`, publicPart(record)).url
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

/** What the registry answers for a definition, in either list: its record, or the definition alone. @throws {Problem} as `getDefinition` and `publicPart`. */
export async function readOwnDefinition(db: AgentDb, guid: string, isRaw: boolean): Promise<object> {
  const found = await findDefinition(db, guid)
  if (!found) throw definitionNotFound(guid)
  return isRaw ? publicPart(found.record) : found.record
}
