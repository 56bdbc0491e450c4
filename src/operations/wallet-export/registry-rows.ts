/** The rows of a wallet in agent.db: published documents, and the tokens by which others find the wallet. */
import { sql } from 'kysely'
import * as z from 'zod'
import type { AgentDb, AgentTx, Db } from '../../foundation/storage/database.ts'
import { nextSequence } from '../../foundation/storage/sql.ts'
import { belongsToAnother } from './problems.ts'
import { setImmediate as nextTick } from 'node:timers/promises'
import { resolvePeerDid } from '../../did/peer.ts'
import { endpointsOf } from '../../exchange/didcomm/route.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'

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

/** A row without `wallet_id`; `kind` is its table. */
export const RegistryRow = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('web_did'), row: z.object({ did: text, created_at: text }) }),
  z.object({
    kind: z.literal('presentation_definition'),
    row: z.object({ id: text, definition: text, created_at: text }),
  }),
  z.object({
    kind: z.literal('vdr_entry'),
    row: z.object({ id: text, content: text, created_at: text, updated_at: text }),
  }),
  z.object({
    kind: z.literal('credential_schema'),
    row: z.object({ ...registered, type: text, schema: text, tags: text, proof: text.nullable() }),
    searched: z.array(text).describe('The tags as they are indexed.'),
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
  z.object({
    kind: z.literal('credential_issuer'),
    row: z.object({
      id: text,
      authorization_server: text.nullable(),
      client_id: text.nullable(),
      client_secret: text.nullable(),
      certificate_id: text.nullable().default(null),
      encryption_key: text.nullable().default(null),
      encryption_required: z.int().default(0),
      bearer_deferral: z.int().default(1),
      created_at: text,
      wallet_providers: text.nullable().default(null),
      display: text.nullable().default(null),
      log_in: text.nullable().default(null),
      claims_secrets: text.nullable().default(null),
      delivery_texts: text.nullable().default(null),
    }),
  }),
  z.object({
    kind: z.literal('credential_configuration'),
    row: z.object({
      issuer_id: text,
      id: text,
      format: text,
      schema_id: text,
      vct: text.nullable(),
      certificate_id: text.nullable().default(null),
      claims: text,
      created_at: text,
      key_attestation: text.nullable().default(null),
      display: text.nullable().default(null),
      issuing_did: text.nullable().default(null),
      document: text.nullable().default(null),
      claims_source: text.nullable().default(null),
      access: text.nullable().default(null),
      settings: text.nullable().default(null),
    }),
  }),
  z.object({
    kind: z.literal('credential_media'),
    row: z.object({ issuer_id: text, digest: text, media_type: text, content: text, created_at: text }),
  }),
  z.object({
    kind: z.literal('credential_type'),
    row: z.object({
      issuer_id: text,
      configuration_id: text,
      version: z.int(),
      document: text.nullable(),
      created_at: text,
    }),
  }),
])
export type RegistryRow = z.infer<typeof RegistryRow>

export async function readRegistryRows(db: AgentDb, walletId: string): Promise<RegistryRow[]> {
  const rowsOf = async (kind: RegistryRow['kind'], order: string) => {
    const query = db.selectFrom(kind).selectAll().where('wallet_id', '=', walletId)
    return (await query.orderBy(sql.ref(order)).execute()).map((row) => ({ kind, row }))
  }
  const tags = await db
    .selectFrom('credential_schema_tag')
    .selectAll('credential_schema_tag')
    .innerJoin('credential_schema', 'credential_schema.guid', 'credential_schema_tag.guid')
    .where('wallet_id', '=', walletId)
    .execute()
  const tagsOf = new Map<string, string[]>()
  for (const { guid, tag } of tags) tagsOf.set(guid, [...(tagsOf.get(guid) ?? []), tag])
  const schemas = await rowsOf('credential_schema', 'position')
  return [
    ...(await rowsOf('web_did', 'created_at')),
    ...(await rowsOf('presentation_definition', 'sequence')),
    ...(await rowsOf('vdr_entry', 'created_at')),
    ...schemas.map(({ kind, row }) => ({
      kind,
      row,
      searched: tagsOf.get((row as { guid: string }).guid) ?? [],
    })),
    ...(await rowsOf('credential_definition', 'position')),
    ...(await rowsOf('credential_issuer', 'sequence')),
    ...(await rowsOf('credential_configuration', 'created_at')),
    ...(await rowsOf('credential_media', 'created_at')),
    ...(await rowsOf('credential_type', 'created_at')),
  ].map((each) => RegistryRow.parse(each))
}

/** Replaces the rows of a wallet. @throws {Problem} `BelongsToAnother` */
export async function writeRegistryRows(
  tx: AgentTx,
  walletId: string,
  registryRows: readonly RegistryRow[],
): Promise<void> {
  await deleteRegistryRows(tx, walletId)
  for (const each of registryRows) {
    if (!(await insertRow(tx, walletId, each))) throw belongsToAnother(nameOf(each))
  }
}

async function deleteRegistryRows(tx: AgentTx, walletId: string): Promise<void> {
  const own = tx.selectFrom('credential_schema').select('guid').where('wallet_id', '=', walletId)
  await tx.deleteFrom('credential_schema_tag').where('guid', 'in', own).execute()
  for (const table of [
    'credential_schema',
    'credential_definition',
    'credential_type',
    'credential_media',
    'credential_configuration',
    'credential_issuer',
    'presentation_definition',
    'vdr_entry',
    'web_did',
    'wallet_alias',
  ] as const)
    await tx.deleteFrom(table).where('wallet_id', '=', walletId).execute()
}

/** The tables whose rows have a `sequence`, which an import assigns again. */
const sequenced: readonly RegistryRow['kind'][] = ['presentation_definition', 'credential_issuer']

/** Inserts a row. False when another wallet has it already. */
async function insertRow(
  tx: AgentTx,
  walletId: string,
  { kind, row, ...rest }: RegistryRow,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto(kind)
    .values({
      ...row,
      wallet_id: walletId,
      ...(sequenced.includes(kind) && { sequence: nextSequence(kind) }),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  const searched =
    'searched' in rest && 'guid' in row ? rest.searched.map((tag) => ({ guid: row.guid, tag })) : []
  if (numInsertedOrUpdatedRows && searched.length > 0)
    await tx.insertInto('credential_schema_tag').values(searched).execute()
  return Boolean(numInsertedOrUpdatedRows)
}

function nameOf({ kind, row }: RegistryRow): string {
  if (kind === 'web_did') return row.did
  return `The ${kind.replace('_', ' ')} ${'guid' in row ? row.guid : 'id' in row ? row.id : row.issuer_id}`
}

export type Token = Pick<AgentTables['wallet_alias'], 'kind' | 'token'>

/** The form of wallet tokens, base58 of a sealed wallet id, and of short links. */
const tokenPattern = /^[1-9A-HJ-NP-Za-km-z]{50,60}$/
const shortIdPattern = /^[\w-]{16}$/

/** DIDs that are parsed in one tick, and rows that one statement inserts. */
const batchSize = 200

export async function readTokens(db: Db): Promise<Token[]> {
  const dids = await db.selectFrom('peer_did').select('did').execute()
  const lists = await db.selectFrom('status_list').select('id').execute()
  const authorities = await db.selectFrom('issuer_authority').select('id').execute()
  const sessions = await db
    .selectFrom('enterprise_session')
    .select(['product', 'submission_id', 'short_id'])
    .execute()
  const records = await db.selectFrom('record').select('short_id').where('short_id', 'is not', null).execute()
  const mailboxes = new Set<string>()
  for (const [index, { did }] of dids.entries()) {
    if (index % batchSize === 0) await nextTick()
    for (const mailbox of mailboxesOf(did)) mailboxes.add(mailbox)
  }
  const tokens: Token[] = [
    ...[...mailboxes].map((token) => ({ kind: 'mailbox' as const, token })),
    ...lists.map(({ id: token }) => ({ kind: 'status-list' as const, token })),
    ...authorities.map(({ id: token }) => ({ kind: 'crl' as const, token })),
    ...sessions.map(({ product: kind, submission_id: token }) => ({ kind, token })),
  ]
  const shortIds = [...records, ...sessions].map(({ short_id }) => short_id ?? '')
  return [
    ...tokens.filter(({ token }) => tokenPattern.test(token)),
    ...shortIds
      .filter((id) => shortIdPattern.test(id))
      .map((token) => ({ kind: 'short-link' as const, token })),
  ]
}

/** Inserts the tokens of a wallet. @throws {Problem} `BelongsToAnother` */
export async function writeTokens(tx: AgentTx, walletId: string, tokens: readonly Token[]): Promise<void> {
  for (let at = 0; at < tokens.length; at += batchSize) {
    const rows = tokens.slice(at, at + batchSize).map((token) => ({ ...token, wallet_id: walletId }))
    const insertion = tx.insertInto('wallet_alias').values(rows)
    const { numInsertedOrUpdatedRows } = await insertion
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (Number(numInsertedOrUpdatedRows) < rows.length) throw belongsToAnother('An address of the wallet')
  }
}

/** The mailboxes in the services of a DID. None for a DID that cannot be parsed. */
function mailboxesOf(did: string): string[] {
  try {
    return endpointsOf(resolvePeerDid(did)).map(({ uri }) => uri.split('/').at(-1)!)
  } catch {
    return []
  }
}
