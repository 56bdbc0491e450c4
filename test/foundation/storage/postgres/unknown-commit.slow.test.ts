/** A commit whose result is unknown, because the connection breaks: the server may have committed. */
import { expect, test } from 'vitest'
import { openWallet } from '../../../../src/foundation/storage/postgres/databases.ts'
import { openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import { Writer } from '../../../../src/foundation/storage/writer.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'

needsPostgres()

const walletId = '11111111-1111-4111-8111-111111111111'

test('a commit that fails with the connection is told, and an earlier failure is not', async () => {
  const server = await openServer()
  const url = await server.createDatabase()
  const database = new URL(url).pathname.slice(1)
  const connections = await openPostgres({ url, connections: 10, nodeName: 'test' })
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`
  let isBroken = true
  let unknowns = 0
  const hooks = {
    before: async () => void (isBroken && (await server.asSuperuser(database, end))),
    sync: () => Promise.resolve(),
    after: () => undefined,
    failed: ({ isUnknown }: { isUnknown: boolean }) => void (isUnknown && unknowns++),
  }
  const writer = new Writer(openWallet(connections, walletId), hooks)
  const write = () =>
    writer.write((tx) => tx.insertInto('setting').values({ name: 'name', value: '' }).execute())
  try {
    await expect(write()).rejects.toMatchObject({ status: 503 })
    expect(unknowns).toBe(1)
    isBroken = false
    await write()
    await expect(write()).rejects.toMatchObject({ code: '23505' })
    expect(unknowns).toBe(1)
  } finally {
    await connections.close()
  }
})
