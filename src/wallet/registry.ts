/** The wallets that agent.db lists: created, found and counted. */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { fromHex } from '../foundation/bytes.ts'
import { newId } from '../foundation/id.ts'
import { across } from '../foundation/probe.ts'
import { Problem } from '../foundation/problem.ts'
import { newSealKey } from '../foundation/seal.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import { pageOf, type Paging } from '../foundation/storage/list-query.ts'
import { walletNotFound, walletTransferred } from '../foundation/storage/transferred.ts'
import { toWalletDetail, type CompleteWallet, type CreateWallet, type WalletDetail } from './model.ts'
import { insertSeed, seedDigestOf, wrapWalletKey } from './wallet-file.ts'
import type { WalletStore } from './wallet-store.ts'

export async function findWallet(db: AgentDb, id: string): Promise<WalletDetail | undefined> {
  const row = await db.selectFrom('wallet').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toWalletDetail(row)
}

/** A page of wallets, oldest first. */
export async function listWallets(
  db: AgentDb,
  paging: Paging,
): Promise<{ wallets: WalletDetail[]; total: number }> {
  const { rows, total } = await pageOf(db.selectFrom('wallet').selectAll(), ['created_at', 'id'], paging)
  return { wallets: rows.map(toWalletDetail), total }
}

export async function readActiveIds(db: AgentDb): Promise<string[]> {
  const rows = await db.selectFrom('wallet').select('id').where('moved_at', 'is', null).execute()
  return rows.map(({ id }) => id)
}

/** What is needed to open a wallet. @throws {Problem} `WalletNotFound`, `WalletMoved` */
export async function getPresent(
  db: AgentDb,
  id: string,
): Promise<{ wrapped_key: string; arrived: string | null; number: number }> {
  const wallets = db.selectFrom('wallet').select(['wrapped_key', 'moved_at', 'arrived', 'number'])
  const row = await wallets.where('id', '=', id).executeTakeFirst()
  if (!row) throw walletNotFound(id)
  if (row.moved_at !== null) throw walletTransferred(id)
  return row
}

/** Sets or ends the suspension of a wallet that is transferred. @throws {Problem} `WalletNotFound` */
export async function setMovedAt(db: AgentDb, id: string, moved_at: string | null): Promise<WalletDetail> {
  const update = db.updateTable('wallet').set({ moved_at }).where('id', '=', id)
  const row = await update.returningAll().executeTakeFirst()
  if (!row) throw walletNotFound(id)
  return toWalletDetail(row)
}

/** The number of a new wallet, in the statement that inserts it. */
export const nextWalletNumber = sql<number>`(select coalesce(max(number), 0) + 1 from wallet)`

/** @throws {Problem} `DuplicatedWallet…` */
async function assertNew(db: AgentDb, id: string, seedDigest: string): Promise<void> {
  if (await findWallet(db, id))
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletId',
      `A wallet with the id ${id} exists already. Omit the id to get a new one.`,
    )
  const sameSeed = db.selectFrom('wallet').select('id').where('seed_digest', '=', seedDigest)
  if (await sameSeed.executeTakeFirst())
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletSeed',
      'Another wallet has this seed already. Omit the seed to get a random one.',
    )
}

/**
 * Creates a wallet that this process owns: its contents, then its row. Calls in one process must not overlap.
 *
 * @throws {Problem} `DuplicatedWallet…`
 */
export async function createWallet(
  db: AgentDb,
  agentKey: Uint8Array,
  { id = newId(), name, seed: seedHex, complete }: CreateWallet & { complete?: CompleteWallet | undefined },
  store: WalletStore,
): Promise<WalletDetail> {
  const seed = seedHex === undefined ? randomBytes(64) : fromHex(seedHex)
  const seedDigest = seedDigestOf(agentKey, seed)
  await assertNew(db, id, seedDigest)
  const key = newSealKey()
  await across('wallet-file', { walletId: id }, () =>
    store.create(id, (contents) => insertSeed(contents, id, key, seed)),
  )
  const now = new Date().toISOString()
  const wrapped = wrapWalletKey(agentKey, id, key)
  for (const secret of [key, seed]) secret.fill(0)
  await db
    .transaction()
    .execute(async (tx) => {
      // Another process may have made a wallet with the same seed in the meantime.
      await assertNew(tx, id, seedDigest)
      const times = { created_at: now, updated_at: now }
      const row = {
        id,
        name,
        wrapped_key: wrapped,
        seed_digest: seedDigest,
        number: nextWalletNumber,
        ...times,
      }
      await tx.insertInto('wallet').values(row).execute()
      await complete?.(tx, id)
    })
    .catch(async (error: unknown) => {
      await store.remove(id)
      throw error
    })
  return { id, name, createdAt: now, updatedAt: now }
}
