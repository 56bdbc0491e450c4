/** How much waits for an account, and for each of its recipients. */
import type { Kysely } from 'kysely'
import type { MediatorDb, MediatorTx } from '../../foundation/storage/database.ts'
import type { MediatorTables } from '../../foundation/storage/mediator-tables.ts'
import { newEntries, rememberRows } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'

/**
 * The queue of an account, or of one of its recipients. `oldest` and `newest` are ISO 8601, null when it is
 * empty.
 */
export type Summary = { count: number; bytes: number; oldest: string | null; newest: string | null }

const queueOf = (db: Kysely<MediatorTables>, account: string) =>
  db
    .selectFrom('message')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.sum<number | null>('bytes').as('bytes'),
      fn.min<string | null>('received_at').as('oldest'),
      fn.max<string | null>('received_at').as('newest'),
    ])
    .where('account', '=', account)

const summariseAccount = prepared((db: MediatorDb, { account }: { account: string }) => queueOf(db, account))

const summariseRecipient = prepared(
  (db: MediatorDb, { account, recipient }: { account: string; recipient: string }) =>
    queueOf(db, account).where('recipient', '=', recipient),
)

export async function summarise(db: MediatorDb, account: string, recipient?: string): Promise<Summary> {
  const { rows } = await (recipient === undefined
    ? summariseAccount(db, { account })
    : summariseRecipient(db, { account, recipient }))
  const { bytes, ...summary } = rows[0]!
  return { ...summary, bytes: bytes ?? 0 }
}

export type Size = Pick<Summary, 'count' | 'bytes'>

/** The sizes that are remembered, some 10 MB. */
const maxSizes = 20_000

/** No DID contains a space. */
const keyOf = (account: string, recipient?: string) =>
  recipient === undefined ? account : `${account} ${recipient}`

const sizes = rememberRows<Size>(
  'sizes of queues',
  async (db, key) => {
    const [account = '', recipient] = key.split(' ')
    const { count, bytes } = await summarise(db, account, recipient)
    return { count, bytes }
  },
  newEntries(maxSizes),
)

/** The size of the queue of an account, or of one of its recipients: read once, and then counted. */
export async function sizeOf(tx: MediatorTx, account: string, recipient?: string): Promise<Size> {
  return (await sizes.find(tx, keyOf(account, recipient)))!
}

/** Counts a message that was queued, or with -1 one that was deleted. */
export function countMessage(
  tx: MediatorTx,
  { account, recipient, bytes }: { account: string; recipient: string; bytes: number },
  change: 1 | -1,
): void {
  for (const key of [keyOf(account), keyOf(account, recipient)]) {
    const known = sizes.recall(tx, key)
    if (known) sizes.note(tx, key, { count: known.count + change, bytes: known.bytes + change * bytes })
  }
}

/** Has the sizes of a queue read again. */
export function forgetSizes(tx: MediatorTx, account: string, recipient: string): void {
  sizes.note(tx, keyOf(account))
  sizes.note(tx, keyOf(account, recipient))
}
