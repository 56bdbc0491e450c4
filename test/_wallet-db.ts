/** A wallet's database in a temporary folder, without an agent. */
import { join } from 'node:path'
import { openWalletDb, type Db } from '../src/storage/database.ts'
import { temporaryFolder } from './_temporary-folder.ts'

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
