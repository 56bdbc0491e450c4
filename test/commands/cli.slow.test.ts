import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeRunning } from '../../src/foundation/running.ts'
import { bin, fails, newUser, printed, prints, saysOnly, useUser, words } from './_cli.ts'

const noId = '00000000-0000-4000-8000-000000000000'

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

describe('without a daemon', () => {
  const user = useUser()

  test('the version matches the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await user.run`--version`).toMatchObject(prints(0, `identity-agent/${version} `))
  })

  test('an unknown command is named, with the command that lists all', async () => {
    const { code, err } = await user.run`conection list`
    expect({ code, err }).toEqual({
      code: 2,
      err: 'Error: There is no command agent conection list. Did you mean agent connection list?\n  Try: agent connection list --help',
    })
  })

  // V8 rejects code cached with other flags or by another version.
  test.each([
    { use: 'command', flags: [], isRejected: 'false' },
    { use: 'help', flags: [], isRejected: 'false' },
    { use: 'command', flags: ['--no-opt'], isRejected: 'true' },
  ])(
    'a $use starts from V8 code that the build cached, or compiles ($flags)',
    async ({ use, flags, isRejected }) => {
      const program = `import { load } from '${new URL('load.cjs', pathToFileURL(bin)).href}'; console.log(load('commands.cjs', '${use}').script.cachedDataRejected)`
      expect(await execa(process.execPath, [...flags, '--input-type=module', '-e', program])).toMatchObject({
        stdout: isRejected,
      })
      expect(await execa(process.execPath, [...flags, bin, 'connection', '--help'])).toMatchObject({
        stdout: expect.stringContaining('invite  Create'),
      })
    },
  )

  test.each([
    ['an unknown command', ['conection', 'list']],
    ['an unknown flag', ['connection', 'list', '--foo']],
    ['an unknown flag after a colon', ['connection:list', '--foo']],
    ['an argument too few', ['connection', 'show']],
    ['a flag too few', ['credential', 'offer', '--claim', 'a=b']],
    [
      'a claim that is none',
      ['credential', 'offer', '--connection', noId, '--issuing-did', 'did:x:y', '--claim', 'a'],
    ],
    ['a secret in a flag', ['wallet', 'create', 'x', '--seed', 'ab'.repeat(64)]],
  ])('%s is a usage error (2)', async (_, args) => {
    const { code, out, err } = await user.run(args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/Error/)
  })

  test('an error is one JSON object on standard error with --json', async () => {
    for (const args of [
      ['connection', 'show'],
      ['connection', 'list', '--foo'],
    ]) {
      const { code, out, err } = await user.run`${args} --json`
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(JSON.parse(err)).toMatchObject({ code: 'Usage', exitCode: 2 })
    }
  })

  test('a profile that does not exist is 3, for each command', async () => {
    for (const args of [
      ['connection', 'list', '--profile', 'nobody'],
      ['profile', 'use', 'nobody'],
      ['profile', 'show', 'nobody'],
    ])
      expect(await user.run(args)).toMatchObject(
        fails(3, /There is no profile nobody\.\n {2}Try: agent profile list$/),
      )
  })

  test('an unreachable daemon is 7, with the command that starts it', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`
    const { code, out, err } = await user.run`connection list --url ${url}`
    expect({ code, out }).toEqual({ code: 7, out: '' })
    expect(err).toBe(`Error: No daemon answers at ${url} (nothing listens there)\n  Try: agent daemon start`)
    expect((await user.run`daemon status`).code).toBe(7)
  })

  test('stop succeeds without a daemon (0), and logs has no log (3)', async () => {
    expect(await user.run`daemon stop`).toMatchObject(saysOnly('nothing to stop'))
    expect((await user.run`daemon logs`).code).toBe(3)
  })

  test('a process that reuses the PID of a daemon is not stopped', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`
    mkdirSync(join(user.folder, 'data'), { recursive: true })
    writeRunning(join(user.folder, 'data'), {
      pid: process.pid,
      url,
      didcommUrl: url,
      startedAt: new Date().toISOString(),
    })
    expect(await user.run`daemon stop`).toMatchObject(saysOnly('nothing to stop'))
  })

  test.each([
    ['a host that is none', ['--host', '256.256.256.256'], {}, 1, 'AGENT_HOST'],
    ['a level that is none', [], { AGENT_LOG_LEVEL: 'loud' }, 2, 'AGENT_LOG_LEVEL'],
    ['a token that everybody knows', [], { ADMIN_TOKEN: 'admin' }, 2, 'ADMIN_TOKEN'],
  ])(
    '%s keeps the daemon from starting, for a reason, with its exit code',
    async (_, flags, env, exitCode, reason) => {
      const { code, out, err } = await user.as(env).run`daemon start ${flags}`
      expect({ code, out }).toEqual({ code: exitCode, out: '' })
      expect(err).toContain(reason)
      const inForeground = await user.as(env).run`daemon start --foreground ${flags}`
      expect(inForeground).toMatchObject({ code: exitCode, out: '' })
      expect(inForeground.err.split(reason)).toHaveLength(err.split(reason).length)
    },
  )

  test('an unbuilt source tree names the build command', async () => {
    const tree = join(user.folder, 'tree')
    mkdirSync(join(tree, 'bin'), { recursive: true })
    for (const file of ['agent.cjs', 'node-version.cjs'])
      copyFileSync(join(dirname(bin), file), join(tree, 'bin', file))
    writeFileSync(join(tree, 'package.json'), '{"type": "module"}')
    const { exitCode, stderr } = await execa(process.execPath, [join(tree, 'bin', 'agent.cjs'), 'demo'], {
      reject: false,
    })
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('npm run build') })
  })
})

describe('with a daemon', () => {
  const user = useUser()
  let url: string
  let pid: number
  beforeAll(async () => {
    const { code, out, err } = await user.run`daemon start --json`
    expect({ code, err }).toEqual({ code: 0, err: '' })
    ;({ url, pid } = JSON.parse(out))
  })
  afterAll(() => user.run`daemon stop`)

  test('status shows the address', async () => {
    expect(await user.json`daemon status`).toMatchObject({ url, dataDir: join(user.folder, 'data') })
  })

  test.runIf(process.platform === 'linux')('the C library returns free memory', () => {
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toContain('MALLOC_ARENA_MAX=1')
  })

  test('a second start has no effect and prints a message', async () => {
    const { code, out, err } = await user.run`daemon start`
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('already runs') })
    expect(out).toContain(url)
    expect((await user.run`daemon start --foreground`).code).toBe(5)
  })

  test('its log is printed', async () => {
    expect((await user.run`daemon logs -n 1`).out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} \w+ /)
    const { out } = await user.run`daemon logs -n 1 --json`
    expect(JSON.parse(out)).toHaveProperty('level')
  })

  test('exit codes: 3 not found, 4 wrong key, 5 wrong state', async () => {
    expect(await user.run`connection show ${noId}`).toMatchObject(fails(3, 'Try: agent connection list'))
    expect((await user.as({ AGENT_API_KEY: 'wrong' }).run`connection list`).code).toBe(4)
    expect((await user.as({ AGENT_ADMIN_KEY: 'wrong' }).run`tenant list`).code).toBe(4)
    const { err } = await user.as({ AGENT_API_KEY: 'wrong' }).run`connection list --json`
    expect(JSON.parse(err)).toMatchObject({
      status: 401,
      exitCode: 4,
      hint: expect.stringContaining('AGENT_API_KEY'),
    })
  })

  test('empty lists print only a message on standard error', async () => {
    expect(await user.run`webhook list`).toMatchObject(saysOnly('agent webhook add'))
  })

  test('text from a peer is printed without control characters', async () => {
    const { connectionId } = await user.json`connection invite --label a[2Jb`
    expect((await user.run`connection list`).out).toContain(`${connectionId}  InvitationGenerated  ab `)
    // oxlint-disable-next-line no-control-regex
    expect((await user.run`connection show ${connectionId}`).out).not.toMatch(/\u001b/)
  })

  test('an invitation is a URL on standard output, with a QR code on request', async () => {
    const plain = await user.run`connection invite --long`
    expect(plain.out).toMatch(/^http:\/\/\S+_oob=\S+$/)
    const drawn = (await user.run`connection invite --long --qr small`).out.split('\n')
    expect(drawn.length).toBeGreaterThan(20)
    expect(drawn[0]).toMatch(/^http:\/\/\S+_oob=\S+$/)
  })

  test('the key of a new tenant is written to a file and not printed', async () => {
    const file = join(user.folder, 'bob.key')
    const made = await user.json`tenant create bob --key-file ${file}`
    expect(made).toEqual({
      id: expect.any(String),
      name: 'bob',
      walletId: expect.any(String),
      apiKeyFile: file,
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await user.run`connection list --api-key-file ${file}`).code).toBe(0)
    expect((await user.run`tenant create bob --key-file ${file}`).code).toBe(2)
    expect((await user.json`tenant show ${made.id}`).walletId).toBe(made.walletId)
    expect((await user.run`tenant remove ${made.id} --keep-wallet --yes`).code).toBe(0)
    expect((await user.run`connection list --api-key-file ${file}`).code).toBe(4)
  })

  test('two tenants connect, issue and verify by commands alone', async () => {
    const { apiKey } = await user.json`tenant create holder`
    const asHolder = user.as({ AGENT_API_KEY: apiKey })
    /** Polls until a list has a record in a state: list commands do not wait. */
    const eventually = async (list: () => Promise<any>, fits: (record: any) => boolean) => {
      let found: any
      await expect
        .poll(async () => (found = (await list()).contents.find(fits)), {
          timeout: 30_000,
          interval: 100,
        })
        .toBeDefined()
      return found
    }

    const issuer = (await user.json`did create`).did
    expect((await user.run`did publish ${issuer}`).code).toBe(0)
    await eventually(
      () => user.json`did list`,
      ({ did, status }) => did === issuer && status === 'PUBLISHED',
    )
    const holder = (await asHolder.json`did create --assertion-curve none --auth-curve Ed25519`).longFormDid

    const invited = await user.run`connection invite --json --goal ${'a test'}`
    const { connectionId, invitation } = JSON.parse(invited.out)
    const accepted = await user.run(words`connection accept -`, {
      env: { AGENT_API_KEY: apiKey },
      input: `${invitation.invitationUrl}\n`,
    })
    expect(accepted).toMatchObject({ code: 0, out: expect.stringContaining('goal        a test') })
    expect((await asHolder.run`connection accept ${invitation.invitationUrl}`).code).toBe(5)
    await eventually(
      () => user.json`connection list`,
      (record) => record.connectionId === connectionId && record.state === 'ConnectionResponseSent',
    )

    const file = join(user.folder, 'schema.json')
    const properties = { name: { type: 'string' }, age: { type: 'integer' } }
    writeFileSync(
      file,
      JSON.stringify({
        $id: 'https://example.com/person',
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties,
        required: ['age'],
      }),
    )
    const guid = (
      await user.run`schema publish -q --name person --author ${issuer} --schema @${file} --tag test`
    ).out
    expect((await user.json`schema list --tag test`).contents).toHaveLength(1)
    expect((await user.run`schema show ${guid}`).out).toContain('"age"')

    const offer = words`
      credential offer --connection ${connectionId} --issuing-did ${issuer} --schema ${guid}
      --claim name=Alice
    `
    expect((await user.run`${offer} --claim age=42`).code).toBe(2)
    const record = (await user.run`${offer} --claim age:=42 --validity 1h -q`).out
    const held = await eventually(
      () => asHolder.json`credential list`,
      ({ protocolState }) => protocolState === 'OfferReceived',
    )
    expect((await user.run`credential issue ${record}`).code).toBe(5)
    expect((await asHolder.run`credential show ${held.recordId}`).err).toContain(
      `agent credential accept ${held.recordId}`,
    )
    expect((await asHolder.run`credential export ${held.recordId}`).code).toBe(5)
    expect((await asHolder.run`credential accept ${held.recordId} --subject ${holder}`).code).toBe(0)
    await eventually(
      () => user.json`credential list`,
      ({ protocolState }) => protocolState === 'RequestReceived',
    )
    expect((await user.run`credential issue ${record}`).out).toContain('claim age   42')
    await eventually(
      () => asHolder.json`credential list`,
      ({ protocolState }) => protocolState === 'CredentialReceived',
    )
    expect((await asHolder.run`credential export ${held.recordId}`).out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)

    const request = words`
      proof request --connection ${connectionId} --schema ${guid} --trust-issuer ${issuer} -q
    `
    const proof = (await user.run`${request} --domain shop.example --challenge c1`).out
    const asked = await eventually(
      () => asHolder.json`proof list`,
      ({ status }) => status === 'RequestReceived',
    )
    expect((await user.run`proof accept ${proof}`).code).toBe(5)
    expect((await asHolder.run`proof present ${asked.presentationId} --credential ${noId}`).code).toBe(3)
    expect(
      (await asHolder.run`proof present ${asked.presentationId} --credential ${held.recordId}`).code,
    ).toBe(0)
    await eventually(
      () => user.json`proof list`,
      ({ status }) => status === 'PresentationVerified',
    )
    expect((await user.run`proof accept ${proof}`).out).toContain('PresentationAccepted (accepted)')

    const declined = (await user.run(request)).out
    const other = await eventually(
      () => asHolder.json`proof list`,
      ({ status }) => status === 'RequestReceived',
    )
    expect((await asHolder.run`proof reject ${other.presentationId}`).out).toContain('RequestRejected')
    expect((await user.json`proof show ${declined}`).role).toBe('Verifier')

    const issued = await user.run`credential show ${record}`
    expect(issued.out).toMatch(/status +not revoked\nvalidity +valid until \d{4}-\S+, in (?:5\d min|1 h)\n/)
    expect(issued.out).toMatch(/schemas +\S+\/schema-registry\/schemas\/\S+\n/)
    expect(await user.run`credential revoke ${record}`).toMatchObject(fails(2, '--yes'))
    expect(await asHolder.run`credential revoke ${held.recordId} --yes`).toMatchObject(fails(5, 'Holder'))
    expect(await user.run`credential revoke ${noId} --yes`).toMatchObject({ code: 3 })
    const revoked = await user.run`credential revoke ${record} --yes`
    expect(revoked).toMatchObject({ code: 0, out: expect.stringMatching(/status +revoked on \d{4}-/) })
    const asHeld = async () => (await asHolder.run`credential show ${held.recordId}`).out
    await expect.poll(asHeld, { interval: 100 }).toMatch(/status +revoked on \d{4}-\S+ \(by the issuer\)/)
    expect((await asHolder.run`credential list`).out).toContain('CredentialReceived, revoked')
    expect((await user.run`${request} --status-check if-available`).code).toBe(0)
  })

  test('two tenants issue and present by invitation, without a connection', async () => {
    const { apiKey } = await user.json`tenant create guest`
    const guest = user.as({ AGENT_API_KEY: apiKey })
    const issuer = (await user.json`did create`).longFormDid
    const holder = JSON.parse((await guest.run`did create --auth-curve Ed25519 --json`).out).longFormDid

    const offer = words`
      credential offer --invitation --issuing-did ${issuer} --claim name=Alice --auto
      --goal ${'a diploma'}
    `
    const { out: url, code } = await user.run(offer)
    expect({ code, url }).toEqual({ code: 0, url: expect.stringMatching(/^http:\/\/\S+\/i\?_oobid=\S+$/) })
    const taken = await guest.run`credential accept-invitation ${url}`
    expect(taken).toMatchObject({ code: 0, out: expect.stringMatching(/OfferReceived[^]*goal +a diploma/) })
    const held = /[0-9a-f-]{36}/.exec(taken.out)![0]
    expect(taken.err).toContain(`agent credential accept ${held}`)
    expect(await guest.run`credential accept-invitation ${url}`).toMatchObject({
      code: 0,
      out: expect.stringContaining(held),
    })
    expect((await guest.run`credential accept ${held} --subject ${holder} --wait`).out).toContain(
      'CredentialReceived',
    )

    const { recordId, invitation } = await user.json(offer)
    expect((await user.run`credential show ${recordId} --long`).out).toContain(
      invitation.invitationUrl.replace(/^.*(?=_oob=)/, '/invitation?'),
    )
    expect(await guest.run`connection accept ${invitation.invitationUrl}`).toMatchObject({
      err: expect.stringContaining('agent accept'),
    })

    const request = await user.run`proof request --invitation --any-issuer`
    const asked = await user.run(words`proof accept-invitation -`, {
      env: { AGENT_API_KEY: apiKey },
      input: request.out,
    })
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining('RequestReceived') })
    const proof = /[0-9a-f-]{36}/.exec(asked.out)![0]
    expect((await guest.run`proof present ${proof} --credential ${held} --wait`).out).toContain(
      'PresentationSent',
    )
    expect((await guest.run`connection list -q`).out).toBe('')
  })

  test.each([
    ['an offer', [], ['credential', 'offer', '--issuing-did', 'did:prism:x', '--claim', 'a=b']],
    [
      'an offer',
      ['--connection', noId, '--invitation'],
      ['credential', 'offer', '--issuing-did', 'did:prism:x', '--claim', 'a=b'],
    ],
    ['a proof request', [], ['proof', 'request']],
    ['a proof request', ['--connection', noId, '--goal', 'x'], ['proof', 'request']],
  ])(
    '%s with %j is a usage error (2): it needs either a connection or an invitation',
    async (_, flags, args) => {
      expect((await user.run`${args} ${flags}`).code).toBe(2)
    },
  )

  test('webhooks are added and removed', async () => {
    const id = (await user.run`webhook add http://127.0.0.1:9/events --headers {"x-a":"b"} -q`).out
    expect((await user.json`webhook list`).contents).toMatchObject([{ id, customHeaders: { 'x-a': '***' } }])
    expect((await user.run`webhook remove ${id} --yes`).code).toBe(0)
    expect((await user.run`webhook remove ${id} --yes`).code).toBe(3)
  })

  test('the administrator manages wallets, and a tenant sees its own', async () => {
    const { id } = await user.json`wallet create spare`
    expect((await user.run`wallet list -q`).out.split('\n')).toContain(id)
    expect((await user.run`wallet show ${id}`).out).toContain('spare')
  })

  test('any DID is resolved', async () => {
    const did = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'
    expect(JSON.parse((await user.run`did resolve ${did}`).out)).toMatchObject({ id: did })
    expect(await user.run`did resolve did:nosuch:x`).toMatchObject(fails(1, 'methodNotSupported'))
    expect(await user.run`did resolve did:prism:${'ab'.repeat(32)}`).toMatchObject(fails(3, 'notFound'))
  })
})

test('a daemon in the foreground shuts down cleanly on a signal', async () => {
  using user = newUser()
  const daemon = user.spawn`daemon start --foreground`
  await printed(daemon.stderr, 'the agent is ready')
  expect((await user.run`daemon status`).code).toBe(0)
  daemon.kill('SIGTERM')
  expect((await daemon).exitCode).toBe(0)
  expect((await user.run`daemon status`).code).toBe(7)
})

test('a background daemon outlives the command and ends when stopped', async () => {
  using user = newUser()
  const { out } = await user.run`daemon start --json --profile work`
  const { url } = JSON.parse(out)
  expect((await user.run`connection list --profile work`).code).toBe(0)
  expect(await user.run`daemon stop --profile work`).toMatchObject({
    code: 0,
    err: 'The daemon has stopped.',
  })
  await expect(fetch(`${url}/_system/health`)).rejects.toThrow()
})
