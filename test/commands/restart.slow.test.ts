/** `agent daemon restart`: nothing is lost, and the daemon has the settings that it had. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { variablesOf } from '../../cli/daemon/restart.ts'
import { Running } from '../../src/foundation/running.ts'
import { until } from '../support/tenants.ts'
import { fails, printed, useUser } from './_cli.ts'

const user = useUser()
afterAll(async () => void (await user.run`daemon stop`))
const running = () =>
  Running.parse(JSON.parse(readFileSync(join(user.folder, 'data', 'daemon.json'), 'utf8')))

test('events, a flow that is under way, the address and the settings are as before', async () => {
  // The variables are set for the first start only.
  const first = user.as({
    ADMIN_TOKEN: 'the-administrator-of-this-test',
    AGENT_LOG_LEVEL: 'debug',
    RECORDS_PER_WALLET: '7',
  })
  const started = await first.json`daemon start --port 0`
  const key = join(user.folder, 'alice.key')
  await user.run`tenant create alice --key-file ${key}`
  const { invitation } = await user.json`connection invite --label Alice`
  const before = await user.json`event list`
  // Nobody waits for the connection: its messages are jobs of both wallets.
  const accepted = await user.json`connection accept ${invitation.invitationUrl} --api-key-file ${key}`
  const again = await user.json`daemon restart`
  expect(again).toMatchObject({ url: started.url, didcommUrl: started.didcommUrl, previousPid: started.pid })
  expect(again.pid).not.toBe(started.pid)
  const { state } = await until(
    'the connection',
    () => user.json`connection show ${accepted.connectionId} --api-key-file ${key}`,
    (connection) => connection.state === 'ConnectionResponseReceived',
  )
  expect(state).toBe('ConnectionResponseReceived')
  const after = await user.json`event list`
  const ids = (list: { contents: { id: string }[] }) => list.contents.map(({ id }) => id)
  expect(ids(after)).toEqual(expect.arrayContaining(ids(before)))
  expect(running()).toMatchObject({
    flags: expect.arrayContaining(['AGENT_HTTP_PORT=0']),
    isBackground: true,
  })
  expect(running().environment).toEqual(
    expect.arrayContaining(['ADMIN_TOKEN', 'AGENT_LOG_LEVEL', 'RECORDS_PER_WALLET']),
  )
  expect((await user.run`daemon logs --lines 500 --json`).out).toMatch(
    new RegExp(`"pid":${again.pid}.*"msg":"request"`),
  )
  // A variable that is set now has precedence.
  await user.as({ AGENT_LOG_LEVEL: 'error' }).json`daemon restart`
  expect((await user.run`daemon logs --lines 1 --json`).out).not.toContain(`"pid":${running().pid}`)
  await user.run`daemon stop`
  expect(await user.run`daemon restart`).toEqual(fails(7, /No daemon serves .*\n.*agent daemon start/))
})

test('a daemon in the foreground is not restarted', async () => {
  const foreground = user.spawn`daemon start --foreground`
  await printed(foreground.stderr, 'the agent is ready')
  const { pid } = running()
  expect(await user.run`daemon restart`).toEqual(fails(5, 'runs in the foreground of another program'))
  expect(running().pid).toBe(pid)
  foreground.kill('SIGTERM')
  await foreground
})

test('variables that the system does not show are named before anything stops', () => {
  const gone = { ...running0, pid: 2 ** 22 + 1, environment: ['VDR_URL', 'AGENT_LOG_LEVEL'] }
  expect(() => variablesOf(gone, { AGENT_LOG_LEVEL: 'info' }, '/c')).toThrow(
    /variables that are not set here: VDR_URL\. .*\/c\/settings\/local\.json/,
  )
  expect(variablesOf(gone, { AGENT_LOG_LEVEL: 'info', VDR_URL: 'x' }, '/c')).toEqual({})
})

const running0 = { pid: 1, url: 'http://a', didcommUrl: 'http://a', startedAt: '2026-01-01T00:00:00Z' }
