/** `agent daemon start --https`: certificates, and the clients that accept them. */
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/foundation/config/config.ts'
import { findCertificate } from '../../src/foundation/net/certificate.ts'
import { createAuthority, createServerCertificate } from '../../src/foundation/net/development-certificate.ts'
import { connect } from '../support/tenants.ts'
import { createClient } from '../../daemon/client/client.ts'
import { openEventStream } from '../../daemon/client/event-client.ts'
import { acceptOnly } from '../../daemon/client/send-request.ts'
import { createTenant } from '../support/api.ts'
import { newFolder } from '../support/folder.ts'
import { canIsolate, type Laptop, twoLaptops } from '../support/laptops.ts'
import { fails, newUser, useUser } from './_cli.ts'

const free = ['--port', '0', '--didcomm-port', '0']

describe('with a certificate for development', () => {
  const user = useUser()
  const tls = (name: string) => join(user.folder, 'data', 'tls', name)
  const profilePath = join(user.folder, 'config', 'profiles', 'local.json')
  const profile = () => JSON.parse(readFileSync(profilePath, 'utf8'))
  let started: { url: string; didcommUrl: string; certificate: string; authority: string }
  beforeAll(async () => {
    started = await user.json`daemon start --https ${free}`
    acceptOnly(started.url, started.certificate)
  })
  afterAll(async () => void (await user.run`daemon stop`))

  const ask = async (url: string, ca?: string) => {
    const [response] = await once(get(url, { ca, agent: false }), 'response')
    return { headers: response.headers, body: await text(response) }
  }

  test('both servers have it, its files are private, and the start prints the fingerprint', async () => {
    for (const name of ['ca.pem', 'ca.key', 'server.pem', 'server.key'])
      expect(statSync(tls(name)).mode & 0o777).toBe(0o600)
    expect(started.authority).toBe(tls('ca.pem'))
    const authority = readFileSync(tls('ca.pem'), 'utf8')
    for (const url of [started.url, started.didcommUrl]) {
      for (const host of ['127.0.0.1', 'localhost']) {
        const { headers } = await ask(`${url.replace('127.0.0.1', host)}/_system/health`, authority)
        expect(headers['strict-transport-security']).toBeUndefined()
      }
      await expect(ask(url)).rejects.toThrow('self-signed certificate in certificate chain')
    }
    const { raw } = new X509Certificate(readFileSync(tls('server.pem')))
    expect(started.certificate.replaceAll(':', '').toLowerCase()).toBe(
      createHash('sha256').update(raw).digest('hex'),
    )
  })

  test('commands, event streams, doctor and completion work', async () => {
    expect((await user.json`daemon status`).certificate).toBe(started.certificate)
    const ending = new AbortController()
    const headers = { apikey: profile().apiKey }
    const { events } = await openEventStream(started.url, headers, { signal: ending.signal })
    await user.json`connection invite`
    const first = await events[Symbol.asyncIterator]().next()
    expect(first.value.type).toBe('ConnectionUpdated')
    ending.abort()
    const { checks } = JSON.parse((await user.run`doctor --json`).out) as { checks: any[] }
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([])
    expect(checks.find(({ name }) => name === 'certificate').status).toBe('ok')
  })

  test('two tenants of the agent connect', async () => {
    const admin = profile().adminToken
    const [alice, bob] = [
      await createTenant(started.url, 'alice', admin),
      await createTenant(started.url, 'bob', admin),
    ]
    await connect(alice, bob)
  })

  test('the typed client of a program works with the authority', async () => {
    const library = new URL('../../dist/client.js', import.meta.url).href
    const code = `import { createClient } from '${library}'
      console.log(JSON.stringify(await createClient('${started.url}', { apiKey: '${profile().apiKey}' })('GET /connections')))`
    const run = (env: Record<string, string>) =>
      execa(process.execPath, ['--input-type=module', '--eval', code], { env, reject: false })
    expect((await run({ NODE_EXTRA_CA_CERTS: started.authority })).stdout).toContain('"contents"')
    expect((await run({})).exitCode).not.toBe(0)
  })

  test('a restart keeps it, and one with another address renews it under the same authority', async () => {
    const [authority, before] = [readFileSync(tls('ca.pem'), 'utf8'), started.certificate]
    expect((await user.json`daemon restart`).certificate).toBe(before)
    await user.run`daemon stop`
    const again = await user.json`daemon start --host 127.0.0.2`
    expect(again.certificate).not.toBe(before)
    expect(again.url).toMatch(/^https:\/\/127\.0\.0\.2:/)
    expect(readFileSync(tls('ca.pem'), 'utf8')).toBe(authority)
    expect((await user.run`connection list`).code).toBe(0)
  })

  test('commands refuse a server with another certificate, and send it nothing (7)', async () => {
    const right = readFileSync(profilePath, 'utf8')
    writeFileSync(profilePath, JSON.stringify({ ...JSON.parse(right), certificate: started.certificate }))
    const refused = fails(7, /^Error: Another server than before answers at https:.*\n.*No key was sent\./)
    expect(await user.run`connection list`).toEqual(refused)
    expect((await user.run`event tail`).code).toBe(7)
    writeFileSync(profilePath, right)
  })

  test('the authority is restricted to this machine and private networks', async () => {
    const [certificate, key] = [readFileSync(tls('ca.pem'), 'utf8'), readFileSync(tls('ca.key'), 'utf8')]
    const folder = newFolder()
    for (const [name, isGood] of [
      ['192.168.1.7', true],
      ['localhost', true],
      ['8.8.8.8', false],
      ['example.com', false],
    ] as const) {
      const file = join(folder, 'server.pem')
      writeFileSync(file, (await createServerCertificate({ certificate, key }, [name])).certificate)
      const { exitCode } = await execa('openssl', ['verify', '-CAfile', tls('ca.pem'), file], {
        reject: false,
      })
      expect({ name, isGood: exitCode === 0 }).toEqual({ name, isGood })
    }
  })

  test('--no-https ends it', async () => {
    await user.run`daemon stop`
    expect((await user.json`daemon start --no-https`).url).toMatch(/^http:/)
  })
})

describe('with a certificate of the operator', () => {
  const files = useUser()
  const file = (name: string) => join(files.folder, name)
  const own = { AGENT_TLS_CERT_FILE: file('cert.pem'), AGENT_TLS_KEY_FILE: file('cert.key') }
  beforeAll(async () => {
    const authority = await createAuthority(['localhost'])
    for (const [name, days] of [
      ['cert', 9],
      ['other', 9],
      ['old', 0],
    ] as const) {
      const { certificate, key } = await createServerCertificate(authority, ['agent.example'], days)
      writeFileSync(file(`${name}.pem`), `${certificate}\n`)
      writeFileSync(file(`${name}.key`), `${key}\n`)
    }
    writeFileSync(file('text.pem'), 'text')
  })

  test('commands accept it, whatever its name, and browsers get HSTS', async () => {
    const user = newUser()
    const { url, certificate } = await user.as(own).json`daemon start`
    acceptOnly(url, certificate)
    expect((await user.run`connection list`).code).toBe(0)
    expect(await createClient(url)('GET /_system/health')).toHaveProperty('version')
    const response = get(`${url}/_system/health`, { rejectUnauthorized: false, agent: false })
    const [{ headers }] = await once(response, 'response')
    response.destroy()
    expect(headers['strict-transport-security']).toContain('max-age')
    await user.run`daemon stop`
    user.remove()
  })

  test.each([
    ['unreadable', { AGENT_TLS_CERT_FILE: file('none.pem') }, 'none.pem cannot be read'],
    ['not a certificate', { AGENT_TLS_CERT_FILE: file('text.pem') }, 'is not a certificate in PEM'],
    ['not a key', { AGENT_TLS_KEY_FILE: file('text.pem') }, 'is not a private key in PEM'],
    ['of another key', { AGENT_TLS_KEY_FILE: file('other.key') }, 'is not the key of the certificate'],
  ])('one that is %s is refused (2)', async (_, wrong, message) => {
    const found = findCertificate(readConfig({ ...own, ...wrong }), [])
    await expect(found).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining(message) })
  })

  test.each([
    ['expired', { AGENT_TLS_CERT_FILE: file('old.pem'), AGENT_TLS_KEY_FILE: file('old.key') }, 'has expired'],
    ['without a key', { AGENT_TLS_KEY_FILE: '' }, 'is set without AGENT_TLS_KEY_FILE'],
  ])('a start with one that is %s fails with the reason (2)', async (_, wrong, reason) => {
    using user = newUser()
    const { code, out, err } = await user.as({ ...own, ...wrong }).run`daemon start`
    expect({ code, out, err }).toEqual(fails(2, new RegExp(`^Error: [^\\n]*${reason}[^\\n]*$`)))
  })
})

// It needs user namespaces, which some containers and distributions do not allow.
describe.runIf(canIsolate)('in a local network', () => {
  let [alice, bob]: Laptop[] = []
  beforeAll(async () => void ([alice, bob] = await twoLaptops()))
  afterAll(() => Promise.all([alice?.close(), bob?.close()]))

  test('two agents connect when each trusts the authority of the other one', async () => {
    const start = (laptop: Laptop, env: Record<string, string> = {}) =>
      laptop.command(['daemon', 'start', '--lan', '--https', ...free, '--json'], env)
    const authority = (laptop: Laptop) => join(laptop.folder, 'data', 'tls', 'ca.pem')
    for (const laptop of [alice!, bob!]) {
      expect((await start(laptop)).code).toBe(0)
      await laptop.command(['daemon', 'stop'])
    }
    expect((await start(alice!, { NODE_EXTRA_CA_CERTS: authority(bob!) })).code).toBe(0)
    expect((await start(bob!, { NODE_EXTRA_CA_CERTS: authority(alice!) })).code).toBe(0)
    const { invitation } = await alice!.agent`connection invite`
    const accepted = await bob!.agent`connection accept ${invitation.invitationUrl} --wait`
    expect(accepted.state).toBe('ConnectionResponseReceived')
  })
})
