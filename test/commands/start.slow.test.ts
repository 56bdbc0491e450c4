/** `agent daemon start`: a daemon for each profile, with the settings of its last start, or a one-line error. */
import { existsSync, readFileSync, statSync, writeFileSync, mkdirSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Line, newUser, printed, type User, words } from './_cli.ts'

let user: User
/** An environment without settings. */
let env: Record<string, string>
beforeEach(() => {
  user = newUser()
  env = {
    AGENT_DATA_DIR: '',
    AGENT_HTTP_PORT: '',
    AGENT_DIDCOMM_PORT: '',
    HOME: user.folder,
    XDG_DATA_HOME: join(user.folder, 'share'),
  }
})
afterEach(async () => {
  for (const name of ['local', 'bob'])
    if (existsSync(join(user.folder, 'config', 'profiles', `${name}.json`))) await stop(name)
  user.remove()
})

const free = ['--port', '0', '--didcomm-port', '0']
const start = async (args: string[], more: Record<string, string> = {}) => {
  const { code, out, err } = await user.as({ ...env, ...more }).run`daemon start --json ${args}`
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as { url: string; didcommUrl: string; pid: number; dataDir: string }
}
const refused = async (args: string[], more: Record<string, string> = {}) => {
  const { code, out, err } = await user.as({ ...env, ...more }).run`daemon start ${args}`
  expect(out).toBe('')
  expect(err).toMatch(/^Error: [^\n]*\.(?:\n {2}Try: [^\n]*)?$/)
  return { code, err }
}
const stop = (profile: string) => user.as(env).run`daemon stop --profile ${profile}`
const settingsFile = (profile: string) => join(user.folder, 'config', 'settings', `${profile}.json`)
const settings = (profile: string) =>
  JSON.parse(readFileSync(settingsFile(profile), 'utf8')) as Record<string, unknown>
const portOf = (url: string) => Number(new URL(url).port)

async function taken(port = 0) {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() }
}

describe('a profile', () => {
  test('has a separate data folder and daemon', async () => {
    const local = await start(free)
    const bob = await start(['--profile', 'bob', ...free])
    expect(local.dataDir).toBe(join(user.folder, 'share', 'identity-agent'))
    expect(bob.dataDir).toBe(join(user.folder, 'share', 'identity-agent', 'profiles', 'bob'))
    expect(bob.pid).not.toBe(local.pid)
    for (const name of ['local', 'bob'])
      expect((await user.as(env).run`daemon status -p ${name}`).code).toBe(0)
  })

  test('keeps its configured data folder', async () => {
    const dataDir = join(user.folder, 'elsewhere')
    await start(['--profile', 'bob', '--data-dir', dataDir, ...free])
    await stop('bob')
    expect((await start(['--profile', 'bob'])).dataDir).toBe(dataDir)
  })

  test('reports a daemon that runs with other settings (5)', async () => {
    const { url, dataDir } = await start(free)
    expect((await user.as(env).run`daemon start --port ${String(portOf(url))}`).code).toBe(0)
    for (const [flags, more, named] of [
      [['--port', '9'], {}, '--port'],
      [['--didcomm-port', '9'], {}, '--didcomm-port'],
      [['--host', '0.0.0.0'], {}, '--host'],
      [[], { AGENT_HTTP_PORT: '9' }, 'AGENT_HTTP_PORT'],
      [[], { VDR_URL: 'http://127.0.0.1:9' }, 'VDR_URL'],
    ] as const) {
      const { code, err } = await refused([...flags], more)
      expect({ code, err }).toEqual({ code: 5, err: expect.stringContaining('already runs') })
      expect(err).toMatch(new RegExp(`without the (variable )?${named}[ =]\\S+ that you ask for`))
    }
    const shared = await refused(['--profile', 'bob', '--data-dir', dataDir, '--port', '9'])
    expect(shared).toEqual({
      code: 5,
      err: expect.stringContaining('The daemon of the profile local already serves the data folder'),
    })
    const moved = await refused(['--data-dir', join(user.folder, 'other'), ...free])
    expect(moved).toEqual({
      code: 5,
      err: expect.stringContaining(`already runs with the data folder ${dataDir}`),
    })
  })
})

describe('settings', () => {
  test('are kept from the last start, including a free port', async () => {
    const ledger = join(user.folder, 'ledger.db')
    const before = await start(['--profile', 'bob', ...free], { VDR_URL: `sqlite:${ledger}` })
    expect(statSync(settingsFile('bob')).mode & 0o777).toBe(0o600)
    expect(settings('bob')).toEqual({
      AGENT_DATA_DIR: before.dataDir,
      AGENT_HTTP_PORT: portOf(before.url),
      AGENT_DIDCOMM_PORT: portOf(before.didcommUrl),
      VDR_URL: `sqlite:${ledger}`,
    })
    await stop('bob')
    const { checks } = JSON.parse((await user.as(env).run`doctor --json -p bob`).out)
    expect(checks.find(({ name }: { name: string }) => name === 'ports').status).toBe('ok')
    for (const args of [[], free]) {
      const { url, didcommUrl } = await start(['--profile', 'bob', ...args])
      expect({ url, didcommUrl }).toEqual({ url: before.url, didcommUrl: before.didcommUrl })
      await stop('bob')
    }
    expect(settings('bob')['VDR_URL']).toBe(`sqlite:${ledger}`)
    // A flag overrides the environment, and the environment overrides the settings.
    using other = await taken()
    using another = await taken()
    const named = { AGENT_HTTP_PORT: String(other.port) }
    expect((await refused(['-p', 'bob', '--port', String(another.port)], named)).err).toContain(
      '--port names it',
    )
    expect((await refused(['-p', 'bob'], named)).err).toContain('The variable AGENT_HTTP_PORT names it')
  })

  test.each([
    [
      '{"AGENT_HTTP_PORT":"eighty","AGENT_LOG_LEVEL":"secret-value"}',
      ['AGENT_HTTP_PORT: ', 'AGENT_LOG_LEVEL: '],
    ],
    ['{"AGENT_HTTP_PROT":1}', ['AGENT_HTTP_PROT: is not the name of a setting']],
    ['{"AGENT_PROFILE":"x"}', ['AGENT_PROFILE: locates the settings']],
    ['{"VDR_URL":["x"]}', ['VDR_URL: is neither a text']],
    ['[1]', ['is not a JSON object']],
    ['{', ['is not a JSON object']],
  ])('that are invalid are named: %s', async (text, named) => {
    mkdirSync(join(user.folder, 'config', 'settings'), { recursive: true })
    writeFileSync(settingsFile('local'), text)
    const { code, err } = await refused(free)
    expect(code).toBe(2)
    for (const each of [settingsFile('local'), ...named]) expect(err).toContain(each)
    expect(err).not.toContain('secret-value')
  })

  test('are removed with their profile', async () => {
    await start(['--profile', 'bob', ...free])
    await stop('bob')
    expect((await user.as(env).run`profile remove bob --yes`).code).toBe(0)
    expect(() => settings('bob')).toThrow('ENOENT')
  })
})

test('the error for a port in use names its flag or variable', async () => {
  using other = await taken()
  const port = String(other.port)
  const wayOut = 'Stop the program that uses it, or choose another port: --port 0 uses a free one.'
  const portInUse = (from: string) => ({
    code: 5,
    err: `Error: Port ${port} of 127.0.0.1 is in use. ${from}. ${wayOut}`,
  })
  expect(await refused(['--port', port])).toEqual(portInUse('--port names it'))
  expect(await refused([], { AGENT_HTTP_PORT: port })).toEqual(
    portInUse('The variable AGENT_HTTP_PORT names it'),
  )
  mkdirSync(join(user.folder, 'config', 'settings'), { recursive: true })
  writeFileSync(settingsFile('local'), JSON.stringify({ AGENT_HTTP_PORT: other.port }))
  expect(await refused([])).toEqual(portInUse(`AGENT_HTTP_PORT in ${settingsFile('local')} names it`))
  // 0 selects another port if the last one is in use.
  expect(portOf((await start(free)).url)).not.toBe(other.port)
})

test.each([
  ['/proc/agent', '/proc accepts no new folders'],
  ['/dev/null/agent', '/dev/null'],
])('the error names data folder %s, which cannot be created', async (folder, reason) => {
  for (const more of [[], ['--foreground']]) {
    const { code, out, err } = await user.as(env).run`daemon start ${free} --data-dir ${folder} ${more}`
    expect({ code, out, lines: err.split('\n').length }).toEqual({
      code: 1,
      out: '',
      lines: more.length === 0 ? 2 : 1,
    })
    expect(err).toContain(`The data folder ${folder} cannot be used: `)
    expect(err).toContain(reason)
    expect(err).toContain('--data-dir')
  }
})

test('an unwritable home directory is a one-line error', async () => {
  const { code, err } = await refused(free, { HOME: '/proc/1/none', XDG_DATA_HOME: '' })
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('/proc/1/none') })
})

test('in the foreground without a terminal, standard error is JSON lines', async () => {
  const process = user.spawn`daemon start --foreground`
  await printed(process.stderr, 'the agent is ready')
  process.kill('SIGTERM')
  const { stdout, stderr } = await process
  expect(stdout).toBe('')
  for (const line of stderr.split('\n')) {
    const names = [...line.matchAll(/[{,]"(\w+)":/g)].map(([, name]) => name)
    expect(Object.keys(JSON.parse(line) as object)).toEqual(names)
  }
})

test('start and doctor report a change of the address that connections use', async () => {
  const before = await start(free)
  const run = async (...line: Line) => (await user.as(env).run`${words(...line)} --json`).out
  const keyFile = join(user.folder, 'bob.key')
  await run`tenant create bob --key-file ${keyFile}`
  const { invitation } = JSON.parse(await run`connection invite`) as {
    invitation: { invitationUrl: string }
  }
  const accepted = await run`connection accept ${invitation.invitationUrl} --api-key-file ${keyFile} --wait`
  expect(JSON.parse(accepted)).toMatchObject({ state: 'ConnectionResponseReceived' })
  await stop('local')

  using _ = await taken(portOf(before.didcommUrl))
  const { code, out, err } = await user.as(env).run`daemon start --profile local --didcomm-port 0`
  expect(code).toBe(0)
  const now = /didcomm\s+(\S+)/.exec(out)![1]!
  expect(now).not.toBe(before.didcommUrl)
  expect(err).toContain(
    `Warning: 2 connections were made with the address ${before.didcommUrl}. The address is ${now} now`,
  )
  expect(err).toContain(`agent daemon start --profile local --didcomm-port ${portOf(before.didcommUrl)}`)
  const { checks } = JSON.parse(await run`doctor`) as {
    checks: { name: string; status: string; hint?: string }[]
  }
  expect(checks.find(({ name }) => name === 'known-address')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining(before.didcommUrl),
    hint: expect.stringContaining('--didcomm-port'),
  })
  // The next start uses the same address: only the doctor reports the change.
  await stop('local')
  expect((await user.as(env).run`daemon start`).err).not.toContain('Warning')
})

test('an uncaught error is logged and ends the daemon', async () => {
  const thrower = `data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('unforeseen')})`
  const { pid } = await start(free, { NODE_OPTIONS: `--import="${thrower}"` })
  process.kill(pid, 'SIGUSR2')
  const logged = () =>
    readFileSync(join(user.folder, 'share', 'identity-agent', 'daemon.log'), 'utf8')
      .trim()
      .split('\n')
  await expect.poll(() => logged().at(-1)).toContain('unforeseen')
  for (const line of logged()) expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) })
  expect(JSON.parse(logged().at(-1)!)).toMatchObject({ level: 60, err: { message: 'unforeseen' } })
})
