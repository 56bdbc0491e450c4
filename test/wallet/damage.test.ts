/**
 * Wallet files that are damaged or belong to another wallet: they are quarantined and reported to tenant and
 * operator, and other wallets keep working. Single bit flips: `test/security/flips.slow.test.ts`.
 */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { readConfig } from '../../src/foundation/config/config.ts'
import { diagnoseDataFolder, diagnoseAgent } from '../../src/operations/doctor/diagnose.ts'
import { appendEvent } from '../../src/wallet/events/event.ts'
import { DamagedFileError, toStorageError } from '../../src/foundation/storage/file-errors.ts'
import { findDamage } from '../../src/foundation/storage/inspection.ts'
import { openSqlite } from '../../src/foundation/storage/sqlite.ts'
import { startAgent, type TestAgent } from '../support/agent-from-sources.ts'
import { isOnPostgres } from '../support/store.ts'
import { connect, refusal, until } from '../support/tenants.ts'
import { Webhook } from '../support/webhook.ts'
import { withDetail } from '../support/detail.ts'

const fileOf = ({ dataDir }: { dataDir: string }, id: string) => join(dataDir, 'wallets', `${id}.db`)
const beside = ({ dataDir }: { dataDir: string }, id: string) =>
  readdirSync(join(dataDir, 'wallets')).filter((name) => name.startsWith(id))

// It examines SQLite files.
describe.skipIf(isOnPostgres)('a data folder with three wallets', () => {
  let dataDir: string
  let ids: string[]
  let keys: string[]
  let good: Map<string, Buffer>
  /** Connections that each tenant reads. */
  let answers: string[]

  const read = async ({ url }: TestAgent, key: string) => {
    const call = createClient(url, { apikey: key })
    return JSON.stringify([
      await call('GET /connections'),
      await call('GET /events/webhooks'),
      await call('GET /did-registrar/dids'),
    ])
  }
  const put = (name: string, bytes: Buffer) => writeFileSync(join(dataDir, 'wallets', name), bytes)
  /** The folder after the first agent stopped. */
  const restore = () => {
    for (const name of readdirSync(join(dataDir, 'wallets'))) rmSync(join(dataDir, 'wallets', name))
    for (const [name, bytes] of good) put(name, bytes)
  }

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'identity-agent-'))
    {
      await using agent = await startAgent({ DEFAULT_WALLET_ENABLED: 'false' }, { dataDir })
      const tenants = [await agent.newTenant('a'), await agent.newTenant('b'), await agent.newTenant('c')]
      await connect(tenants[0]!, tenants[1]!)
      await connect(tenants[1]!, tenants[2]!)
      await tenants[0]!.call('POST /events/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
      ;[ids, keys] = [tenants.map(({ walletId }) => walletId), tenants.map(({ apiKey }) => apiKey)]
      answers = []
      for (const key of keys) answers.push(await read(agent, key))
    }
    good = new Map(
      readdirSync(join(dataDir, 'wallets')).map((name) => [
        name,
        readFileSync(join(dataDir, 'wallets', name)),
      ]),
    )
  })
  afterAll(() => rm(dataDir, { recursive: true, force: true }))

  const start = (variables: Record<string, string> = {}) =>
    startAgent({ DEFAULT_WALLET_ENABLED: 'false', ...variables }, { dataDir })

  test('a stop leaves every wallet file and no side files', () => {
    restore()
    for (const id of ids) expect(beside({ dataDir }, id)).toEqual([`${id}.db`])
  })

  test.each([
    [
      'a text',
      () =>
        Buffer.from(
          'this is a text of more than a hundred characters, so that SQLite looks at it. '.repeat(10),
        ),
    ],
    ['nothing', () => Buffer.alloc(0)],
    ['another wallet’s file', () => good.get(`${ids[1]}.db`)!],
    ['half of the file', () => good.get(`${ids[0]}.db`)!.subarray(0, 20_480)],
    [
      'another program’s database',
      () => {
        const path = join(dataDir, `${randomUUID()}.db`)
        const database = openSqlite(path)
        database.exec('create table recipe (name text); insert into recipe values (1)')
        database.close()
        return readFileSync(path)
      },
    ],
  ])('%s in place of a wallet’s file is quarantined', async (_, make) => {
    restore()
    const bytes = make()
    put(`${ids[0]}.db`, bytes)
    await using agent = await start()
    const problem = await refusal(read(agent, keys[0]!))
    const name = beside(agent, ids[0]!).find((file) => /\.damaged-\d{8}T\d{9}Z$/.test(file))!
    expect(problem).toMatchObject({
      status: 503,
      type: 'error:WalletManagementServiceError:WalletUnreadable',
    })
    expect(problem.detail).toContain(`wallets/${name}`)
    expect(existsSync(fileOf(agent, ids[0]!))).toBe(false)
    for (const other of [1, 2]) expect(await read(agent, keys[other]!)).toBe(answers[other])
    const { checks } = await diagnoseAgent(agent.agent)
    expect(checks.find((check) => check.name === 'wallets')).toMatchObject(withDetail('failed', name))
    // It is kept unchanged, except for bytes that SQLite changes in the header of any file that it opens.
    expect(
      readFileSync(join(dataDir, 'wallets', name))
        .subarray(100, bytes.length)
        .equals(bytes.subarray(100)),
    ).toBe(true)

    put(`${ids[0]}.db`, good.get(`${ids[0]}.db`)!)
    expect(await read(agent, keys[0]!)).toBe(answers[0])
    expect((await diagnoseAgent(agent.agent)).checks.find((check) => check.name === 'wallets')).toMatchObject(
      { status: 'ok' },
    )
  })

  test('a deep examination finds any overwritten page of a wallet’s file', async () => {
    restore()
    const path = join(dataDir, 'wallets', `${ids[0]}.db`)
    const sound = good.get(`${ids[0]}.db`)!
    const pages = sound.length / 4_096
    for (let page = 1; page < pages; page++) {
      writeFileSync(path, Buffer.from(sound).fill(0xa5, page * 4_096, (page + 1) * 4_096))
      expect(findDamage(path), `page ${page + 1} of ${pages}`).toBeDefined()
    }
    const { checks } = await diagnoseDataFolder(readConfig({ AGENT_DATA_DIR: dataDir }), true)
    expect(checks.find(({ name }) => name === 'databases')).toMatchObject(
      withDetail('failed', `wallets/${ids[0]}.db`),
    )
  })
})

// It examines SQLite files.
test.skipIf(isOnPostgres)(
  'a file that is damaged while open is closed, examined and quarantined',
  async () => {
    await using agent = await startAgent()
    const [alice, bob] = [await agent.newTenant('alice'), await agent.newTenant('bob')]
    await connect(alice, bob)
    await agent.agent.wallets.use(alice.walletId, async ({ db }) => {
      for (const pragma of ['wal_checkpoint(truncate)', 'cache_size = 0', 'shrink_memory'])
        await sql.raw(`pragma ${pragma}`).execute(db)
    })
    const file = openSync(fileOf(agent, alice.walletId), 'r+')
    writeSync(file, Buffer.alloc(fstatSync(file).size - 4_096, 7), 0, undefined, 4_096)
    closeSync(file)
    const first = await refusal(alice.call('GET /connections'))
    expect(first).toMatchObject({ status: 503, type: 'error:WalletManagementServiceError:WalletUnreadable' })
    await until(
      'a quarantined file',
      () => refusal(alice.call('GET /connections')),
      ({ detail }) => detail.includes('.damaged-'),
    )
    expect((await bob.call('GET /connections')).contents).toHaveLength(1)
  },
)

// It examines SQLite files.
test.skipIf(isOnPostgres)(
  'jobs of a wallet whose file is suspect are processed after its examination',
  async () => {
    await using webhook = await Webhook.open()
    await using agent = await startAgent()
    const { call, walletId } = await agent.newTenant()
    await call('POST /events/webhooks', { body: { url: webhook.url } })
    const { wallets } = agent.agent
    const failing = wallets.use(walletId, async (wallet) => {
      // Simulates a disk that fails after a commit: no change is notified.
      await wallet.db
        .transaction()
        .execute((tx) =>
          appendEvent(tx, { type: 'ConnectionUpdated', subject: 'a thread', data: { thid: 'a thread' } }),
        )
      throw new DamagedFileError(wallets.folder.pathOf(walletId), 'may lack what was written last')
    })
    await expect(failing).rejects.toMatchObject({
      type: 'error:WalletManagementServiceError:WalletUnreadable',
    })
    await webhook.waitFor('the event', ({ data }) => data['thid'] === 'a thread')
  },
)

test('temporary errors are not classified as damage', () => {
  for (const code of ['SQLITE_BUSY', 'SQLITE_CANTOPEN', 'SQLITE_NOMEM', 'EACCES']) {
    const error = Object.assign(new Error('for now'), { code })
    expect(toStorageError(error, 'a.db')).toBe(error)
  }
  const tooManyFiles = Object.assign(new Error('for now'), { code: 'EMFILE' })
  expect(toStorageError(tooManyFiles, 'a.db')).toMatchObject({
    type: 'error:ServiceUnavailable',
    status: 503,
    retryAfter: 1,
  })
  for (const code of ['EROFS', 'EIO', 'SQLITE_READONLY', 'SQLITE_READONLY_DIRECTORY', 'SQLITE_IOERR_READ'])
    expect(toStorageError(Object.assign(new Error('a fault'), { code }), 'a.db'), code).toMatchObject({
      type: 'error:ServiceUnavailable',
      retryAfter: 10,
    })
})

// It examines SQLite files.
test.skipIf(isOnPostgres)(
  'a folder in place of a file is quarantined, and a copy that is put back is opened',
  async () => {
    await using agent = await startAgent()
    const { call, walletId } = await agent.newTenant()
    await call('POST /connections', { body: {} })
    const path = fileOf(agent, walletId)
    await agent.agent.wallets[Symbol.asyncDispose]()
    renameSync(path, `${path}.elsewhere`)
    mkdirSync(path)
    await using again = await startAgent({}, { dataDir: agent.dataDir })
    const use = again.agent.wallets.use(walletId, () => Promise.resolve())
    await expect(use).rejects.toMatchObject({ type: 'error:WalletManagementServiceError:WalletUnreadable' })
    expect(existsSync(path)).toBe(false)
    renameSync(`${path}.elsewhere`, path)
    await again.agent.wallets.use(walletId, async ({ db }) =>
      expect(await db.selectFrom('record').selectAll().execute()).toHaveLength(1),
    )
  },
)
