/** The DIDs of a wallet: rows of the table `did`, and their states. */
import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { findMethod } from '../../did/methods.ts'
import { curves, factsOf, managedMethods, namesOf } from '../../definitions/did-names.ts'
import { type Usage, usages } from '../../did/prism/model.ts'
import type { DidContent, DidState } from '../../did/prism/state.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import { rememberRows } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { Failure, type ManagedDid, type ManagedDidDetail } from './model.ts'

export type DidRow = Selectable<WalletTables['did']>

/** The columns of a row, without that of the wallet over PostgreSQL. */
const columns = [
  'did',
  'method',
  'long_form',
  'did_index',
  'status',
  'state',
  'pending_operation',
  'failure',
  'label',
  'created_at',
  'updated_at',
] as const

/** The DIDs that are in use. */
const knownDids = rememberRows('DIDs', async (db: Db, did) => (await rowsByDid(db, { did })).rows[0])

/** Notes that the row of a DID must be read again. */
export function forgetDid(tx: Tx, did: string): void {
  knownDids.note(tx, did)
}

export function newRow(
  known: Pick<DidRow, 'did' | 'method' | 'long_form' | 'did_index' | 'status' | 'state'>,
): DidRow {
  return {
    ...known,
    pending_operation: null,
    failure: null,
    label: null,
    created_at: new Date().toISOString(),
    updated_at: null,
  }
}

/** A DID of the wallet. `longForm` is `did` unless the wallet created it as a did:prism. */
export type WalletDid = { did: string; longForm: string; status: DidRow['status'] }

/** The wallet's DID with this short or long form. @throws {Problem} 400 for another method, 404 if unknown */
export async function getManagedDid(db: Db, didRef: string): Promise<WalletDid> {
  const { did, long_form, status } = await getDidRow(db, didRef)
  return { did, longForm: long_form ?? did, status }
}

/** True when a DID is in the wallet. @throws {Problem} 400 when it is not of a method of `isRegistrarDid`. */
export async function isManagedDid(db: Db, didRef: string): Promise<boolean> {
  return (await findDidRow(db, didRef)) !== undefined
}

/** The row of a DID. @throws {Problem} as `getManagedDid`. */
export async function getDidRow(db: Db, didRef: string): Promise<DidRow> {
  const row = await findDidRow(db, didRef)
  if (!row) throw new Problem('NotFound', `The DID ${toDid(didRef)} is not in this wallet.`)
  return row
}

/** A page of the wallet's DIDs in order of creation, and their number. */
export async function listDids(db: Db, paging: Paging): Promise<{ dids: ManagedDidDetail[]; total: number }> {
  const { rows, total } = await pageOf(db.selectFrom('did').selectAll(), ['did_index', 'did'], paging)
  return { dids: rows.map(toDetail), total }
}

/** The DID index of the next DID in the key derivation path. */
export async function nextDidIndex(tx: Db): Promise<number> {
  const { last } = await tx
    .selectFrom('did')
    .select((eb) => eb.fn.max('did_index').as('last'))
    .executeTakeFirstOrThrow()
  return last === null ? 0 : last + 1
}

export async function updateDidRow(
  tx: Tx,
  did: string,
  change: Partial<Omit<DidRow, 'did' | 'created_at' | 'updated_at'>>,
): Promise<void> {
  await tx
    .updateTable('did')
    .set({ ...change, updated_at: new Date().toISOString() })
    .where('did', '=', did)
    .execute()
  forgetDid(tx, did)
}

/** Updates a DID's row. @throws {Problem} 409 when it has changed since it was read */
export async function updateUnchangedRow(
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
  if (numUpdatedRows === 0n) throw operationPending(did)
  forgetDid(tx, did)
}

/** The error of a second operation while one is pending. */
export function operationPending(did: string): Problem {
  return new Problem(
    'Conflict',
    `The DID ${did} has an operation that the ledger has not confirmed yet. Try again once it has.`,
  )
}

/** A DID as in events. */
export function toManagedDid({ did, long_form, status, label }: DidRow): ManagedDid {
  const isShort = status === 'PUBLISHED' || long_form === null
  return { did, ...(!isShort && { longFormDid: long_form }), status, ...(label !== null && { label }) }
}

/** A DID as in the API, with its pending operation and last failure. */
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
  db.selectFrom('did').select(columns).where('did', '=', did),
)

async function findDidRow(db: Db, didRef: string): Promise<DidRow | undefined> {
  return knownDids.find(db, toDid(didRef))
}

/** Whether a DID has a method that wallets create. Peer DIDs belong to connections. */
export function isRegistrarDid(did: string): boolean {
  return factsOf(did)?.managed !== undefined
}

/** The form of a DID in the table: the short form of one that has several, other DIDs unchanged. */
function toDid(didRef: string): string {
  if (!isRegistrarDid(didRef))
    throw new Problem(
      'BadRequest',
      `${didRef.slice(0, 100)} is not a ${namesOf(managedMethods)}, the DIDs that wallets create.`,
    )
  try {
    return findMethod(didRef)?.canonical?.(didRef) ?? didRef
  } catch (error) {
    throw new Problem('BadRequest', (error as Error).message, { cause: error })
  }
}

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const PublicJwk = z.object({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(curves),
  x: z.string(),
  y: z.string().exactOptional(),
})

const StoredContent = z.object({
  publicKeys: z.array(
    z.object({ id: z.string(), usage: z.enum(Object.keys(usages) as Usage[]), publicKey: PublicJwk }),
  ),
  services: z.array(z.object({ id: z.string(), type: z.string(), serviceEndpoint: z.string() })),
  contexts: z.array(z.string()),
  retiredKeyIds: z.array(z.string()),
  retiredServiceIds: z.array(z.string()),
  deactivated: z.boolean(),
  /** The DID is the key of one held credential, and signs nothing else (`holder-key.ts`). */
  ofHolder: z.literal(true).exactOptional(),
})

const StoredState = StoredContent.extend({
  suffix: Hash,
  lastOperationHash: Hash,
  createdAt: z.string().exactOptional(),
  updatedAt: z.string().exactOptional(),
})

/** Parses the stored content of a DID of any method. */
export function readContent(json: string): z.infer<typeof StoredContent> {
  return StoredContent.parse(JSON.parse(json))
}

/** Parses the stored state of a did:prism: the last confirmed one, or the one it was created with. */
export function readState(json: string): DidState {
  return StoredState.parse(JSON.parse(json))
}

export function writeState(state: DidContent & { ofHolder?: true }): string {
  return JSON.stringify(state)
}

/** The operation id of a change that takes effect at once: the SHA-256 of the content in hexadecimal. */
export function versionOf(state: string): string {
  return createHash('sha256').update(state).digest('hex')
}
