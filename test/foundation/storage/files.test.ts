/** Databases that replace others, and the files that belong to a database. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWalletDb, openExistingWalletDb } from '../../../src/foundation/storage/database.ts'
import { filesOf, replaceDatabase } from '../../../src/foundation/storage/files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('replaces a database, and removes the log and the page checksums of the replaced one', async () => {
  await using folder = await temporaryFolder()
  const [from, to] = [join(folder.path, 'from.db'), join(folder.path, 'to.db')]
  for (const value of ['first', 'second']) {
    await makeWalletDb(from, (db) => db.insertInto('setting').values({ name: 'a', value }).execute())
    for (const file of filesOf(to).slice(1)) writeFileSync(file, 'of a crash')
    replaceDatabase(from, to)
    expect([...filesOf(from), ...filesOf(to).slice(1)].filter((file) => existsSync(file))).toEqual([])
    const db = await openExistingWalletDb(to)
    const rows = await db.selectFrom('setting').select('value').where('name', '=', 'a').execute()
    await db.destroy()
    expect(rows).toEqual([{ value }])
  }
})

test('opening a wallet removes the page checksums that release 0.1.0 wrote', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'wallet.db')
  await makeWalletDb(path, () => Promise.resolve())
  writeFileSync(`${path}.sum`, 'of an earlier release')
  await (await openExistingWalletDb(path)).destroy()
  expect(existsSync(`${path}.sum`)).toBe(false)
})
