import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  childEnv,
  chooseDataDir,
  findAccess,
  findDataDir,
  fromProcess,
  type AccessFlags,
} from '../../cli/client/settings.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import {
  writeProfile,
  writeProfileInUse,
  type LocalProfile,
  type RemoteProfile,
} from '../../src/foundation/config/profile.ts'

const local: LocalProfile = {
  kind: 'local',
  url: 'http://127.0.0.1:8085',
  didcommUrl: 'http://127.0.0.1:8090',
  adminToken: 'admin of local',
  apiKey: 'key of local',
  dataDir: '/data/local',
  pid: 4711,
  startedAt: '2026-11-20T19:00:00.000Z',
}
const bob: LocalProfile = {
  ...local,
  url: 'http://127.0.0.1:9085',
  apiKey: 'key of bob',
  adminToken: 'admin of bob',
  dataDir: '/data/bob',
}

const acme: RemoteProfile = {
  kind: 'remote',
  url: 'https://agent.acme.example/cloud-agent',
  apiKey: 'key of acme',
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'settings-'))
  writeProfile(folder, 'local', local)
  writeProfile(folder, 'bob', bob)
  writeProfile(folder, 'acme', acme)
})
afterEach(() => rmSync(folder, { recursive: true }))

function find(flags: AccessFlags, env: Record<string, string> = {}) {
  const { url, apiKey, adminKey } = findAccess(flags, fromProcess({ AGENT_CONFIG_DIR: folder, ...env }))
  return { url, apiKey: apiKey?.reveal(), adminKey: adminKey?.reveal() }
}

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

describe('the daemon address', () => {
  test('comes from the flag, then the environment, then the profile, then the default', () => {
    const env = { AGENT_URL: 'http://env.example' }
    expect(find({ url: 'http://flag.example/' }, env).url).toBe('http://flag.example')
    expect(find({}, env).url).toBe('http://env.example')
    expect(find({}).url).toBe(local.url)
    expect(find({}, { AGENT_CONFIG_DIR: join(folder, 'none') }).url).toBe('http://127.0.0.1:8085')
  })

  test('prefers the profile of the flag to the environment', () => {
    expect(find({ profile: 'bob' }, { AGENT_URL: 'http://env.example' }).url).toBe(bob.url)
  })

  test('accepts AGENT_PROFILE', () => {
    expect(find({}, { AGENT_PROFILE: 'bob' })).toEqual({
      url: bob.url,
      apiKey: bob.apiKey,
      adminKey: bob.adminToken,
    })
  })

  test.each(['localhost:8085', 'ftp://127.0.0.1', 'nowhere', ''])('rejects %j', (url) => {
    expect(() => find({ url })).toThrow(UsageError)
  })

  test('rejects an unknown profile', () => {
    expect(() => find({ profile: 'carol' })).toThrow('no profile carol')
  })
})

describe('precedence', () => {
  const elsewhere = 'http://elsewhere.example'
  // The profile in use, the environment and the flags; the resulting address, and the key sent to it.
  // prettier-ignore
  test.each<[inUse: string | undefined, env: Record<string, string>, flags: AccessFlags, url: string, apiKey: string | undefined]>([
    [undefined, {},                                            {},                                local.url, local.apiKey],
    ['bob',     {},                                            {},                                bob.url,   bob.apiKey],
    ['acme',    {},                                            {},                                acme.url,  acme.apiKey],
    ['bob',     { AGENT_PROFILE: 'acme' },                     {},                                acme.url,  acme.apiKey],
    ['bob',     { AGENT_PROFILE: 'local' },                    {},                                local.url, local.apiKey],
    ['bob',     { AGENT_PROFILE: '' },                         {},                                bob.url,   bob.apiKey],
    ['bob',     { AGENT_PROFILE: 'acme' },                     { profile: 'local' },              local.url, local.apiKey],
    ['bob',     { AGENT_URL: elsewhere },                      {},                                elsewhere, undefined],
    ['bob',     { AGENT_URL: elsewhere, AGENT_PROFILE: 'acme' }, {},                              elsewhere, undefined],
    ['bob',     { AGENT_URL: elsewhere },                      { profile: 'acme' },               acme.url,  acme.apiKey],
    ['bob',     { AGENT_URL: elsewhere },                      { url: acme.url },                 acme.url,  undefined],
    ['acme',    {},                                            { url: acme.url },                 acme.url,  acme.apiKey],
    ['bob',     { AGENT_API_KEY: 'key of env' },               {},                                bob.url,   'key of env'],
    ['bob',     { AGENT_API_KEY: 'key of env' },               { profile: 'acme' },               acme.url,  'key of env'],
    ['bob',     {},                                            { profile: 'acme', url: elsewhere }, elsewhere, undefined],
  ])('%s in use, %j, %j', (inUse, env, flags, url, apiKey) => {
    writeProfileInUse(folder, inUse)
    expect(find(flags, env)).toMatchObject({ url, apiKey })
  })

  test.each<[inUse: string | undefined, env: Record<string, string>, flags: AccessFlags, message: string]>([
    [undefined, {}, { profile: 'carol' }, 'There is no profile carol.'],
    [undefined, { AGENT_PROFILE: 'carol' }, {}, 'There is no profile carol, which AGENT_PROFILE names.'],
    ['carol', {}, {}, 'There is no profile carol, which is in use.'],
  ])('the error names a missing profile: %s in use, %j, %j', (inUse, env, flags, message) => {
    writeProfileInUse(folder, inUse)
    expect(() => find(flags, env)).toThrow(expect.objectContaining({ message, exitCode: 3 }))
  })

  test('a missing profile is ignored when the address is set', () => {
    writeProfileInUse(folder, 'carol')
    expect(find({ url: elsewhere })).toMatchObject({ url: elsewhere, apiKey: undefined })
  })
})

describe('API keys', () => {
  test('comes from the file, then the environment, then the profile', () => {
    const flags = {
      'api-key-file': file('key', ' key of file\n'),
      'admin-key-file': file('admin', 'admin of file'),
    }
    const env = { AGENT_API_KEY: 'key of env', AGENT_ADMIN_KEY: 'admin of env' }
    expect(find(flags, env)).toMatchObject({ apiKey: 'key of file', adminKey: 'admin of file' })
    expect(find({}, env)).toMatchObject({ apiKey: 'key of env', adminKey: 'admin of env' })
    expect(find({})).toMatchObject({ apiKey: 'key of local', adminKey: 'admin of local' })
  })

  test('come from the files of variables, after a flag and before the profile', () => {
    const env = {
      AGENT_API_KEY_FILE: file('key', 'key of file\n'),
      AGENT_ADMIN_KEY_FILE: file('admin', 'admin of file'),
    }
    expect(find({}, env)).toMatchObject({ apiKey: 'key of file', adminKey: 'admin of file' })
    expect(find({ 'api-key-file': file('flag', 'key of flag') }, env).apiKey).toBe('key of flag')
    expect(() => find({}, { ...env, AGENT_API_KEY: 'key of env' })).toThrow(
      'AGENT_API_KEY and AGENT_API_KEY_FILE are both set. Unset one of them.',
    )
    expect(() => find({}, { AGENT_ADMIN_KEY_FILE: join(folder, 'none') })).toThrow(
      /^AGENT_ADMIN_KEY_FILE: .*: there is no such file or folder\.$/,
    )
    expect(() => find({}, { AGENT_API_KEY_FILE: file('empty', '\n') })).toThrow('AGENT_API_KEY_FILE: ')
  })

  test('an empty variable counts as unset', () => {
    expect(find({}, { AGENT_API_KEY: '' }).apiKey).toBe('key of local')
  })

  test.each([
    ['a flag', { url: 'http://elsewhere.example' }, {}],
    ['the environment', {}, { AGENT_URL: 'http://elsewhere.example' }],
    ['another port', { url: 'http://127.0.0.1:8086' }, {}],
  ])('are not sent to another daemon named by %s', (_, flags, env) => {
    expect(find(flags, env)).toMatchObject({ apiKey: undefined, adminKey: undefined })
  })

  test('are sent when the address is that of the profile', () => {
    expect(find({ url: `${local.url}/` }).apiKey).toBe('key of local')
  })

  test('cannot come from an empty or missing file', () => {
    expect(() => find({ 'api-key-file': file('empty', '\n') })).toThrow('is empty')
    expect(() => find({ 'api-key-file': join(folder, 'none') })).toThrow('there is no such file or folder')
  })

  test('are not printed with the resolved settings', () => {
    expect(JSON.stringify(fromProcess({ AGENT_API_KEY: 'key of env' }))).not.toContain('key of env')
  })
})

describe('the data folder', () => {
  const around = (env: Record<string, string> = {}) => fromProcess({ AGENT_CONFIG_DIR: folder, ...env })

  test('of a running daemon comes from the flags, then the environment, then the profile', () => {
    const env = { AGENT_DATA_DIR: '/data/env' }
    expect(findDataDir({ 'data-dir': '/data/flag', profile: 'bob' }, around(env))).toBe('/data/flag')
    expect(findDataDir({ profile: 'bob' }, around(env))).toBe('/data/bob')
    expect(findDataDir({}, around(env))).toBe('/data/env')
    expect(findDataDir({}, around())).toBe('/data/local')
  })

  test('of a daemon to be started can come from the environment', () => {
    expect(chooseDataDir({ profile: 'bob' }, around({ AGENT_DATA_DIR: '/data/env' }))).toBe('/data/env')
    expect(chooseDataDir({ profile: 'bob' }, around())).toBe('/data/bob')
  })

  test('is unknown for a remote daemon', () => {
    expect(() => findDataDir({ profile: 'acme' }, around())).toThrow('acme is of a daemon elsewhere')
    writeProfileInUse(folder, 'acme')
    expect(() => chooseDataDir({}, around())).toThrow('acme is of a daemon elsewhere')
  })

  test('comes from the profile in use', () => {
    writeProfileInUse(folder, 'bob')
    expect(chooseDataDir({}, around())).toBe('/data/bob')
  })

  test('is absolute', () => {
    expect(findDataDir({ 'data-dir': 'here' }, around())).toBe(join(process.cwd(), 'here'))
  })
})

test('a child process inherits the environment with removals and additions', () => {
  const env = childEnv({ AGENT_PROFILE: 'acme' }, ['PATH'])
  expect(env).toMatchObject({ AGENT_PROFILE: 'acme' })
  expect(env.PATH).toBeUndefined()
  expect(env.HOME).toBe(process.env.HOME)
})

test('a child process does not inherit the user’s keys', () => {
  process.env['AGENT_API_KEY'] = process.env['AGENT_ADMIN_KEY'] = 'the-key-of-a-person'
  try {
    expect(Object.values(childEnv({}))).not.toContain('the-key-of-a-person')
  } finally {
    delete process.env['AGENT_API_KEY']
    delete process.env['AGENT_ADMIN_KEY']
  }
})

test('an invalid variable is named without its value', () => {
  expect(() => fromProcess({ AGENT_PROFILE: '../etc' })).toThrow(/^(?!.*\.\.\/etc).*AGENT_PROFILE/)
})
