/** How a wallet is made: its file first, then the row that makes it known. */
import { randomBytes } from 'node:crypto'
import { fromHex } from '../base/bytes.ts'
import { newId } from '../base/id.ts'
import { across } from '../base/probe.ts'
import { Problem } from '../base/problem.ts'
import { newSealKey } from '../base/seal.ts'
import type { AgentDb } from '../storage/database.ts'
import { removeDatabase } from '../storage/files.ts'
import type { CreateWallet, WalletDetail } from './model.ts'
import { seedDigestOf, wrapWalletKey } from './wallet-key.ts'
import { findWallet } from './wallet-rows.ts'
import { createWalletFile } from './wallet.ts'

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
