/** The rows of a wallet's status lists, and the revocations. */
import type { Selectable } from 'kysely'
import { enqueue } from '../outbox/job.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'

export type StatusList = Selectable<WalletTables['status_list']>

export const listMedia = [
  'application/json',
  'application/vc+jwt',
  'application/statuslist+jwt',
  'application/statuslist+cwt',
] as const
export type ListMedia = (typeof listMedia)[number]

/**
 * Revokes the credentials of a record permanently. `isNew` is false if they were revoked before. Returns
 * undefined if the record has no credential with a status list.
 */
export async function revokeEntries(
  tx: Tx,
  recordId: string,
): Promise<{ revokedAt: string; isNew: boolean } | undefined> {
  const all = await tx.selectFrom('status_entry').selectAll().where('record_id', '=', recordId).execute()
  if (all.length === 0) return undefined
  const entries = all.filter(({ revoked_at }) => revoked_at === null)
  if (entries.length === 0) return { revokedAt: all[0]!.revoked_at!, isNew: false }
  const revokedAt = new Date().toISOString()
  await tx
    .updateTable('status_entry')
    .set({ revoked_at: revokedAt })
    .where('record_id', '=', recordId)
    .where('revoked_at', 'is', null)
    .execute()
  const lists = [...new Set(entries.map(({ list_id }) => list_id))]
  await tx
    .updateTable('status_list')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', 'in', lists)
    .execute()
  for (const list of lists) await enqueueWrite(tx, list)
  return { revokedAt, isNew: true }
}

/** Whether the credentials of a record have a status, and when all of them were revoked. */
export async function findEntry(db: Db, recordId: string): Promise<{ revokedAt?: string } | undefined> {
  const entries = db.selectFrom('status_entry').select('revoked_at').where('record_id', '=', recordId)
  const found = await entries.execute()
  const [first] = found
  if (!first) return undefined
  return first.revoked_at === null || found.some((entry) => entry.revoked_at === null)
    ? {}
    : { revokedAt: first.revoked_at }
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

/** Whether a list is a VDR entry on the ledger. Others are served by HTTP. */
export function isOnLedger({ url }: StatusList): boolean {
  return url.startsWith('vdr:')
}

/** The name of the task in jobs that writes a list to the ledger. */
export const writeListTask = 'write status list'

/** Queues the task that writes a list to the ledger, if it is stored there. */
export async function enqueueWrite(tx: Tx, listId: string): Promise<void> {
  const list = await findList(tx, listId)
  if (!list || !isOnLedger(list)) return
  const about = { protocol: 'credential-status', recordId: listId }
  await enqueue(tx, `status-list:${listId}`, { kind: 'task', ...about, task: writeListTask })
}
