/** The status lists of a wallet: a place for each credential, and which of them are revoked (api.md 4.9, wire.md 8.2). */
import { randomInt } from 'node:crypto'
import type { Selectable } from 'kysely'
import { steadyNow } from '../base/clock.ts'
import { listLength } from '../credentials/bitstring.ts'
import type { CredentialStatus } from '../credentials/credential.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { LaterError } from '../wallet/task.ts'

export type StatusList = Selectable<WalletTables['status_list']>

/** A list is filled to a half: so long a place picked at random is likely to be free, and tells nothing of when it was given out. */
const mostUsed = listLength / 2

/** A place for a credential: what the credential says of it, and what writes it down once the credential is made. */
export type Place = { status: CredentialStatus; keep: (tx: Tx, recordId: string) => Promise<void> }

/** Picks a place in a list of an issuing DID, given in its short form; the place is taken when it is kept. */
export async function pickPlace(wallet: Wallet, did: string): Promise<Place> {
  const { id, url } = await openList(wallet, did)
  const index = await pickFree(wallet.db, id)
  return {
    // As the wallets read it: a capital, a number (wire.md 8.2).
    status: {
      id: `${url}#${index}`,
      type: 'StatusList2021Entry',
      statusPurpose: 'Revocation',
      statusListIndex: index,
      statusListCredential: url,
    },
    keep: (tx, recordId) => take(tx, id, index, recordId),
  }
}

/**
 * Revokes the credential of a record, for good. Returns the instant at which it was revoked, now or before, and whether that was now;
 * nothing when the record's credential has no place in a list.
 */
export async function revokePlace(
  tx: Tx,
  recordId: string,
): Promise<{ revokedAt: string; isNew: boolean } | undefined> {
  const entry = await tx
    .selectFrom('status_entry')
    .selectAll()
    .where('record_id', '=', recordId)
    .executeTakeFirst()
  if (!entry) return undefined
  if (entry.revoked_at !== null) return { revokedAt: entry.revoked_at, isNew: false }
  const revokedAt = new Date().toISOString()
  await tx
    .updateTable('status_entry')
    .set({ revoked_at: revokedAt })
    .where('record_id', '=', recordId)
    .execute()
  await tx
    .updateTable('status_list')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', entry.list_id)
    .execute()
  return { revokedAt, isNew: true }
}

/** Whether the credential of a record has a place in a list, and since when it is revoked. */
export async function findPlace(db: Db, recordId: string): Promise<{ revokedAt?: string } | undefined> {
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

/** The list with an id. */
export async function findList(db: Db, id: string): Promise<StatusList | undefined> {
  return (await listsById(db, { id })).rows[0]
}

/** The indexes of a list whose credentials are revoked. */
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
    .where('used', '<', mostUsed)
    .orderBy('id')
    .limit(1),
)

/** The list of a DID that is being filled, begun when there is none: one that nobody gets to use is only empty. */
async function openList(wallet: Wallet, did: string): Promise<StatusList> {
  const open = async (db: Db) => (await openLists(db, { did })).rows[0]
  const known = await open(wallet.db)
  if (known) return known
  const { config, urls } = wallet.env
  const id = wallet.env.tokens.create('status-list', wallet.id)
  const url = `${config.POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL ?? urls.rest}/credential-status/${id}`
  const list = { id, did, url, used: 0, revision: 0, created_at: new Date().toISOString() }
  return wallet.transaction(async (tx) => {
    const meanwhile = await open(tx)
    if (!meanwhile) await tx.insertInto('status_list').values(list).execute()
    return meanwhile ?? list
  })
}

const placesByIndex = prepared((db: Db, { listId, index }: { listId: string; index: number }) =>
  db
    .selectFrom('status_entry')
    .select('list_index')
    .where('list_id', '=', listId)
    .where('list_index', '=', index),
)

async function pickFree(db: Db, listId: string): Promise<number> {
  for (;;) {
    const index = randomInt(listLength)
    const { rows: taken } = await placesByIndex(db, { listId, index })
    if (taken.length === 0) return index
  }
}

const insertPlace = prepared(
  (db: Db, { listId, index, recordId }: { listId: string; index: number; recordId: string }) =>
    db
      .insertInto('status_entry')
      .values({ list_id: listId, list_index: index, record_id: recordId, revoked_at: null })
      .onConflict((conflict) => conflict.columns(['list_id', 'list_index']).doNothing()),
)

const countPlace = prepared((db: Db, { listId }: { listId: string }) =>
  db
    .updateTable('status_list')
    .set((eb) => ({ used: eb('used', '+', 1) }))
    .where('id', '=', listId),
)

/** @throws {LaterError} when another credential was given the place in the meantime. */
async function take(tx: Tx, listId: string, index: number, recordId: string): Promise<void> {
  const { numAffectedRows } = await insertPlace(tx, { listId, index, recordId })
  if (!numAffectedRows) throw new LaterError(new Date(steadyNow()))
  await countPlace(tx, { listId })
}
