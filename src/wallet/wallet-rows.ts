/** What agent.db says of wallets, for reading. */
import type { AgentDb } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import { toWalletDetail, type WalletDetail } from './model.ts'

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
