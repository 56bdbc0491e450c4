/** `agent doctor` as users run it. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkNode, render } from '../../cli/doctor.ts'
import { startServer } from '../support/server.ts'
import { newUser, type User, useUser } from './_cli.ts'

type Check = { name: string; status: string; detail: string; hint?: string }

async function doctor(user: User, args: string[] = [], env: Record<string, string> = {}) {
  const { code, out, err } = await user.as(env).run`doctor --json ${args}`
  const { checks } = JSON.parse(out) as { checks: Check[] }
  return { code, err, checks, of: (name: string) => checks.find((check) => check.name === name) }
}

test('an unsupported Node.js release fails the check', () => {
  expect([checkNode('v20.18.1', '>=20.19').status, checkNode('v20.19.0', '>=20.19').status]).toEqual([
    'failed',
    'ok',
  ])
})

test('long lines are broken at spaces for a terminal, and a command stays whole', () => {
  const hint = 'agent daemon restart --lan   # for the local network'
  const check = {
    name: 'api-url',
    status: 'warning',
    detail: 'It works only on this machine.',
    hint,
  } as const
  expect(render([check], undefined, 36).split('\n')).toEqual([
    '! api-url  It works only on this',
    '           machine.',
    '           → agent daemon restart --lan',
    '             # for the local network',
  ])
})

describe('without a daemon', () => {
  const user = useUser()

  test('reports that no daemon answers (7), and how to start one', async () => {
    const { url, ...server } = await startServer(() => undefined)
    await server[Symbol.asyncDispose]()
    const { code, out, err } = await user.run`doctor --url ${url}`
    expect({ code, err }).toEqual({ code: 7, err: '' })
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^✔ node +Node\.js /)
    expect(lines[1]).toMatch(/^! profile +There is no profile local/)
    expect(lines[3]).toContain(`✖ daemon   No daemon answers at ${url}`)
    expect(lines[4]).toMatch(/^ +→ agent daemon start$/)
    expect(lines).toHaveLength(5)
  })

  test('an unknown profile fails the check (1)', async () => {
    const folder = join(user.folder, 'config', 'profiles')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'broken.json'), '{"kind":"local"}', { mode: 0o600 })
    const { code, checks } = await doctor(user, [], { AGENT_PROFILE: 'broken' })
    expect(code).toBe(1)
    expect(checks.map(({ name, status }) => [name, status])).toEqual([
      ['node', 'ok'],
      ['profile', 'failed'],
    ])
    expect(checks[1]!.detail).toContain('adminToken')
  })
})

describe('with a stopped local daemon', () => {
  const user = useUser()
  beforeAll(async () => {
    const { code, err } = await user.run`daemon start`
    if (code !== 0) throw new Error(err)
    await user.run`daemon stop`
  })

  test('checks the data folder (7)', async () => {
    const { code, checks, of } = await doctor(user)
    expect(code).toBe(7)
    expect(checks.map(({ name }) => name)).toEqual([
      'node',
      'profile',
      'daemon',
      'packages',
      'ports',
      'data-folder',
      'disk',
      'master-key',
      'databases',
    ])
    expect(of('daemon')).toMatchObject({ status: 'failed', hint: 'agent daemon start' })
    for (const name of ['packages', 'ports', 'data-folder', 'master-key', 'databases'])
      expect(of(name)!.status, name).toBe('ok')
  })

  test('reports what prevents a start: a port in use, a damaged file, an invalid configuration', async () => {
    await using server = await startServer(() => undefined)
    writeFileSync(
      join(user.folder, 'data', 'vdr.db'),
      'no database, for longer than the hundred bytes of a header'.repeat(5),
    )
    const { of, checks } = await doctor(user, ['--profile', 'local'], {
      AGENT_HTTP_PORT: new URL(server.url).port,
    })
    expect(of('ports')).toMatchObject({
      status: 'failed',
      hint: 'agent daemon start --profile local --port 0',
    })
    expect(of('databases')).toMatchObject({ status: 'failed', detail: expect.stringContaining('vdr.db') })
    for (const { status, hint } of checks) if (status !== 'ok') expect(hint).toBeDefined()
    expect((await doctor(user, [], { AGENT_HTTP_PORT: 'none' })).of('configuration')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('AGENT_HTTP_PORT'),
    })
  })

  test('skips local checks for a remote daemon', async () => {
    const { checks } = await doctor(user, [], { AGENT_URL: 'http://127.0.0.1:9' })
    expect(checks.map(({ name }) => name)).toEqual(['node', 'profile', 'daemon'])
  })
})

describe('with a daemon', () => {
  let user: User
  let url: string
  beforeAll(async () => {
    user = newUser()
    const { code, out, err } = await user.run`daemon start --profile here --json`
    if (code !== 0) throw new Error(err)
    url = JSON.parse(out).url
  })
  afterAll(async () => {
    await user.run`daemon stop --profile here`
    user.remove()
  })

  test('exits with 0 for a healthy daemon, and prints its checks', async () => {
    const { code, checks, of } = await doctor(user, ['--profile', 'here'])
    expect({ code, failed: checks.filter(({ status }) => status === 'failed') }).toEqual({
      code: 0,
      failed: [],
    })
    for (const name of [
      'node',
      'profile',
      'daemon',
      'tenant-key',
      'admin-key',
      'ports',
      'master-key',
      'databases',
      'ledger',
      'clock',
    ])
      expect(of(name)!.status).toBe('ok')
    expect(of('didcomm-url')).toMatchObject({
      status: 'warning',
      hint: expect.stringMatching(/^agent daemon restart --profile here --lan .* DIDCOMM_SERVICE_URL /),
    })
    expect((await user.run`doctor --profile here --quiet`).out.split('\n')).toEqual(
      checks.filter(({ status }) => status !== 'ok').map(({ name }) => name),
    )
  })

  test('rejected keys fail the check (4)', async () => {
    const env = { AGENT_API_KEY: 'nobody', AGENT_ADMIN_KEY: 'nobody' }
    const { code, of } = await doctor(user, ['--profile', 'here'], env)
    expect(code).toBe(4)
    expect(of('tenant-key')).toMatchObject({
      status: 'failed',
      hint: expect.stringContaining('AGENT_API_KEY'),
    })
    expect(of('admin-key')).toMatchObject({
      status: 'failed',
      hint: expect.stringContaining('AGENT_ADMIN_KEY'),
    })
    expect(of('ledger')).toBeUndefined()
  })

  test('missing keys are reported and do not fail the check', async () => {
    const { code, of } = await doctor(user, ['--url', url])
    expect(code).toBe(0)
    expect([of('tenant-key')!.status, of('admin-key')!.status]).toEqual(['warning', 'warning'])
  })

  test('a profile readable by other users fails the check (1), with the command that repairs it', async () => {
    const path = join(user.folder, 'config', 'profiles', 'here.json')
    chmodSync(path, 0o644)
    const { code, of } = await doctor(user, ['--profile', 'here'])
    chmodSync(path, 0o600)
    expect(code).toBe(1)
    expect(of('profile')).toMatchObject({ status: 'failed', hint: `chmod 600 ${path}` })
  })
})
