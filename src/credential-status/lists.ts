/** The status lists of a wallet: an index for each issued credential, and the revocations. */
import { randomInt } from 'node:crypto'
import type { Selectable } from 'kysely'
import { steadyNow } from '../base/clock.ts'
import { listLength } from '../credentials/bitstring.ts'
import type { CredentialStatus } from '../credentials/jwt-vc.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { LaterError, type Wallet } from '../wallet/wallet.ts'

export type StatusList = Selectable<WalletTables['status_list']>

/**
 * Lists are filled by half. A random index is then likely to be free, and does not reveal the time of
 * issuance.
 */
const maxUsed = listLength / 2

/** An index in a list: the entry for the credential, and the write that reserves it. */
export type StatusAssignment = {
  status: CredentialStatus
  /** The same entry for the `status` of an SD-JWT VC: the URL serves a Token Status List too. */
  tokenStatus: { status_list: { idx: number; uri: string } }
  store: (tx: Tx, recordId: string) => Promise<void>
}

/** Chooses a free index in a list of an issuer: a DID (short form), or the id of an issuer certificate. `store` reserves it. */
export async function assignStatus(wallet: Wallet, did: string): Promise<StatusAssignment> {
  const { id, url } = await getOpenList(wallet, did)
  const index = await findFreeIndex(wallet.db, id)
  return {
    // Wallets expect a capital letter in the purpose, and a number as index.
    status: {
      id: `${url}#${index}`,
      type: 'StatusList2021Entry',
      statusPurpose: 'Revocation',
      statusListIndex: index,
      statusListCredential: url,
    },
    tokenStatus: { status_list: { idx: index, uri: url } },
    store: (tx, recordId) => insertEntry(tx, id, index, recordId),
  }
}

/**
 * Revokes the credentials of a record permanently. `isNew` is false if they were revoked before. Returns
 * undefined if the record has no credential with a status list.
 */
export async function revokeEntries(
  tx: Tx,
  recordId: string,
): Promise<{ revokedAt: string; isNew: boolean } | undefined> {
  const entries = await tx.selectFrom('status_entry').selectAll().where('record_id', '=', recordId).execute()
  const [entry] = entries
  if (!entry) return undefined
  if (entry.revoked_at !== null) return { revokedAt: entry.revoked_at, isNew: false }
  const revokedAt = new Date().toISOString()
  await tx
    .updateTable('status_entry')
    .set({ revoked_at: revokedAt })
    .where('record_id', '=', recordId)
    .execute()
  const lists = [...new Set(entries.map(({ list_id }) => list_id))]
  await tx
    .updateTable('status_list')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', 'in', lists)
    .execute()
  return { revokedAt, isNew: true }
}

/** Finds the status entry of a record's credential. */
export async function findEntry(db: Db, recordId: string): Promise<{ revokedAt?: string } | undefined> {
  const entry = await db
    .selectFrom('status_entry')
    .select('revoked_at')
    .where('record_id', '=', recordId)
    .executeTakeFirst()
  return entry && (entry.revoked_at === null ? {} : { revokedAt: entry.revoked_at })
}

const listsById = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('status_list').selectAll().where('id', '=', id),
)

export async function findList(db: Db, id: string): Promise<StatusList | undefined> {
  return (await listsById(db, { id })).rows[0]
}

export async function revokedIndexes(db: Db, id: string): Promise<number[]> {
  const rows = await db
    .selectFrom('status_entry')
    .select('list_index')
    .where('list_id', '=', id)
    .where('revoked_at', 'is not', null)
    .execute()
  return rows.map((row) => row.list_index)
}

const openLists = prepared((db: Db, { did }: { did: string }) =>
  db
    .selectFrom('status_list')
    .selectAll()
    .where('did', '=', did)
    .where('used', '<', maxUsed)
    .orderBy('id')
    .limit(1),
)

/** The list of an issuer with free indexes. Creates one if necessary. */
async function getOpenList(wallet: Wallet, did: string): Promise<StatusList> {
  const open = async (db: Db) => (await openLists(db, { did })).rows[0]
  const existing = await open(wallet.db)
  if (existing) return existing
  const { config, urls } = wallet.env
  const id = wallet.env.tokens.create('status-list', wallet.id)
  const url = `${config.POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL ?? urls.rest}/credential-status/${id}`
  const list = { id, did, url, used: 0, revision: 0, created_at: new Date().toISOString() }
  return wallet.transaction(async (tx) => {
    const concurrent = await open(tx)
    if (!concurrent) await tx.insertInto('status_list').values(list).execute()
    return concurrent ?? list
  })
}

const entriesByIndex = prepared((db: Db, { listId, index }: { listId: string; index: number }) =>
  db
    .selectFrom('status_entry')
    .select('list_index')
    .where('list_id', '=', listId)
    .where('list_index', '=', index),
)

async function findFreeIndex(db: Db, listId: string): Promise<number> {
  for (;;) {
    const index = randomInt(listLength)
    const { rows: entries } = await entriesByIndex(db, { listId, index })
    if (entries.length === 0) return index
  }
}

const insertRow = prepared(
  (db: Db, { listId, index, recordId }: { listId: string; index: number; recordId: string }) =>
    db
      .insertInto('status_entry')
      .values({ list_id: listId, list_index: index, record_id: recordId, revoked_at: null })
      .onConflict((conflict) => conflict.columns(['list_id', 'list_index']).doNothing()),
)

const countEntry = prepared((db: Db, { listId }: { listId: string }) =>
  db
    .updateTable('status_list')
    .set((eb) => ({ used: eb('used', '+', 1) }))
    .where('id', '=', listId),
)

/** @throws {LaterError} when another credential uses the index meanwhile. */
async function insertEntry(tx: Tx, listId: string, index: number, recordId: string): Promise<void> {
  const { numAffectedRows } = await insertRow(tx, { listId, index, recordId })
  if (!numAffectedRows) throw new LaterError(new Date(steadyNow()))
  await countEntry(tx, { listId })
}
