/** The audit log contains every change of a daemon that is killed around the change. */
import { expect, test } from 'vitest'
import { Daemon } from '../support/daemon.ts'
import { dyingAt } from '../support/kill-points.ts'

test('killed before and after the change', async () => {
  // The start writes three times.
  await using daemon = await Daemon.start({ DEFAULT_WALLET_ENABLED: 'false', ...dyingAt('audit:after', 4) })
  const make = (name: string) => daemon.admin('POST /wallets', { body: { name } })
  const wallets = async () => (await daemon.admin('GET /wallets')).contents
  const entries = async () => (await daemon.admin('GET /audit')).contents
  await expect(make('begun')).rejects.toThrow()
  expect(await daemon.stop()).toBe('SIGKILL')

  // This start writes twice: for the unfinished request, and for old entries.
  Object.assign(daemon.env, dyingAt('audit:before', 4))
  await daemon.start()
  expect(await wallets()).toEqual([])
  expect(await entries()).toMatchObject([{ action: 'POST /wallets', outcome: 'unknown' }, { actor: 'agent' }])
  await expect(make('done')).rejects.toThrow()
  expect(await daemon.stop()).toBe('SIGKILL')

  daemon.env['FAULTS'] = '{}'
  await daemon.start()
  expect(await wallets()).toMatchObject([{ name: 'done' }])
  expect((await entries()).slice(0, 2)).toMatchObject([
    { sequence: 3, actor: 'admin', action: 'POST /wallets', outcome: 'unknown' },
    { sequence: 2, actor: 'admin', action: 'POST /wallets', outcome: 'unknown' },
  ])
  expect(await daemon.admin('GET /audit/verification')).toMatchObject({
    isIntact: true,
    entries: 3,
  })
})
