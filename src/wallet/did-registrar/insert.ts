/** Inserts new DIDs of a wallet, one after the other. */
import PQueue from 'p-queue'
import { appendEvent } from '../events/event.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../wallet.ts'
import { type DidRow, nextDidIndex, toManagedDid } from './dids.ts'
import { insertKeys, type KeyRow } from './keys.ts'
import type { OperationRow } from './operation.ts'

export type NewDid = { row: DidRow; operation?: OperationRow; keys: KeyRow[] }

/** One queue per wallet: concurrent DIDs with the same DID index would have to be created again. */
const queues = new WeakMap<Db, PQueue>()

/** Creates and inserts a DID at the next free DID index. `label` is the wallet's name for it. */
export async function insertDid(
  wallet: Wallet,
  create: (didIndex: number) => Promise<NewDid>,
  label?: string | null,
): Promise<DidRow> {
  const queue = queues.get(wallet.db) ?? new PQueue({ concurrency: 1 })
  queues.set(wallet.db, queue)
  return queue.add(() => insertNext(wallet, create, label))
}

async function insertNext(
  wallet: Wallet,
  create: (didIndex: number) => Promise<NewDid>,
  label: string | null | undefined,
): Promise<DidRow> {
  for (;;) {
    const didIndex = await nextDidIndex(wallet.db)
    const made = await create(didIndex)
    const row = { ...made.row, label: label || null }
    const isInserted = await wallet.transaction(async (tx) => {
      // A restored DID may use the index since the keys were derived.
      if ((await nextDidIndex(tx)) !== didIndex) return false
      await insertRows(tx, { ...made, row })
      if (row.status === 'PUBLISHED')
        await appendEvent(tx, { type: 'DIDStatusUpdated', subject: row.did, data: toManagedDid(row) })
      return true
    })
    if (isInserted) return row
  }
}

/** Stores a new DID with its keys, and with the operation that creates it. */
export async function insertRows(tx: Tx, { row, operation, keys }: NewDid): Promise<void> {
  await tx.insertInto('did').values(row).execute()
  if (operation) await tx.insertInto('did_operation').values(operation).execute()
  await insertKeys(tx, keys)
}
