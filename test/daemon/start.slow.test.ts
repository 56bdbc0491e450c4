/** A daemon that cannot start prints one sentence, exits with the documented code, and changes no files. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Daemon, type Prefix } from '../support/daemon.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const main = fileURLToPath(new URL('../../bin/daemon.cjs', import.meta.url))

const noDatabase = 'no database at all, and longer than its head of a hundred bytes would be: '.repeat(20)

const settings = (folder: string, more: Record<string, string> = {}) => ({
  NODE_ENV: 'production',
  AGENT_DATA_DIR: join(folder, 'data'),
  AGENT_CONFIG_DIR: join(folder, 'config'),
  AGENT_HTTP_PORT: '0',
  AGENT_DIDCOMM_PORT: '0',
  AGENT_LOG_LEVEL: 'warn',
  ...more,
})

/** One to three sentences without a stack trace. */
const sentence = /^[A-Z][^\n]*\.$/

/** Starts a daemon that is expected to fail. Returns its exit code and its standard error. */
async function tryStart(
  env: Record<string, string>,
  prefix: Prefix = [],
): Promise<[exitCode: number | undefined, stderr: string]> {
  const [program, ...rest] = [...prefix, process.execPath, main]
  const { exitCode, stderr } = await execa(program, rest, { env, reject: false, timeout: 100_000 })
  return [exitCode, stderr]
}

/** Starts a daemon, which must fail with `exitCode` and a sentence with these parts. Returns the sentence. */
async function failedStart(
  env: Record<string, string>,
  exitCode: number,
  ...parts: string[]
): Promise<string> {
  const failed = await tryStart(env)
  expect(failed).toEqual([exitCode, expect.stringMatching(sentence)])
  for (const part of parts) expect(failed[1]).toContain(part)
  return failed[1]
}

/** The content of a folder, without the side files of open databases. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  )
  const stable = files.filter((name) => !/-(?:wal|shm)$/.test(name)).toSorted()
  return Object.fromEntries(
    stable.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  )
}

// V8 rejects cached code of other flags and of other versions.
test.each([
  { flags: [], isRejected: 'false' },
  { flags: ['--no-opt'], isRejected: 'true' },
])(
  'the daemon starts from V8 code that the build cached, or compiles ($flags)',
  async ({ flags, isRejected }) => {
    const program = `import { load } from '${new URL('../../bin/load.cjs', import.meta.url).href}'; const { script, exports } = load('daemon/agent.cjs', 'daemon'); console.log(script.cachedDataRejected); exports.main()`
    const outcome = await execa(process.execPath, [...flags, '--input-type=module', '-e', program], {
      env: { AGENT_LOG_LEVEL: 'loud' },
      reject: false,
    })
    expect(outcome).toMatchObject({
      exitCode: 2,
      stdout: isRejected,
      stderr: expect.stringContaining('AGENT_LOG_LEVEL'),
    })
  },
)

test('a second daemon on a folder is refused, and the first one continues', async () => {
  await using folder = await temporaryFolder()
  await using first = await Daemon.start(settings(folder.path))
  await failedStart(settings(folder.path), 5, first.url)
  expect((await first.call('GET /_system/health')).status).toBe(200)
})

test('a port that is in use is named, and no folder is filled', async () => {
  await using folder = await temporaryFolder()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = String((server.address() as AddressInfo).port)
  for (const name of ['AGENT_HTTP_PORT', 'AGENT_DIDCOMM_PORT'])
    await failedStart(settings(folder.path, { [name]: port }), 5, port, name)
  expect(Object.keys(contents(join(folder.path, 'data')))).toEqual(['daemon.lock'])
  server.close()
})

test('an unusable folder is named with the path at fault', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await writeFile(data, 'a file where the folder should be')
  const faults: [path: string, reason: string][] = [
    [data, `${data} is not a folder`],
    [join(data, 'deep', 'below'), `${data} is not a folder`],
    // Node's recursive mkdir would never return here.
    ...(existsSync('/proc/self')
      ? ([['/proc/identity-agent/data', '/proc accepts no new folders']] as [string, string][])
      : []),
  ]
  for (const [path, reason] of faults) {
    const said = `The data folder ${path} cannot be used: ${reason}.`
    await failedStart(settings(folder.path, { AGENT_DATA_DIR: path }), 1, said, 'AGENT_DATA_DIR')
  }
  expect(readFileSync(data, 'utf8')).toBe('a file where the folder should be')
})

/** Root without its right to read and write every file, as all other users. */
const limited = ['setpriv', '--bounding-set=-dac_override,-dac_read_search']
const isRoot = process.getuid?.() === 0
const canLimit = isRoot && spawnSync(limited[0]!, [...limited.slice(1), 'true']).status === 0

test.skipIf(isRoot && !canLimit)('a folder without permission is named', async () => {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await mkdir(data, { mode: 0o500 })
  for (const path of [data, join(data, 'below')]) {
    const said = `${data} must be readable and writable for the user with id ${process.getuid!()}`
    const env = settings(folder.path, { AGENT_DATA_DIR: path })
    const failed = await tryStart(env, canLimit ? limited : [])
    expect(failed).toEqual([1, expect.stringMatching(sentence)])
    expect(failed[1]).toContain(said)
  }
  await chmod(data, 0o700)
})

test('an invalid lock file is named with a remedy', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'data', 'daemon.lock')
  await mkdir(join(folder.path, 'data'), { mode: 0o700 })
  await writeFile(path, noDatabase)
  await failedStart(settings(folder.path), 1, `${path} is damaged`, 'remove the file')
  await rm(path)
  await using daemon = await Daemon.start(settings(folder.path))
  expect((await daemon.call('GET /_system/health')).status).toBe(200)
})

describe('the folders of a daemon that was stopped', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let daemon: Daemon
  let data: string
  const readProfile = () =>
    JSON.parse(readFileSync(join(folder.path, 'config', 'profiles', 'local.json'), 'utf8')) as {
      adminToken: string
      apiKey: string
    }
  beforeAll(async () => {
    folder = await temporaryFolder()
    data = join(folder.path, 'data')
    daemon = await Daemon.start(settings(folder.path))
    await daemon.stop()
  })
  afterAll(() => folder[Symbol.asyncDispose]())

  test('a damaged file, or a folder in its place, is named with a remedy, and nothing else changes', async () => {
    const before = contents(data)
    for (const name of ['vdr.db', 'agent.db']) {
      const path = join(data, name)
      const whole = readFileSync(path)
      await writeFile(path, noDatabase)
      expect(await tryStart(settings(folder.path))).toEqual([
        1,
        `${path} is damaged: file is not a database. Restore the file from a backup, and start again; nothing else in the folder was changed.`,
      ])
      await rm(path)
      await mkdir(path)
      expect(await tryStart(settings(folder.path))).toEqual([
        1,
        expect.stringContaining(`${path} is a folder, not a file. Restore the file`),
      ])
      await rm(path, { recursive: true })
      await writeFile(path, whole, { mode: 0o600 })
    }
    expect(contents(data)).toEqual(before)
  })

  test('a wrong or missing master key is refused, and nothing changes', async () => {
    const before = contents(data)
    const other = Buffer.alloc(32, 7).toString('base64url')
    // With TEST_STORE=postgres they name the database, without which a new agent would start over files.
    const { env } = daemon
    expect(await failedStart({ ...env, AGENT_MASTER_KEY: other }, 4)).not.toContain(other)
    expect(contents(data)).toEqual(before)

    const path = join(data, 'master.key')
    const masterKey = readFileSync(path)
    await rm(path)
    await failedStart(env, 4)
    expect(Object.keys(contents(data))).not.toContain('master.key')
    await writeFile(path, masterKey, { mode: 0o600 })
  })

  test('files are readable by their owner only and contain no generated secret', () => {
    const { apiKey, adminToken } = readProfile()
    for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      const { mode } = statSync(join(data, name))
      expect(mode & 0o077, name).toBe(0)
      if (!statSync(join(data, name)).isFile()) continue
      const bytes = readFileSync(join(data, name), 'latin1')
      for (const secret of [apiKey, adminToken]) expect(bytes.includes(secret), name).toBe(false)
    }
  })

  test('the next start has the generated secrets of the first one', async () => {
    const before = readProfile()
    await daemon.start()
    const { adminToken, apiKey } = readProfile()
    expect([adminToken, apiKey]).toEqual([before.adminToken, before.apiKey])
    expect((await daemon.call('GET /wallets', { adminKey: adminToken })).body.contents).toHaveLength(1)
    expect((await daemon.call('GET /connections', { apiKey })).status).toBe(200)
    await daemon.stop()
  })
})

test('a folder in place of a wallet’s file is answered 503 and quarantined', async () => {
  await using folder = await temporaryFolder()
  const apiKey = 'the-key-of-the-default-wallet'
  await using daemon = await Daemon.start(settings(folder.path, { DEFAULT_WALLET_AUTH_API_KEY: apiKey }))
  await daemon.stop()
  const wallets = join(folder.path, 'data', 'wallets')
  const name = readdirSync(wallets).find((file) => file.endsWith('.db'))!
  await rm(join(wallets, name))
  await mkdir(join(wallets, name))
  await daemon.start()
  for (let n = 0; n < 2; n++) {
    expect(await daemon.call('GET /connections', { apiKey })).toMatchObject({
      status: 503,
      body: {
        type: 'error:WalletManagementServiceError:WalletUnreadable',
        detail: expect.stringContaining(`wallets/${name}.damaged-`),
      },
    })
  }
})

test('an invalid variable is named', async () => {
  await using folder = await temporaryFolder()
  await failedStart(settings(folder.path, { AGENT_HTTP_PORT: 'eighty' }), 2, 'AGENT_HTTP_PORT')
})
