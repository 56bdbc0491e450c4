/** A daemon killed at any step of a master key rotation has either the old or the new key afterwards. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminToken } from '../support/api.ts'
import { Daemon } from '../support/daemon.ts'
import { dyingAt } from '../support/kill-points.ts'

const apiKey = 'the-tenant-of-the-tests'
const newKey = () => randomBytes(32).toString('base64url')

/**
 * Starts a daemon that dies at a point. If the start itself completes a rotation, it dies at that point
 * during the start, and once more after the last step.
 */
async function startUntil(daemon: Daemon, point: string): Promise<void> {
  for (const at of [point, 'key-name:after', point]) {
    Object.assign(daemon.env, dyingAt(at))
    const failure = await daemon.start().catch((error: Error) => error.message)
    if (failure === undefined) return
    expect(await daemon.stop(), `${point}: ${failure}`).toBe('SIGKILL')
  }
}

const rotate = (daemon: Daemon, body: object) =>
  daemon.call('POST /_system/master-key/rotation', { body, adminKey: adminToken })
const connections = async (daemon: Daemon) =>
  (await daemon.call('GET /connections', { apiKey })).body?.contents?.length

/** The keys that are kept beside the master key. */
const keptIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.startsWith('master.key.2'))
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())

/** Rotates the key with a kill at the point. */
async function dieOf(daemon: Daemon, newKey: string): Promise<void> {
  await expect(rotate(daemon, { newKey })).rejects.toThrow()
  expect(await daemon.stop()).toBe('SIGKILL')
}

test('a key in a file', async () => {
  await using daemon = await Daemon.start({
    DEFAULT_WALLET_AUTH_API_KEY: apiKey,
    ...dyingAt('next-key:before'),
  })
  const file = join(daemon.dataDir, 'master.key')
  expect((await daemon.call('POST /connections', { apiKey, body: {} })).status).toBe(201)
  const expected = { key: readFileSync(file, 'utf8').trim() }
  // The start after the fourth kill is killed before the file is renamed, and the start after the fifth kill
  // after that.
  for (const [point, isDone] of [
    ['next-key:before', false],
    ['next-key:after', false],
    ['key-row:before', false],
    ['key-row:after', true],
    ['key-name:before', true],
    ['key-name:after', true],
    ['no more', false],
  ] as const) {
    if (point !== 'next-key:before') await startUntil(daemon, point)
    expect(await connections(daemon), point).toBe(1)
    expect([readFileSync(file, 'utf8').trim(), existsSync(`${file}.next`)], point).toEqual([
      expected.key,
      false,
    ])
    if (point === 'no more') break
    const key = newKey()
    await dieOf(daemon, key)
    // The present key is kept before the first step that can be killed.
    expect(keptIn(daemon.dataDir), point).toContain(expected.key)
    if (isDone) expected.key = key
  }
})

test('a key in a variable', async () => {
  const [first, second] = [newKey(), newKey()]
  await using daemon = await Daemon.start({
    DEFAULT_WALLET_AUTH_API_KEY: apiKey,
    AGENT_MASTER_KEY: first,
    ...dyingAt('key-row:before'),
  })
  const startWith = (key: string) => {
    daemon.env['AGENT_MASTER_KEY'] = key
    return daemon.start()
  }
  await dieOf(daemon, second)
  await expect(startWith(second)).rejects.toThrow()
  Object.assign(daemon.env, dyingAt('key-row:after'))
  await startWith(first)
  await dieOf(daemon, second)
  for (const key of [first, second]) {
    await startWith(key)
    expect(await connections(daemon)).toBe(0)
    await daemon.stop()
  }
  await expect(startWith(first)).rejects.toThrow()
})
