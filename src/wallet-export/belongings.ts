/** What belongs to a wallet and is not in its file: rows of agent.db, which other tenants can read or must not take. */
import { sql } from 'kysely'
import { z } from 'zod'
import type { AgentDb, AgentTx } from '../storage/database.ts'
import { belongsToAnother } from './refusals.ts'

const text = z.string()
const registered = {
  guid: text,
  position: text,
  id: text,
  author: text,
  name: text,
  version: text,
  description: text,
  resolution_method: text,
  authored: text,
}

/** A row without `wallet_id`, by its table. */
export const Belonging = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('web_did'), row: z.object({ did: text, created_at: text }) }),
  z.object({
    kind: z.literal('presentation_definition'),
    row: z.object({ id: text, definition: text, created_at: text }),
  }),
  z.object({
    kind: z.literal('credential_schema'),
    row: z.object({ ...registered, type: text, schema: text, tags: text, proof: text.nullable() }),
    searched: z.array(text).describe('The tags once more, as they are searched for.'),
  }),
  z.object({
    kind: z.literal('credential_definition'),
    row: z.object({
      ...registered,
      tag: text,
      schema_id: text,
      attributes: text,
      support_revocation: z.int(),
      definition: text.nullable(),
      key_correctness_proof: text.nullable(),
    }),
  }),
])
export type Belonging = z.infer<typeof Belonging>

/** All that belongs to a wallet, in the order of its making. */
export async function readBelongings(db: AgentDb, walletId: string): Promise<Belonging[]> {
  const dids = await db
    .selectFrom('web_did')
    .selectAll()
    .where('wallet_id', '=', walletId)
    .orderBy('created_at')
    .execute()
  const definitions = await db
    .selectFrom('presentation_definition')
    .selectAll()
    .where('wallet_id', '=', walletId)
    .orderBy('sequence')
    .execute()
  const schemas = await db
    .selectFrom('credential_schema')
    .selectAll()
    .where('wallet_id', '=', walletId)
    .orderBy('position')
    .execute()
  const credentialDefinitions = await db
    .selectFrom('credential_definition')
    .selectAll()
    .where('wallet_id', '=', walletId)
    .orderBy('position')
    .execute()
  const tags = new Map<string, string[]>(schemas.map(({ guid }) => [guid, []]))
  const searched = await db
    .selectFrom('credential_schema_tag')
    .selectAll('credential_schema_tag')
    .innerJoin('credential_schema', 'credential_schema.guid', 'credential_schema_tag.guid')
    .where('wallet_id', '=', walletId)
    .execute()
  for (const { guid, tag } of searched) tags.get(guid)?.push(tag)
  return [
    ...dids.map((row) => ({ kind: 'web_did', row })),
    ...definitions.map((row) => ({ kind: 'presentation_definition', row })),
    ...schemas.map((row) => ({ kind: 'credential_schema', row, searched: tags.get(row.guid) })),
    ...credentialDefinitions.map((row) => ({ kind: 'credential_definition', row })),
  ].map((each) => Belonging.parse(each))
}

/** Writes down what belongs to a wallet, in the place of what did before. @throws {Problem} `BelongsToAnother` */
export async function writeBelongings(
  tx: AgentTx,
  walletId: string,
  belongings: readonly Belonging[],
): Promise<void> {
  await removeBelongings(tx, walletId)
  for (const each of belongings) {
    if (!(await write(tx, walletId, each))) throw belongsToAnother(nameOf(each))
  }
}

async function removeBelongings(tx: AgentTx, walletId: string): Promise<void> {
  const own = tx.selectFrom('credential_schema').select('guid').where('wallet_id', '=', walletId)
  await tx.deleteFrom('credential_schema_tag').where('guid', 'in', own).execute()
  for (const table of [
    'credential_schema',
    'credential_definition',
    'presentation_definition',
    'web_did',
    'wallet_alias',
  ] as const)
    await tx.deleteFrom(table).where('wallet_id', '=', walletId).execute()
}

const nextSequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from presentation_definition)`

/** Returns whether there was none yet. */
async function write(tx: AgentTx, walletId: string, { kind, row, ...rest }: Belonging): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto(kind)
    .values({
      ...row,
      wallet_id: walletId,
      ...(kind === 'presentation_definition' && { sequence: nextSequence }),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  const searched =
    'searched' in rest && 'guid' in row ? rest.searched.map((tag) => ({ guid: row.guid, tag })) : []
  if (numInsertedOrUpdatedRows && searched.length > 0)
    await tx.insertInto('credential_schema_tag').values(searched).execute()
  return Boolean(numInsertedOrUpdatedRows)
}

function nameOf(belonging: Belonging): string {
  switch (belonging.kind) {
    case 'web_did':
      return belonging.row.did
    case 'presentation_definition':
      return `The presentation definition ${belonging.row.id}`
    case 'credential_schema':
      return `The credential schema ${belonging.row.guid}`
    case 'credential_definition':
      return `The credential definition ${belonging.row.guid}`
  }
}
