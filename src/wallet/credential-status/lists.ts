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
  const revokedAt = await revoke(tx, recordId)
  return revokedAt === undefined
    ? { revokedAt: all[0]!.revoked_at!, isNew: false }
    : { revokedAt, isNew: true }
}

/** Revokes the credentials of a record, or those that are planned to be by a time. Undefined: there are none. */
async function revoke(tx: Tx, recordId: string, plannedBy?: string): Promise<string | undefined> {
  const revokedAt = new Date().toISOString()
  const own = tx.updateTable('status_entry').set({ revoked_at: revokedAt }).where('record_id', '=', recordId)
  const valid = own.where('revoked_at', 'is', null)
  const chosen = plannedBy === undefined ? valid : valid.where('revoke_at', '<=', plannedBy)
  const revoked = await chosen.returning('list_id').execute()
  if (revoked.length === 0) return undefined
  const lists = [...new Set(revoked.map(({ list_id }) => list_id))]
  await tx
    .updateTable('status_list')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', 'in', lists)
    .execute()
  for (const list of lists) await enqueueWrite(tx, list)
  return revokedAt
}

/** Plans to revoke the credentials that a record has. Returns whether there are any that were not yet. */
export async function planRevocation(tx: Tx, recordId: string, at: string): Promise<boolean> {
  const own = tx.updateTable('status_entry').set({ revoke_at: at }).where('record_id', '=', recordId)
  const valid = own.where('revoked_at', 'is', null).where('revoke_at', 'is', null)
  return (await valid.returning('list_index').execute()).length > 0
}

/** When the next planned revocation of a record is due. Undefined: none is planned. */
export async function findPlanned(db: Db, recordId: string): Promise<string | undefined> {
  const own = db.selectFrom('status_entry').select('revoke_at').where('record_id', '=', recordId)
  const planned = own.where('revoked_at', 'is', null).where('revoke_at', 'is not', null)
  const next = await planned.orderBy('revoke_at').limit(1).executeTakeFirst()
  return next?.revoke_at ?? undefined
}

/** Later than every planned time. */
const never = '9999-12-31T23:59:59.999Z'

/** Revokes the credentials of a record that are planned to be, by a time or all. */
export async function revokePlanned(tx: Tx, recordId: string, by = never): Promise<void> {
  await revoke(tx, recordId, by)
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
