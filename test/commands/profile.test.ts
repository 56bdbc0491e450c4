/** `agent profile …`, as users run it. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fails, type Line, newUser, type User, words } from './_cli.ts'

const key = 'a-tenants-key-0123456789'

describe('a remote daemon', () => {
  let user: User
  let file: string
  beforeEach(() => {
    user = newUser()
    file = join(user.folder, 'key')
    writeFileSync(file, `${key}\n`, { mode: 0o600 })
    return () => user.remove()
  })

  const add = (...flags: Line) =>
    user.run`profile add acme --url https://agent.acme.example/ ${words(...flags)}`

  test('gets a profile with its key from a file, which is never printed', async () => {
    const outcomes = [
      await add`--api-key-file ${file} --use`,
      await user.run`profile show`,
      await user.run`profile show --json`,
      await user.run`profile list`,
      await user.run`profile list --json`,
    ]
    for (const { code, out, err } of outcomes)
      expect({ code, leaked: (out + err).includes(key) }).toEqual({ code: 0, leaked: false })
    const path = join(user.folder, 'config', 'profiles', 'acme.json')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      kind: 'remote',
      url: 'https://agent.acme.example',
      apiKey: key,
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const shown = {
      name: 'acme',
      inUse: true,
      kind: 'remote',
      url: 'https://agent.acme.example',
      apiKey: '***',
      file: path,
    }
    expect(JSON.parse(outcomes[2]!.out)).toEqual(shown)
    expect(JSON.parse(outcomes[4]!.out)).toEqual({ contents: [shown] })
  })

  test.each([
    ['standard input', ['--api-key-file', '-'], {}, `${key}\n`],
    ['the environment', [], { AGENT_API_KEY: key }, ''],
  ])('accepts its key from %s', async (_, flags, env, input) => {
    const made = await user.run(words`profile add acme --url https://agent.acme.example ${flags}`, {
      env,
      input,
    })
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining('tenant’s') })
    expect(readFileSync(join(user.folder, 'config', 'profiles', 'acme.json'), 'utf8')).toContain(key)
  })

  test('is replaced only with --replace', async () => {
    expect((await add()).code).toBe(0)
    expect(await add()).toMatchObject({ code: 5, err: expect.stringContaining('--replace') })
    expect((await add`--replace`).code).toBe(0)
  })

  test.each([
    ['no URL', ['profile', 'add', 'acme']],
    ['a URL that is none', ['profile', 'add', 'acme', '--url', 'agent.acme.example']],
    ['a name that is none', ['profile', 'add', 'a/b', '--url', 'https://agent.acme.example']],
    [
      'a file that is not there',
      ['profile', 'add', 'acme', '--url', 'https://agent.acme.example', '--api-key-file', '/nowhere'],
    ],
  ])('is rejected with %s (2)', async (_, args) => {
    expect((await user.run(args)).code).toBe(2)
    expect((await user.run`profile list -q`).out).toBe('')
  })

  test('has a warning if its key is sent unencrypted', async () => {
    const made = await user.run`profile add acme --url http://agent.acme.example --api-key-file ${file}`
    expect(made.err).toContain('unencrypted')
  })

  test('receives commands while in use, unless the environment overrides it', async () => {
    await user.run`profile add acme --url http://127.0.0.1:1 --api-key-file ${file}`
    expect(await user.run`profile use acme`).toMatchObject({
      code: 0,
      err: 'Commands use the daemon at http://127.0.0.1:1.',
    })
    expect(await user.run`connection list`).toMatchObject(fails(7, 'http://127.0.0.1:1 '))
    const over = await user.as({ AGENT_PROFILE: 'local' }).run`profile use acme`
    expect(over.err).toContain('AGENT_PROFILE is set here')
    expect((await user.run`profile use local`).code).toBe(0)
    expect((await user.run`profile list`).out).not.toContain('yes')
  })

  test('is removed with its key and is no longer in use', async () => {
    await add`--use`
    expect(await user.run`profile remove acme`).toMatchObject(fails(2, '--yes'))
    expect((await user.run`profile remove acme --yes`).code).toBe(0)
    expect((await user.run`profile remove acme --yes`).code).toBe(3)
    expect((await user.run`profile use acme`).code).toBe(3)
    expect((await user.run`profile show`).err).toContain('There is no profile local')
  })

  test('shows who is signed in, without the token', async () => {
    await add`--use`
    const logins = join(user.folder, 'config', 'logins')
    mkdirSync(logins)
    const expiresAt = Math.floor(Date.now() / 1_000) + 3_600
    const token = `e30.${Buffer.from('{"sub":"alice\\u001b[2J"}').toString('base64url')}.c2ln`
    const login = {
      url: 'https://agent.acme.example',
      issuer: 'https://id.example/',
      clientId: 'agent',
      accessToken: token,
      expiresAt,
      walletId: '01a20725-6f2b-7d4e-8c15-b0f3a2917c3d',
    }
    const write = (name: string, more: object) =>
      writeFileSync(join(logins, `${name}.json`), JSON.stringify({ ...login, ...more }), { mode: 0o600 })
    write('acme', {})
    const { out } = await user.run`profile show`
    expect(out).toMatch(
      /^keys +token of agent login\nsigned in at +https:\/\/id\.example\/\nas +alice\nwallet +01a2\S+\nuntil +\S+Z, in 1 h$/m,
    )
    expect(out).not.toContain(token)
    expect(await user.json`profile show`).toMatchObject({
      login: { issuer: 'https://id.example/', walletId: login.walletId, isRenewed: false },
    })
    write('acme', { refreshToken: 'secret', accessToken: 'opaque' })
    const renewed = await user.run`profile show`
    expect(renewed.out).toMatch(/^until +agent logout: the token is renewed automatically$/m)
    expect(renewed.out).not.toMatch(/secret|opaque|^as /m)
    // The token is of another daemon.
    write('acme', { url: 'https://other.example' })
    expect((await user.run`profile show`).out).toMatch(/^keys +none$/m)
    write('local', {})
    expect((await user.run`profile show local`).out).toMatch(/^url +https:\/\/agent\.acme[\s\S]*^as +alice$/m)
  })

  test('with a damaged file is listed as damaged and can be removed', async () => {
    await add()
    writeFileSync(join(user.folder, 'config', 'profiles', 'bad.json'), '{')
    expect((await user.run`profile list`).out).toMatch(/acme .*\nbad .*not valid/)
    expect((await user.run`profile remove bad --yes`).code).toBe(0)
  })

  test('is not overwritten by a daemon started locally', async () => {
    await add`--api-key-file ${file} --use`
    const commands = [
      ['daemon', 'start'],
      ['daemon', 'start', '--profile', 'acme'],
      ['daemon', 'stop', '--profile', 'acme'],
    ]
    for (const args of commands)
      expect(await user.run(args)).toMatchObject(fails(2, 'acme is of a daemon elsewhere'))
    expect(readFileSync(join(user.folder, 'config', 'profiles', 'acme.json'), 'utf8')).toContain(key)
  })
})

describe('a local daemon', () => {
  let user: User
  beforeAll(async () => {
    user = newUser()
    expect((await user.run`daemon start --profile work`).code).toBe(0)
  })
  afterAll(async () => {
    await user.run`daemon stop --profile work`
    user.remove()
  })

  test('writes its profile, which stays in use after a restart', async () => {
    expect((await user.run`profile use work`).code).toBe(0)
    expect((await user.run`connection list`).code).toBe(0)
    expect((await user.run`daemon stop`).code).toBe(0)
    expect((await user.run`daemon start`).code).toBe(0)
    expect(await user.json`profile show`).toMatchObject({
      name: 'work',
      inUse: true,
      kind: 'local',
    })
    expect((await user.run`profile list -q`).out).toBe('work')
    expect((await user.run`connection list`).code).toBe(0)
  })

  test('keeps its profile while running; other commands cannot write it', async () => {
    expect(await user.run`profile remove work --yes`).toMatchObject(fails(5, 'daemon stop --profile work'))
    const args = ['profile', 'add', 'work', '--url', 'https://agent.acme.example', '--replace']
    expect((await user.run(args)).code).toBe(5)
  })
})
