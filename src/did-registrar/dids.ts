/** The wallet's own DIDs: found by either form, listed, shown (api.md 4.4). */
import type { Selectable } from 'kysely'
import { Problem } from '../base/problem.ts'
import { parsePrismDid, toShortForm } from '../did/prism/did.ts'
import type { Db, Tx } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { Failure, type ManagedDid, type ManagedDidDetail } from './model.ts'
import { readContent } from './state.ts'

export type DidRow = Selectable<WalletTables['did']>

/** The row of a DID that is new to the wallet. */
export function newRow(
  known: Pick<DidRow, 'did' | 'method' | 'long_form' | 'did_index' | 'status' | 'state'>,
): DidRow {
  return {
    ...known,
    pending_operation: null,
    failure: null,
    created_at: new Date().toISOString(),
    updated_at: null,
  }
}

/** A DID of this wallet: short form, the form that anybody can resolve without a ledger if there is one, and status. */
export type OwnDid = { did: string; longForm: string; status: DidRow['status'] }

/** The wallet's DID that a reference means, short or long. @throws {Problem} 400 when it is no did:prism or did:web, 404 when it is not the wallet's. */
export async function getOwnDid(db: Db, didRef: string): Promise<OwnDid> {
  const { did, long_form, status } = await getDidRow(db, didRef)
  return { did, longForm: long_form ?? did, status }
}

/** True when a DID is the wallet's. @throws {Problem} 400 when it is no did:prism or did:web. */
export async function isOwnDid(db: Db, didRef: string): Promise<boolean> {
  return (await findDidRow(db, didRef)) !== undefined
}

/** The row of a DID. @throws {Problem} as `getOwnDid`. */
export async function getDidRow(db: Db, didRef: string): Promise<DidRow> {
  const row = await findDidRow(db, didRef)
  if (!row) throw new Problem('NotFound', `The DID ${toDid(didRef)} is not in this wallet.`)
  return row
}

/** A page of the wallet's DIDs in the order of their making, and how many there are. */
export async function listDids(db: Db, paging: Paging): Promise<{ dids: ManagedDidDetail[]; total: number }> {
  const { rows, total } = await pageOf(db.selectFrom('did').selectAll(), ['did_index', 'did'], paging)
  return { dids: rows.map(toDetail), total }
}

/** Where on the seed's path the next DID's keys go. */
export async function nextDidIndex(tx: Db): Promise<number> {
  const { last } = await tx
    .selectFrom('did')
    .select((eb) => eb.fn.max('did_index').as('last'))
    .executeTakeFirstOrThrow()
  return last === null ? 0 : last + 1
}

/** Changes a DID's row, and notes when. */
export async function changeDid(
  tx: Tx,
  did: string,
  change: Partial<Omit<DidRow, 'did' | 'created_at' | 'updated_at'>>,
): Promise<void> {
  await tx
    .updateTable('did')
    .set({ ...change, updated_at: new Date().toISOString() })
    .where('did', '=', did)
    .execute()
}

/** Changes a DID's row that has not changed since it was read. @throws {Problem} 409 when it has. */
export async function changeUnchanged(
  tx: Tx,
  { did, state }: DidRow,
  change: Partial<DidRow>,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('did')
    .set({ ...change, updated_at: new Date().toISOString() })
    .where('did', '=', did)
    .where('pending_operation', 'is', null)
    .where('state', '=', state)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw busy(did)
}

/** Only one operation on a DID may be under way. */
export function busy(did: string): Problem {
  return new Problem(
    'Conflict',
    `The DID ${did} has an operation that the ledger has not confirmed yet. Try again once it has.`,
  )
}

/** A DID as events show it, and the service document. */
export function toManagedDid({ did, long_form, status }: DidRow): ManagedDid {
  return status === 'PUBLISHED' || long_form === null
    ? { did, status }
    : { did, longFormDid: long_form, status }
}

/** A DID as REST shows it: with the operation that is under way, and what stands in its way. */
export function toDetail(row: DidRow): ManagedDidDetail {
  const { pending_operation: pendingOperation, failure } = row
  return {
    ...toManagedDid(row),
    ...(readContent(row.state).deactivated && { deactivated: true as const }),
    ...(pendingOperation !== null && { pendingOperation }),
    ...(failure !== null && { metaLastFailure: Failure.parse(JSON.parse(failure)) }),
  }
}

const rowsByDid = prepared((db: Db, { did }: { did: string }) =>
  db.selectFrom('did').selectAll().where('did', '=', did),
)

async function findDidRow(db: Db, didRef: string): Promise<DidRow | undefined> {
  const { rows } = await rowsByDid(db, { did: toDid(didRef) })
  return rows[0]
}

/** The one form by which the wallet knows a DID. */
function toDid(didRef: string): string {
  if (didRef.startsWith('did:web:')) return didRef
  try {
    return toShortForm(parsePrismDid(didRef).suffix)
  } catch (error) {
    throw new Problem('BadRequest', (error as Error).message, { cause: error })
  }
}
