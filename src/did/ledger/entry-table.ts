/** The events of storage entries in the embedded ledger. Their operations are in the table `operation`. */
import { Problem } from '../../foundation/problem.ts'
import { fromHex } from '../../foundation/bytes.ts'
import { type EntryEvent, readEntryEvent } from '../prism/storage.ts'
import type { StorageEntry } from './ledger.ts'
import type { LedgerDb } from './operation-table.ts'

/** The suffix of the DID whose entry has an event. @throws {Problem} 400 if there is none */
export async function getOwner(tx: LedgerDb, { previousHash }: EntryEvent): Promise<string> {
  const row = await findEvent(tx, previousHash!)
  if (!row) throw refused('previous_event_hash is not an event of a storage entry')
  return row.suffix
}

/**
 * Checks that an event begins an entry, or follows its last event. Returns the id of the entry.
 *
 * @throws {Problem} 400
 */
export async function checkChain(tx: LedgerDb, { hash, previousHash }: EntryEvent): Promise<string> {
  if (await findEvent(tx, hash)) throw refused('the storage entry has this event already')
  if (previousHash === undefined) return hash
  const previous = await findEvent(tx, previousHash)
  const last = previous && (await eventsOf(tx, previous.entry_id).executeTakeFirst())
  if (!previous || last?.hash !== previousHash)
    throw refused('previous_event_hash is not the hash of the last event of the storage entry')
  if (!readEntryEvent(fromHex(last.signed_operation))?.content)
    throw refused('the storage entry is deactivated, which is final')
  return previous.entry_id
}

/** The last confirmed content of an entry. Undefined for one that is unknown, pending or deactivated. */
export async function findEntry(db: LedgerDb, entryId: string, now: Date): Promise<StorageEntry | undefined> {
  const last = await eventsOf(db, entryId)
    .where((eb) =>
      eb.or([eb('confirms_at', '<=', now.toISOString()), eb('confirms_at', '<=', eb.ref('submitted_at'))]),
    )
    .executeTakeFirst()
  const content = last && readEntryEvent(fromHex(last.signed_operation))?.content
  return content && { entryId, lastHash: last.hash, suffix: last.suffix, content }
}

export async function addEvent(
  tx: LedgerDb,
  row: { hash: string; entry_id: string; suffix: string; sequence: number },
): Promise<void> {
  await tx.insertInto('storage_event').values(row).execute()
}

function findEvent(db: LedgerDb, hash: string) {
  return db
    .selectFrom('storage_event')
    .select(['entry_id', 'suffix'])
    .where('hash', '=', hash)
    .executeTakeFirst()
}

/** The last of an entry's events. */
function eventsOf(db: LedgerDb, entryId: string) {
  return db
    .selectFrom('storage_event')
    .innerJoin('operation', 'operation.sequence', 'storage_event.sequence')
    .select(['storage_event.hash', 'storage_event.suffix', 'operation.signed_operation'])
    .where('storage_event.entry_id', '=', entryId)
    .orderBy('storage_event.sequence', 'desc')
    .limit(1)
}

function refused(reason: string): Problem {
  return new Problem('BadRequest', `the signed operation is not accepted: ${reason}`)
}
