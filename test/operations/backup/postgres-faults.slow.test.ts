/**
 * Backups over PostgreSQL that are interrupted or refused, that two nodes make under load, and that are made
 * around a rotation of the master key.
 */
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import type { Client } from '../../../daemon/client/client.ts'
import { loadBackup } from '../../../src/operations/backup/load.ts'
import { writeManifest } from '../../../src/operations/backup/manifest.ts'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { openAgentDbToRead } from '../../../src/foundation/storage/database.ts'
import { readSchema } from '../../../src/foundation/storage/inspection.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { findAgentKey } from '../../../src/wallet/agent-key.ts'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { Daemon } from '../../support/daemon.ts'
import { newFolder } from '../../support/folder.ts'
import { dyingAt } from '../../support/kill-points.ts'
import { needsPostgres } from '../../support/needs-postgres.ts'
import type { Server } from '../../support/postgres.ts'
import { openServer } from '../../support/shared-postgres.ts'
import { connect, refusal } from '../../support/tenants.ts'
import { startNodes } from '../../cluster/_nodes.ts'
import { readAs, unpack, variablesOf } from '../../foundation/storage/_folder.ts'
import { restore, verify } from './_backup.ts'
import { rowsOf } from './_rows.ts'

needsPostgres()

let server: Server
beforeAll(async () => void (server = await openServer()))

const newKey = () => randomBytes(32).toString('base64url')
const masterKey = newKey()

const settings = (url: string, name = 'a') => ({
  AGENT_DATABASE_URL: url,
  AGENT_NODE_NAME: name,
  AGENT_LEASE_SECONDS: '2',
  AGENT_MASTER_KEY: masterKey,
})

const backUp = ({ admin }: { admin: Client }, folder: string, includesMasterKey = false) =>
  admin('POST /_system/backups', { body: { folder, includesMasterKey } })

const load = (folder: string, url: string, key = masterKey) =>
  loadBackup(
    folder,
    readConfig({ AGENT_DATABASE_URL: url, AGENT_MASTER_KEY: key, AGENT_DATA_DIR: newFolder() }),
  )

/** The number of wallets in a database, read as the superuser. */
async function countWallets(url: string): Promise<number> {
  const { rows } = await server.asSuperuser(
    new URL(url).pathname.slice(1),
    'select count(*)::integer as count from wallet',
  )
  return rows[0].count
}

test('a daemon that is killed leaves a whole backup or none, and a killed restoration a whole database or an empty one', async () => {
  const root = newFolder()
  const points = ['backup-files:after', 'backup-name:before', 'backup-name:after']
  await using daemon = await Daemon.start({
    ...settings(await server.createDatabase()),
    ...dyingAt(points[0]!),
  })
  await daemon.newTenant('tenant')
  for (const [index, point] of points.entries()) {
    await expect(backUp(daemon, join(root, point.replace(':', '-')))).rejects.toThrow()
    expect(await daemon.stop()).toBe('SIGKILL')
    if (index + 1 === points.length) break
    Object.assign(daemon.env, dyingAt(points[index + 1]!))
    await daemon.start()
  }
  expect(readdirSync(root).filter((name) => !name.endsWith('.part'))).toEqual(['backup-name-after'])
  const folder = join(root, 'backup-name-after')
  const program = fileURLToPath(new URL('../../../dist/daemon/backup.js', import.meta.url))
  const url = await server.createDatabase({ isEmpty: true })
  for (const [point, wallets] of [
    ['backup-files:before', 0],
    ['backup-files:after', 0],
    ['backup-name:after', 2],
  ] as const) {
    const env = { ...process.env, ...settings(url), AGENT_DATA_DIR: newFolder(), ...dyingAt(point) }
    const child = spawn(process.execPath, [program, 'load', folder], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    expect(await once(child, 'exit'), point).toEqual([null, 'SIGKILL'])
    expect(await countWallets(url), point).toBe(wallets)
  }
  delete daemon.env['FAULTS']
  daemon.env['AGENT_DATABASE_URL'] = url
  await daemon.start()
  expect((await daemon.admin('GET /wallets')).contents).toHaveLength(2)
})

test('a backup is restored into an unused database only, and is refused in one sentence', async () => {
  const root = newFolder()
  const folder = join(root, 'backup')
  const used = await server.createDatabase()
  const agent = await startAgent(settings(used))
  const { walletId } = await agent.newTenant('tenant')
  await backUp(agent, folder)
  await expect(load(folder, used)).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringMatching(
      /^The node a runs over the database 127[^ ]+\. Nothing was changed\. Restore into a new/,
    ),
  })
  await agent[Symbol.asyncDispose]()
  await expect(load(folder, used)).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringContaining('has the data of an agent already (rows in agent_setting)'),
  })
  await expect(loadBackup(folder, readConfig({ AGENT_DATA_DIR: root }))).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('AGENT_DATABASE_URL is not set'),
  })
  const unused = await server.createDatabase({ isEmpty: true })
  expect(await load(folder, unused, newKey())).toMatchObject({ masterKey: 'does not open', faults: [] })
  // A changed file is found before the database is touched.
  const wallet = openSqlite(join(folder, 'wallets', `${walletId}.db`))
  wallet.prepare('insert into setting (name, value) values (?, ?)').run('note', 'a\0b')
  wallet.close()
  const empty = await server.createDatabase({ isEmpty: true })
  expect(await load(folder, empty)).toMatchObject({ faults: [{ path: `wallets/${walletId}.db` }] })
})

test('texts with U+0000 are refused, and wallets without rows are named', async () => {
  const root = newFolder()
  const url = await server.createDatabase({ isEmpty: true })
  await using files = await startAgent({ AGENT_MASTER_KEY: masterKey })
  const sender = await files.newTenant('sender')
  await files.agent.wallets.use(sender.walletId, (wallet) =>
    wallet.transaction((tx) => tx.insertInto('setting').values({ name: 'note', value: 'a\0b' }).execute()),
  )
  await backUp(files, join(root, 'with-nul'))
  await expect(load(join(root, 'with-nul'), url)).rejects.toMatchObject({
    exitCode: 1,
    message: `wallets/${sender.walletId}.db has a text with the character U+0000, which PostgreSQL cannot store. Nothing was restored. Restore the backup into a folder with --data-dir.`,
  })
  expect(await countWallets(url)).toBe(0)

  await using agent = await startAgent(settings(url))
  const { walletId } = await agent.newTenant('tenant')
  await server.asSuperuser(
    new URL(url).pathname.slice(1),
    `delete from setting where wallet_id = '${walletId}'`,
  )
  expect(await backUp(agent, join(root, 'without'))).toMatchObject({
    wallets: 1,
    missing: [{ walletId, reason: 'its rows are missing' }],
  })
  expect(await verify(join(root, 'without'), root, { AGENT_MASTER_KEY: masterKey })).toMatchObject({
    masterKey: 'opens',
    faults: [],
  })
})

test('a backup of release 0.1.0 is migrated, and the backup itself is unchanged', async () => {
  const folder = newFolder()
  const { tenants, ...keys } = unpack('1', folder)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.db'),
  )
  const files = paths.map((path) => {
    const content = readFileSync(join(folder, path))
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { path, bytes: content.length, sha256, schema: readSchema(join(folder, path)) }
  })
  const variables = variablesOf(keys)
  await using db = openAgentDbToRead(join(folder, 'agent.db'))
  const { agentKey } = (await findAgentKey(readConfig({ AGENT_DATA_DIR: folder, ...variables }), db))!
  const instant = new Date().toISOString()
  await writeManifest(folder, agentKey, { format: 1, agentVersion: '0.1.0', instant, files, missing: [] })
  const url = await server.createDatabase({ isEmpty: true })
  expect(await load(folder, url, keys.masterKey)).toMatchObject({ masterKey: 'opens', faults: [] })
  expect((await verify(folder, folder, variables)).faults).toEqual([])
  await using agent = await startAgent({ ...settings(url), ...variables })
  for (const { apiKey, reads } of tenants) expect(await readAs(agent.url, apiKey)).toEqual(reads)
})

test('two nodes under load: what a wallet has sent is in the backup of the one that received it', async () => {
  const root = newFolder()
  await using nodes = await startNodes(['a', 'b'])
  const [alice, bob] = [await nodes.newTenant('alice'), await nodes.newTenant('bob')]
  const { inviterConnectionId: connectionId } = await connect(alice, bob)
  const state = { isOver: false, sent: 0 }
  const senders = Array.from({ length: 3 }, async () => {
    while (!state.isOver) {
      const content = `message ${state.sent++}`
      await alice.call('POST /messages', { body: { connectionId, content } })
      await sleep(20)
    }
  })
  const known: { sent: number; received: number }[] = []
  for (const [index, daemon] of [...nodes.daemons, ...nodes.daemons].entries()) {
    const folder = join(root, String(index))
    const made = await backUp(daemon, folder)
    expect(made).toMatchObject({ node: daemon.env['AGENT_NODE_NAME'], missing: [], heldMs: 0 })
    const {
      [`wallets/${alice.walletId}.db message`]: ofAlice,
      [`wallets/${bob.walletId}.db message`]: ofBob,
    } = rowsOf(folder)
    const sent = ofAlice!.map((row) => JSON.parse(row as string)).filter(({ sent_at }) => sent_at !== null)
    const received = new Set(ofBob!.map((row) => JSON.parse(row as string).content))
    expect(
      sent.filter(({ content }) => !received.has(content)),
      folder,
    ).toEqual([])
    known.push({ sent: sent.length, received: received.size })
  }
  state.isOver = true
  await Promise.all(senders)
  expect(known.at(-1)!.sent).toBeGreaterThan(0)
})

test('the master key is rotated on two nodes, and backups from before, during and after it restore', async () => {
  const root = newFolder()
  const [url, next] = [await server.createDatabase(), newKey()]
  const nodes = { a: await startAgent(settings(url, 'a')), b: await startAgent(settings(url, 'b')) }
  const tenant = await nodes.a.newTenant('tenant')
  await backUp(nodes.a, join(root, 'before'), true)
  expect(await refusal(nodes.b.admin('POST /_system/master-key/rotation', { body: {} }))).toMatchObject({
    status: 422,
  })
  const rotated = await nodes.b.admin('POST /_system/master-key/rotation', { body: { newKey: next } })
  expect(rotated).toMatchObject({ source: 'AGENT_MASTER_KEY', isReplaced: false })
  await backUp(nodes.a, join(root, 'during'))
  // The configured key is not the one of the backup any more.
  expect(await refusal(backUp(nodes.a, join(root, 'refused'), true))).toMatchObject({
    status: 422,
    type: 'error:BackupError:MasterKeyNotUsable',
  })
  const opensConnections = async (agent: TestAgent) => {
    const { status } = await agent.send('GET', '/connections', { headers: { apikey: tenant.apiKey } })
    expect(status).toBe(200)
  }
  for (const name of ['a', 'b'] as const) {
    await nodes[name][Symbol.asyncDispose]()
    nodes[name] = await startAgent({ ...settings(url, name), AGENT_MASTER_KEY: next })
    await opensConnections(nodes[name])
  }
  expect(await nodes.b.admin('GET /audit/verification')).toMatchObject({ isIntact: true })
  await nodes.b[Symbol.asyncDispose]()
  await expect(startAgent(settings(url, 'b'))).rejects.toThrow('does not belong to')
  await backUp(nodes.a, join(root, 'after'), true)
  await nodes.a[Symbol.asyncDispose]()
  const opens = async (name: string, key: string) =>
    (await verify(join(root, name), root, { AGENT_MASTER_KEY: key })).masterKey
  expect(await opens('during', masterKey)).toBe('opens')
  expect(await opens('during', next)).toBe('opens')
  for (const name of ['before', 'during', 'after']) {
    const restored = await server.createDatabase({ isEmpty: true })
    const key = name === 'before' ? masterKey : next
    expect(await load(join(root, name), restored, key)).toMatchObject({ masterKey: 'opens', faults: [] })
    await using agent = await startAgent({ ...settings(restored), AGENT_MASTER_KEY: key })
    await opensConnections(agent)
  }
  expect(await restore(join(root, 'after'), join(root, 'data'))).toMatchObject({ masterKey: 'opens' })
  expect(existsSync(join(root, 'data', 'master.key'))).toBe(true)
})
