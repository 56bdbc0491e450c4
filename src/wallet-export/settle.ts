/** What becomes of a file that came in, once it is known whether its wallet was made known. */
import { join } from 'node:path'
import { removeDatabase } from '../storage/files.ts'
import type { Parts } from './portable.ts'

/** Gives a file that came in its place if its wallet has been made known, and removes it if not. */
export async function settle({ db, wallets }: Pick<Parts, 'db' | 'wallets'>, name: string): Promise<void> {
  const row = await db.selectFrom('wallet').select('id').where('arrived', '=', name).executeTakeFirst()
  if (row) wallets.place(row.id, name)
  else removeDatabase(join(wallets.transit, name))
}
