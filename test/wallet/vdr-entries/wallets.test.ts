/** VDR entries of a wallet that is exported or deleted, and of an agent that restarts. */
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { newFolder } from '../../support/folder.ts'
import { isOnPostgres } from '../../support/store.ts'
import { exportFrom, importInto } from '../../operations/wallet-export/_transfer.ts'
import { askEntry, createEntry } from './_entries.ts'

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))

test('entries in the database move with an exported wallet, which changes them at the other agent', async () => {
  await using old = await startAgent()
  await using other = await startAgent()
  const { walletId, apiKey } = await old.newTenant()
  const url = await createEntry(old, apiKey, bytes('0102'))
  const file = await exportFrom(old, walletId, { move: true })
  await importInto(other, file)
  const moved = { status: 503, body: { type: 'error:WalletManagementServiceError:WalletMoved' } }
  expect(await askEntry(old, 'PUT', { url }, { apiKey, content: bytes('03') })).toMatchObject(moved)
  const { id } = await other.admin('POST /iam/entities', { body: { name: 'moved', walletId } })
  const key = await other.admin('POST /iam/entities/{id}/api-keys', { path: { id }, body: {} })
  expect((await askEntry(other, 'GET', { url })).bytes).toEqual(bytes('0102'))
  const changed = { apiKey: key.apiKey, content: bytes('04') }
  expect((await askEntry(other, 'PUT', { url }, changed)).status).toBe(200)
})

test('the entries of a deleted wallet are deleted', async () => {
  await using agent = await startAgent(isOnPostgres ? {} : { VDR_MEMORY_DRIVER_ENABLED: 'true' })
  const { walletId, apiKey } = await agent.newTenant()
  const urls = [await createEntry(agent, apiKey, bytes('01'))]
  if (!isOnPostgres) urls.push(await createEntry(agent, apiKey, bytes('01'), { drid: 'memory' }))
  await agent.admin('DELETE /wallets/{walletId}', { path: { walletId } })
  for (const url of urls) expect((await askEntry(agent, 'GET', { url })).status).toBe(404)
})

test.skipIf(isOnPostgres)('a restart keeps entries in the database, and loses those in memory', async () => {
  const options = { dataDir: newFolder() }
  const variables = { VDR_MEMORY_DRIVER_ENABLED: 'true' }
  const before = await startAgent(variables, options)
  const { apiKey } = await before.newTenant()
  const urls = [
    await createEntry(before, apiKey, bytes('01')),
    await createEntry(before, apiKey, bytes('01'), { drid: 'memory' }),
  ]
  await before[Symbol.asyncDispose]()
  await using after = await startAgent(variables, options)
  const statuses = await Promise.all(urls.map(async (url) => (await askEntry(after, 'GET', { url })).status))
  expect(statuses).toEqual([200, 404])
})

test('an agent of several processes does not start with the driver memory', async () => {
  const memory = { VDR_MEMORY_DRIVER_ENABLED: 'true' }
  await expect(startAgent({ ...memory, AGENT_DATABASE_URL: 'postgres://a@localhost/b' })).rejects.toThrow(
    'VDR_MEMORY_DRIVER_ENABLED',
  )
})
