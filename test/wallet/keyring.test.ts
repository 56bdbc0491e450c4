/**
 * The master key in the keyring of the operating system: moved there, rotated there, and never lost in
 * between.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminToken } from '../support/api.ts'
import { isOnPostgres } from '../support/store.ts'
import { Daemon } from '../support/daemon.ts'
import { dyingAt } from '../support/kill-points.ts'
import { keyringMissing, openKeyring, type TestKeyring } from '../support/keyring.ts'
import { withDetail } from '../support/detail.ts'

const apiKey = 'the-tenant-of-the-tests'

const start = (env: Record<string, string> = {}) =>
  Daemon.start({ DEFAULT_WALLET_AUTH_API_KEY: apiKey, ...env })

const rotate = (daemon: Daemon, body: object = {}) =>
  daemon.call('POST /_system/master-key/rotation', { body, adminKey: adminToken })
const reads = async (daemon: Daemon) =>
  (await daemon.call('GET /connections', { apiKey })).body?.contents?.length
async function keyCheck(daemon: Daemon): Promise<{ status: string; detail: string }> {
  const { body } = await daemon.call('GET /_system/doctor', { adminKey: adminToken })
  return body.checks.find(({ name }: { name: string }) => name === 'master-key')
}

/** Starts a daemon that must refuse to start, and returns its error output. */
async function refusal(daemon: Daemon): Promise<string> {
  await expect(daemon.start()).rejects.toThrow()
  return ((await daemon.ended) as { stderr: string }).stderr
}

const fileOf = ({ dataDir }: Daemon) => join(dataDir, 'master.key')

// A database outlives the data folder.
test.skipIf(isOnPostgres || process.platform !== 'linux')(
  'without a keyring the start is refused, and the folder does not change',
  async () => {
    await using daemon = await start()
    const key = readFileSync(fileOf(daemon), 'utf8')
    await daemon.stop()
    Object.assign(daemon.env, {
      AGENT_MASTER_KEY_STORE: 'keyring',
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${daemon.dataDir}/nothing`,
    })
    expect(await refusal(daemon)).toMatch(
      /keyring of the operating system cannot be used: .*AGENT_MASTER_KEY_STORE=file/,
    )
    expect(readFileSync(fileOf(daemon), 'utf8')).toBe(key)
    // A new folder gets no key of another source instead.
    rmSync(daemon.dataDir, { recursive: true })
    expect(await refusal(daemon)).toContain('cannot be used')
    expect(existsSync(fileOf(daemon))).toBe(false)
  },
)

const missing = keyringMissing()
describe.skipIf(missing !== undefined)(
  `with a keyring${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let keyring: TestKeyring
    beforeAll(async () => {
      keyring = await openKeyring()
    })
    afterAll(() => keyring[Symbol.asyncDispose]())

    test('the key of a new folder is in no file and can be rotated; without the keyring the folder does not open', async () => {
      await using own = await openKeyring()
      await using daemon = await start({ AGENT_MASTER_KEY_STORE: 'keyring', ...own.env })
      expect(existsSync(fileOf(daemon))).toBe(false)
      const source = expect.stringMatching(/^the keyring \(identity-agent, [0-9a-f-]{36}\)$/)
      const kept = (number: number) =>
        expect.stringMatching(new RegExp(`^the keyring \\(identity-agent, [0-9a-f-]{36}\\.${number}\\)$`))
      expect((await rotate(daemon)).body).toEqual({ source, isReplaced: true, keptKey: kept(1) })
      expect((await rotate(daemon, { newKey: randomBytes(32).toString('base64') })).body).toEqual({
        source,
        isReplaced: true,
        keptKey: kept(2),
      })
      expect(await keyCheck(daemon)).toMatchObject({
        status: 'ok',
        detail: expect.stringContaining('the keyring (identity-agent, '),
      })
      await daemon.stop()
      await daemon.start()
      expect(await reads(daemon)).toBe(0)
      // The session ends, and the daemon continues.
      await own[Symbol.asyncDispose]()
      expect(await rotate(daemon)).toMatchObject({
        status: 503,
        body: { type: 'error:MasterKeyError:KeyringUnavailable' },
      })
      expect(await keyCheck(daemon)).toMatchObject(withDetail('failed', 'cannot be used'))
      expect(await reads(daemon)).toBe(0)
      await daemon.stop()
      Object.assign(daemon.env, keyring.env)
      expect(await refusal(daemon)).toContain('keyring has no master key of this data folder')
    })

    test('a key is moved out of its file, rotated, and moved back, killed at each step', async () => {
      await using daemon = await start(keyring.env)
      expect((await daemon.call('POST /connections', { apiKey, body: {} })).status).toBe(201)
      const first = readFileSync(fileOf(daemon), 'utf8')
      await daemon.stop()
      daemon.env['AGENT_MASTER_KEY_STORE'] = 'keyring'
      // Starts that move the key, each killed at a step.
      for (const point of ['next-key:after', 'key-row:after', 'key-name:after']) {
        Object.assign(daemon.env, dyingAt(point))
        await refusal(daemon)
        expect(await daemon.stop(), point).toBe('SIGKILL')
      }
      // Rotations, each killed at a step.
      for (const point of ['next-key:after', 'key-row:after']) {
        Object.assign(daemon.env, dyingAt(point))
        await daemon.start()
        expect(await reads(daemon), point).toBe(1)
        expect(existsSync(fileOf(daemon)), point).toBe(false)
        await expect(rotate(daemon), point).rejects.toThrow()
        expect(await daemon.stop(), point).toBe('SIGKILL')
      }
      // The start that finishes the last rotation is killed too.
      Object.assign(daemon.env, dyingAt('key-name:after'))
      await refusal(daemon)
      expect(await daemon.stop()).toBe('SIGKILL')
      daemon.env['FAULTS'] = '{}'
      await daemon.start()
      expect(await keyCheck(daemon)).toMatchObject({ status: 'ok' })
      const newKey = randomBytes(32).toString('base64url')
      expect((await rotate(daemon, { newKey })).body).toMatchObject({ isReplaced: true })
      await daemon.stop()
      daemon.env['AGENT_MASTER_KEY_STORE'] = 'file'
      // The key that was in the file opens nothing.
      writeFileSync(fileOf(daemon), first)
      expect(await refusal(daemon)).toContain('does not belong to')
      writeFileSync(fileOf(daemon), newKey)
      await daemon.start()
      expect(await reads(daemon)).toBe(1)
    })
  },
)
