/** The audit log contains every change of a daemon that is killed around the change. */
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Daemon, temporaryFolder } from '../_daemon.ts'

const adminKey = 'the-administrator-of-the-tests'
const preload = `--import=${fileURLToPath(new URL('./_probe.mjs', import.meta.url))}`

test('killed before and after the change', { timeout: 60_000 }, async () => {
  await using folder = await temporaryFolder()
  await using daemon = await Daemon.start({
    AGENT_DATA_DIR: join(folder.path, 'data'),
    AGENT_CONFIG_DIR: join(folder.path, 'config'),
    ADMIN_TOKEN: adminKey,
    DEFAULT_WALLET_ENABLED: 'false',
    NODE_OPTIONS: preload,
    // The start writes three times.
    FAULTS: JSON.stringify({ kill: { point: 'audit:after', nth: 4 } }),
  })
  const make = (name: string) => daemon.call('POST /wallets', { adminKey, body: { name } })
  const read = async (key: string): Promise<object[]> => (await daemon.call(key, { adminKey })).body.contents
  await expect(make('begun')).rejects.toThrow()
  expect(await daemon.stop()).toBe('SIGKILL')

  // This start writes twice: for the unfinished request, and for old entries.
  daemon.env['FAULTS'] = JSON.stringify({ kill: { point: 'audit:before', nth: 4 } })
  await daemon.start()
  expect(await read('GET /wallets')).toEqual([])
  expect(await read('GET /audit')).toMatchObject([
    { action: 'POST /wallets', outcome: 'unknown' },
    { actor: 'agent' },
  ])
  await expect(make('done')).rejects.toThrow()
  expect(await daemon.stop()).toBe('SIGKILL')

  daemon.env['FAULTS'] = '{}'
  await daemon.start()
  expect(await read('GET /wallets')).toMatchObject([{ name: 'done' }])
  expect((await read('GET /audit')).slice(0, 2)).toMatchObject([
    { sequence: 3, actor: 'admin', action: 'POST /wallets', outcome: 'unknown' },
    { sequence: 2, actor: 'admin', action: 'POST /wallets', outcome: 'unknown' },
  ])
  expect((await daemon.call('GET /audit/verification', { adminKey })).body).toMatchObject({
    isIntact: true,
    entries: 3,
  })
})
