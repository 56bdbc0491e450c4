import { describe, expect, test } from 'vitest'
import { readHostList, readPorts } from '../../../src/foundation/config/host-list.ts'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import { createPolicy, type Limits } from '../../../src/foundation/net/policy.ts'
import { startServer } from '../../support/server.ts'
import { words } from '../../support/words.ts'

type Lists = { allow?: Limits['allow']; hosts?: string; deny?: string; ports?: string }

function policyOf({ allow = 'public', hosts = '', deny = '', ports }: Lists) {
  const allowPorts = ports === undefined ? undefined : readPorts(ports)
  return createPolicy({ allow, allowHosts: readHostList(hosts), denyHosts: readHostList(deny), allowPorts })
}

/** Returns the code of the refusal for a host that resolves to an address, or undefined. */
function judge(lists: Lists, host: string, ip = host, port = 443): string | undefined {
  const policy = policyOf(lists)
  return (policy.judgeHost(host, port) ?? policy.judgeAddress(host, ip))?.code
}

describe('a list of allowed hosts', () => {
  const hosts = 'hooks.internal, .partner.example, 10.20.0.0/16, fd00:1::/32, 192.168.7.7, [fd00:9::1]'
  test.each([
    ['hooks.internal', '10.1.1.1'],
    ['HOOKS.internal.', '127.0.0.1'],
    ['partner.example', '10.1.1.1'],
    ['a.b.partner.example', '10.1.1.1'],
    ['any.example', '10.20.255.255'],
    ['any', '10.20.0.1'],
    ['10.20.3.4', '10.20.3.4'],
    ['::ffff:a14:304', '::ffff:a14:304'],
    ['64:ff9b::a14:304', '64:ff9b::a14:304'],
    ['fd00:1::7', 'fd00:1::7'],
    ['192.168.7.7', '192.168.7.7'],
    ['fd00:9::1', 'fd00:9::1'],
    ['public.example', '8.8.8.8'],
  ])('allows %s at %s', (host, ip) => expect(judge({ hosts }, host, ip)).toBeUndefined())

  test.each([
    ['sub.hooks.internal', '10.1.1.1'],
    ['notpartner.example', '10.1.1.1'],
    ['partner.example.evil.example', '10.1.1.1'],
    ['any.example', '10.21.0.1'],
    ['192.168.7.8', '192.168.7.8'],
    ['fd00:9::1%eth0', 'fd00:9::1%eth0'],
  ])('does not allow %s at %s', (host, ip) => expect(judge({ hosts }, host, ip)).toBe('address-not-allowed'))
})

describe('a list of denied hosts', () => {
  const lists: Lists = {
    allow: 'private',
    hosts: 'deep.evil.example, 8.8.4.4',
    deny: '.evil.example, 8.8.0.0/16, 2001:db9::/32',
  }
  test.each([
    ['evil.example', '1.1.1.1'],
    ['x.Evil.example.', '1.1.1.1'],
    ['deep.evil.example', '1.1.1.1'],
    ['other.example', '8.8.8.8'],
    ['8.8.4.4', '8.8.4.4'],
    ['::ffff:808:808', '::ffff:808:808'],
    ['2001:db9::5', '2001:db9::5'],
  ])('denies %s at %s, also when it is on the other list', (host, ip) =>
    expect(judge(lists, host, ip)).toBe('host-denied'),
  )
  test('denies no other host', () => expect(judge(lists, 'other.example', '8.9.0.1')).toBeUndefined())

  test('with * denies every host that is not on the other list', () => {
    const rest = { deny: '*, 10.1.0.0/16', hosts: '.own.example, 10.0.0.0/8' }
    expect(judge(rest, 'a.own.example', '1.1.1.1')).toBeUndefined()
    expect(judge(rest, 'any.example', '10.2.0.1')).toBeUndefined()
    expect(judge(rest, 'any.example', '10.1.0.1')).toBe('host-denied')
    expect(judge(rest, 'any.example', '1.1.1.1')).toBe('host-denied')
    expect(judge({ deny: '*', hosts: 'own.example' }, '1.1.1.1')).toBe('host-denied')
  })

  test('applies to the operator’s own client too, if it has one', () => {
    expect(judge({ allow: 'any', deny: '127.0.0.0/8' }, 'x.example', '127.0.0.1')).toBe('host-denied')
  })
})

describe('a private network that is allowed', () => {
  test.each(
    words(`
    10.0.0.1 172.20.0.1 192.168.1.1 100.64.0.1 127.0.0.1 ::1 fd12::1 ::ffff:10.0.0.1 8.8.8.8
  `),
  )('%s is allowed', (ip) => expect(judge({ allow: 'private' }, ip)).toBeUndefined())
  test.each(
    words(`
    169.254.169.254 169.254.170.2 fd00:ec2::254 fd20:ce::254 100.100.100.200 168.63.129.16 192.0.0.192
    ::ffff:a9fe:a9fe 64:ff9b::a9fe:a9fe fe80::1 0.0.0.0 :: 255.255.255.255 224.0.0.1 240.0.0.1 2002:a00:1::
  `),
  )('%s, a metadata service or reserved address, is refused', (ip) =>
    expect(judge({ allow: 'private' }, ip)).toBe('address-not-allowed'),
  )
  test('a metadata service is called when the operator allows it', () => {
    expect(judge({ allow: 'public', hosts: '169.254.169.254' }, '169.254.169.254')).toBeUndefined()
  })
})

describe('names of private networks', () => {
  test.each(['db.internal', 'printer.local', 'localhost', 'intranet', 'a.svc.localhost.'])(
    '%s is not looked up',
    async (host) => {
      let lookups = 0
      const http = createHttpClient({
        allow: 'public',
        lookup: async () => (lookups++, [{ address: '8.8.8.8', family: 4 }]),
      })
      const asked = http.getJson(`http://${host}/`, { timeoutMs: 1_000, maxBytes: 1 })
      await expect(asked).rejects.toMatchObject({ code: 'address-not-allowed' })
      await http.close()
      expect(lookups).toBe(0)
    },
  )
})

describe('ports', () => {
  test.each([1, 22, 25, 53, 110, 389, 6000, 6667, 10080])('port %i of another service is refused', (port) => {
    expect(judge({}, '8.8.8.8', undefined, port)).toBe('port-not-allowed')
  })
  test.each([80, 443, 3000, 8080, 8085, 8090, 8443, 65535])('port %i is allowed', (port) =>
    expect(judge({}, '8.8.8.8', undefined, port)).toBeUndefined(),
  )
  test('a list of ports replaces the defaults', () => {
    const ports = '25,8000-8002'
    expect([25, 8000, 8001, 8002].map((port) => judge({ ports }, '8.8.8.8', undefined, port))).toEqual(
      Array(4).fill(undefined),
    )
    expect(new Set([443, 7999, 8003].map((port) => judge({ ports }, '8.8.8.8', undefined, port)))).toEqual(
      new Set(['port-not-allowed']),
    )
  })

  test('the default port of a URL counts too', async () => {
    const http = createHttpClient({ allow: 'public', allowPorts: [[8443, 8443]] })
    for (const url of ['http://8.8.8.8/', 'https://8.8.8.8/', 'https://8.8.8.8:443/']) {
      await expect(http.getJson(url, { timeoutMs: 1_000, maxBytes: 1 })).rejects.toMatchObject({
        code: 'port-not-allowed',
      })
    }
    await http.close()
  })
})

describe('the error message', () => {
  test.each([
    [{}, 'http://10.0.0.1/', /^10\.0\.0\.1 is an address of a private network .* AGENT_ALLOW_HOSTS$/],
    [{ deny: '8.8.8.8' }, 'http://8.8.8.8/', /^8\.8\.8\.8 is not called: .*AGENT_DENY_HOSTS/],
    [{ ports: '443' }, 'http://8.8.8.8:81/', /^8\.8\.8\.8 at port 81 is not called: .*AGENT_ALLOW_PORTS/],
  ])('%j: %s', async ({ deny = '', ports }: Lists, url, message) => {
    const allowPorts = ports === undefined ? undefined : readPorts(ports)
    const http = createHttpClient({ allow: 'public', denyHosts: readHostList(deny), allowPorts })
    await expect(http.getJson(url, { timeoutMs: 1_000, maxBytes: 1 })).rejects.toThrow(message)
    await http.close()
  })

  test('of a redirect does not contain its target', async () => {
    await using server = await startServer((request, response) =>
      response
        .writeHead(302, { location: request.url === '/a' ? '/b' : 'http://secret-name.internal:8/x' })
        .end(),
    )
    const http = createHttpClient({ allow: 'loopback' })
    const error = await http
      .getJson(`${server.url}/a`, { timeoutMs: 1_000, maxBytes: 1, maxRedirects: 3 })
      .catch((thrown: Error) => thrown)
    expect(error).toMatchObject({
      name: 'UnreachableError',
      message: expect.stringContaining(`127.0.0.1:${server.port}`),
    })
    expect(String(error)).not.toMatch(/secret|internal/)
    await http.close()
  })
})
