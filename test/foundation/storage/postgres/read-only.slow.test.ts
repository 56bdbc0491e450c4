/** Connections to a server that only reads, as a standby does until it is promoted. */
import { expect, test } from 'vitest'
import { openWallet } from '../../../../src/foundation/storage/postgres/databases.ts'
import { openPostgres } from '../../../../src/foundation/storage/postgres/open.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import { openServer } from '../../../support/shared-postgres.ts'

needsPostgres()

const walletId = '11111111-1111-4111-8111-111111111111'

test('a write gets 503, and the next one uses a new connection, which may lead to the primary', async () => {
  const server = await openServer()
  const url = await server.createDatabase()
  const role = new URL(url).username
  await server.asSuperuser('postgres', `alter role ${role} set default_transaction_read_only to on`)
  const connections = await openPostgres({ url, connections: 10, nodeName: 'test' })
  const write = () => {
    const row = { name: 'counter', value: '1' }
    const db = openWallet(connections, walletId)
    return db.transaction().execute((tx) => tx.insertInto('setting').values(row).execute())
  }
  try {
    await expect(write()).rejects.toMatchObject({ status: 503, retryAfter: 1 })
    await server.asSuperuser('postgres', `alter role ${role} reset default_transaction_read_only`)
    await write()
  } finally {
    await connections.close()
  }
})
