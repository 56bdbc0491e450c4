/** Writes that wait behind one that the database refuses, because another transaction holds its table. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { openWallet } from '../../../../src/foundation/storage/postgres/databases.ts'
import { openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import { Writer } from '../../../../src/foundation/storage/writer.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'

needsPostgres()

const walletId = '11111111-1111-4111-8111-111111111111'

test('they fail with it, are not tried, and later ones succeed', async () => {
  const server = await openServer()
  const url = await server.createDatabase()
  const connections = await openPostgres({ url, connections: 10, nodeName: 'test' })
  const database = new URL(url).pathname.slice(1)
  const locker = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'postgres', database })
  await locker.connect()
  const resolved = () => Promise.resolve()
  const writer = new Writer(openWallet(connections, walletId), {
    before: resolved,
    sync: resolved,
    after: () => undefined,
  })
  const tried: string[] = []
  const write = (name: string) =>
    writer.write((tx) => {
      tried.push(name)
      return tx.insertInto('setting').values({ name, value: '' }).execute()
    })
  try {
    await locker.query('begin; lock table setting in access exclusive mode')
    const writes = Array.from({ length: 20 }, (_, index) => write(`write ${index}`))
    for (const result of await Promise.allSettled(writes))
      expect(result).toMatchObject({ status: 'rejected', reason: { status: 503 } })
    expect(tried).toEqual(['write 0'])
    await locker.query('rollback')
    await write('later')
    expect(tried).toEqual(['write 0', 'later'])
  } finally {
    await locker.end()
    await connections.close()
  }
})
