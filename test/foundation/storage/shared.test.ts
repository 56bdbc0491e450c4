/** Databases that several processes use at the same time. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openAgentDb } from '../../../src/foundation/storage/database.ts'
import { newFolder } from '../../support/folder.ts'
import { bundle } from '../../support/script.ts'

async function open(path: string) {
  const db = await openAgentDb(path)
  onTestFinished(() => db.destroy())
  return db
}

const setting = (name: string, value = '') => ({ name, value })

test('three processes create one database and increment a number in it: no increment is lost', async () => {
  const path = join(newFolder(), 'agent.db')
  const script = await bundle(new URL('_count.ts', import.meta.url))
  onTestFinished(() => script[Symbol.dispose]())
  await Promise.all([1, 2, 3].map(() => script.run(path, '200')))
  const db = await open(path)
  expect(await db.selectFrom('setting').selectAll().execute()).toEqual([setting('count', '600')])
})

test('a transaction that reads and then writes waits for the one of another connection, and does not block the event loop', async () => {
  const path = join(newFolder(), 'agent.db')
  const [one, other] = [await open(path), await open(path)]
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const first = one.transaction().execute(async (tx) => {
    await tx.selectFrom('setting').selectAll().execute()
    await released
    await tx.insertInto('setting').values(setting('a')).execute()
  })
  const second = other.transaction().execute(async (tx) => {
    const rows = await tx.selectFrom('setting').select('name').execute()
    await tx.insertInto('setting').values(setting('b')).execute()
    return rows
  })
  const single = other.insertInto('setting').values(setting('c')).execute()
  setTimeout(release, 20)
  await first
  expect(await second).toEqual([{ name: 'a' }])
  await single
  expect(await one.selectFrom('setting').select('name').orderBy('name').execute()).toHaveLength(3)
})
