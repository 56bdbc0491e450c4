/** Databases without an agent: a wallet's in a temporary folder, and the rows of wallets in an `agent.db`. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { openWalletDb, type AgentDb, type Db } from '../../src/foundation/storage/database.ts'
import { temporaryFolder } from './temporary-folder.ts'

export async function temporaryWalletDb(): Promise<{
  db: Db
  path: string
  [Symbol.asyncDispose](): Promise<void>
}> {
  const folder = await temporaryFolder()
  const path = join(folder.path, 'wallet.db')
  const db = await openWalletDb(path)
  return {
    db,
    path,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** Adds wallets without a file. */
export async function addWallets(db: AgentDb, ...ids: string[]): Promise<void> {
  const now = new Date().toISOString()
  const rows = ids.map((id) => ({
    id,
    number: randomInt(2 ** 32),
    name: id,
    wrapped_key: '',
    seed_digest: id,
    created_at: now,
    updated_at: now,
  }))
  await db
    .insertInto('wallet')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
