/**
 * Imports into PostgreSQL: a process that is killed leaves all rows or none, and so does a wallet that cannot
 * be stored.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { walletTables } from '../../../src/foundation/storage/postgres/wallet-rows.ts'
import { sharedAgent } from '../../support/agent.ts'
import { adminToken } from '../../support/api.ts'
import { Daemon } from '../../support/daemon.ts'
import { dyingAt } from '../../support/kill-points.ts'
import { needsPostgres } from '../../support/needs-postgres.ts'
import { openServer } from '../../support/shared-postgres.ts'
import { exportFrom, passphrase } from './_transfer.ts'

needsPostgres()

/** An export of a wallet, after a change of its contents. */
async function exportWith(name: string, value: string): Promise<{ walletId: string; bytes: Buffer }> {
  const agent = await sharedAgent({ AGENT_DATABASE_URL: '' })
  const { walletId } = await agent.newTenant('alice')
  await agent.agent.wallets.use(walletId, (wallet) =>
    wallet.transaction((tx) => tx.insertInto('setting').values({ name, value }).execute()),
  )
  return { walletId, bytes: await exportFrom(agent, walletId) }
}

async function startOnPostgres(more: Record<string, string> = {}) {
  const server = await openServer()
  const url = await server.createDatabase()
  const daemon = await Daemon.start({
    AGENT_DATABASE_URL: url,
    AGENT_LEASE_SECONDS: '2',
    AGENT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64url'),
    DEFAULT_WALLET_ENABLED: 'false',
    ...more,
  })
  onTestFinished(() => daemon[Symbol.asyncDispose]())
  /** The number of rows of all wallets, which the agent itself cannot count. */
  const countRows = async () => {
    const counts = ['wallet', ...walletTables].map((table) => `(select count(*) from ${table})`)
    const sum = `select ${counts.join(' + ')} as count`
    const { rows } = await server.asSuperuser(new URL(url).pathname.slice(1), sum)
    return Number(rows[0].count)
  }
  return { daemon, countRows }
}

/** @returns undefined if the daemon dies */
async function importInto(daemon: Daemon, bytes: Uint8Array) {
  const response = await fetch(`${daemon.url}/wallets/import`, {
    method: 'POST',
    headers: {
      'x-admin-api-key': adminToken,
      'content-type': 'application/octet-stream',
      'x-passphrase': Buffer.from(passphrase).toString('base64url'),
    },
    body: bytes as NonNullable<RequestInit['body']>,
  }).catch(() => undefined)
  return response && { status: response.status, body: (await response.json()) as any }
}

test('a node that is killed leaves all rows of an import or none', async () => {
  const { walletId, bytes } = await exportWith('note', 'text')
  const { daemon, countRows } = await startOnPostgres(dyingAt('import-rows:before'))
  for (const next of ['import-contents:after', 'import-rows:after']) {
    expect(await importInto(daemon, bytes)).toBeUndefined()
    expect(await daemon.stop()).toBe('SIGKILL')
    Object.assign(daemon.env, dyingAt(next))
    await daemon.start()
    expect(await countRows(), next).toBe(0)
    expect(existsSync(join(daemon.dataDir, 'wallets', 'transit'))).toBe(false)
  }
  expect(await importInto(daemon, bytes)).toBeUndefined()
  Object.assign(daemon.env, dyingAt('no more'))
  await daemon.stop()
  await daemon.start()
  expect(await countRows()).toBeGreaterThan(2)
  expect(await daemon.admin('GET /wallets/{walletId}', { path: { walletId } })).toMatchObject({
    id: walletId,
  })
  expect(await importInto(daemon, bytes)).toMatchObject({
    status: 422,
    body: { type: 'error:WalletManagementServiceError:DuplicatedWalletSeed' },
  })
})

test('a text with U+0000 is refused, and nothing is left', async () => {
  const { bytes } = await exportWith('note', 'a\u0000b')
  const { daemon, countRows } = await startOnPostgres()
  expect(await importInto(daemon, bytes)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('U+0000') },
  })
  expect(await countRows()).toBe(0)
  expect(readdirSync(join(daemon.dataDir, 'wallets', 'transit'))).toEqual([])
})
