/** What agent.db says of wallets, for reading. */
import type { AgentDb } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { toWalletDetail, type WalletDetail, type CreateWallet } from './model.ts'
import { randomBytes } from 'node:crypto'
import { fromHex } from '../base/bytes.ts'
import { newId } from '../base/id.ts'
import { across } from '../base/probe.ts'
import { Problem } from '../base/problem.ts'
import { newSealKey } from '../base/seal.ts'
import { removeDatabase } from '../storage/files.ts'
import { seedDigestOf, wrapWalletKey } from './wallet-file.ts'
import { createWalletFile } from './wallet.ts'

/** The wallet with an id, as REST shows it. */
export async function findWallet(db: AgentDb, id: string): Promise<WalletDetail | undefined> {
  const row = await db.selectFrom('wallet').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toWalletDetail(row)
}

/** A page of wallets in the order of their making, and how many there are. */
export async function listWallets(
  db: AgentDb,
  paging: Paging,
): Promise<{ wallets: WalletDetail[]; total: number }> {
  const { rows, total } = await pageOf(db.selectFrom('wallet').selectAll(), ['created_at', 'id'], paging)
  return { wallets: rows.map(toWalletDetail), total }
}

/** The ids of all wallets but those that rest here. */
export async function readIds(db: AgentDb): Promise<string[]> {
  return (await db.selectFrom('wallet').select('id').where('moved_at', 'is', null).execute()).map(
    ({ id }) => id,
  )
}

/** Makes a wallet; no other may be made meanwhile. @throws {Problem} `DuplicatedWalletId`, `DuplicatedWalletSeed` */
export async function makeWallet(
  db: AgentDb,
  agentKey: Uint8Array,
  { id = newId(), name, seed: seedHex }: CreateWallet,
  pathOf: (id: string) => string,
): Promise<WalletDetail> {
  const seed = seedHex === undefined ? randomBytes(64) : fromHex(seedHex)
  const seedDigest = seedDigestOf(agentKey, seed)
  if (await findWallet(db, id))
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletId',
      `A wallet with the id ${id} exists already. Leave the id out and one is made.`,
    )
  const twin = await db
    .selectFrom('wallet')
    .select('id')
    .where('seed_digest', '=', seedDigest)
    .executeTakeFirst()
  if (twin)
    throw new Problem(
      'error:WalletManagementServiceError:DuplicatedWalletSeed',
      'Another wallet has this seed already. Leave the seed out and a random one is made.',
    )
  const key = newSealKey()
  const path = pathOf(id)
  // What a crash left behind without a row belongs to nobody.
  removeDatabase(path)
  await across('wallet-file', { walletId: id }, () => createWalletFile(id, path, key, seed))
  const now = new Date().toISOString()
  const wrapped = wrapWalletKey(agentKey, id, key)
  for (const secret of [key, seed]) secret.fill(0)
  await db
    .insertInto('wallet')
    .values({ id, name, wrapped_key: wrapped, seed_digest: seedDigest, created_at: now, updated_at: now })
    .execute()
  return { id, name, createdAt: now, updatedAt: now }
}
