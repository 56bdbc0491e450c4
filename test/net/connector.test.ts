import { describe, expect, onTestFinished, test } from 'vitest'
import type { ConnectionOptions, Lookup, Reach } from '../../src/net/connector.ts'
import { createHttpClient } from '../../src/net/guarded-agent.ts'
import { UnreachableError } from '../../src/net/unreachable-error.ts'
import { startServer } from './_server.ts'

/** Spellings of this machine that a URL parser turns into an address or a name. */
const hosts = `
  127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7F.0x0.0x0.0x1 0177.0.0.1 017700000001 127.0.0.1. 0 0.0.0.0 0x0
  127.127.127.127 127.0.0.2 %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.0.0.1 127。0。0。1 127．0．0．1 ①②⑦.⓪.⓪.① localhost LOCALHOST localhost.
  lOcAlHoSt ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ loc\u00adalhost localhost.localdomain a.localhost %6cocalhost 127.0.0.1.nip.io localtest.me
  rebind.example xn--e1aybc.example ip6-localhost metadata.google.internal host.docker.internal [::1] [0:0:0:0:0:0:0:1]
  [0000:0000:0000:0000:0000:0000:0000:0001] [::] [0::0] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001]
  [0:0:0:0:0:ffff:127.0.0.1] [::127.0.0.1] [::7f00:1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [::ffff:0:127.0.0.1]
  10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.100.100.200 [fe80::1] [fc00::1] [::ffff:a9fe:a9fe] [::ffff:10.0.0.1]
`
  .trim()
  .split(/\s+/)

function corpus(port: number): string[] {
  const urls = hosts.flatMap((host) => [
    `http://${host}:${port}/`,
    `http:${host}:${port}/a?b#c`,
    `https://${host}:${port}/`,
    `http:\\\\${host}:${port}\\`,
  ])
  const tricks = [
    `http://user:pass@127.0.0.1:${port}/`,
    `http://user@127.0.0.1:${port}/`,
    `http://:pass@127.0.0.1:${port}/`,
    `http://example.org@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}@example.org/`,
    `http://example.org#@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}\\@example.org/`,
    `http://example.org:80:${port}/`,
    ` \thttp://127.0.0.1:${port}/ `,
    `ht\ntp://127.0.0.1:${port}/`,
    `HTTP://127.0.0.1:${port}/`,
    `http:/127.0.0.1:${port}/`,
    `//127.0.0.1:${port}/`,
    `127.0.0.1:${port}`,
    `ftp://127.0.0.1:${port}/`,
    `file://127.0.0.1:${port}/`,
    `gopher://127.0.0.1:${port}/_GET`,
    `ws://127.0.0.1:${port}/`,
    `blob:http://127.0.0.1:${port}/`,
    `data:text/plain,1`,
    `javascript:1`,
    `http://[::1%25lo]:${port}/`,
    `http://[::1:${port}/`,
    '',
  ]
  return [...urls, ...tricks]
}

/** The worst name server: every name is this machine. */
const hostile: Lookup = async () => [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

async function attack(allow: Reach) {
  const canary = await startServer((_, response) => response.end('{}'), '::').catch(() =>
    startServer((_, response) => response.end('{}'), '0.0.0.0'),
  )
  const http = createHttpClient({ allow, lookup: hostile })
  onTestFinished(async () => {
    await http.close()
    await canary[Symbol.asyncDispose]()
  })
  const urls = corpus(canary.port)
  const outcomes = await Promise.all(
    urls.flatMap((url) => [
      http.getJson(url, { timeoutMs: 10_000, maxBytes: 100, maxRedirects: 3 }).catch((error: unknown) => error),
      http.post(url, { headers: {}, body: '{}', timeoutMs: 10_000 }).catch((error: unknown) => error),
    ]),
  )
  return { canary, urls, outcomes }
}

describe('spellings of forbidden addresses', () => {
  test('reach nothing when only public addresses are allowed', async () => {
    const { canary, urls, outcomes } = await attack('public')
    expect(urls.length).toBeGreaterThan(200)
    const codes = outcomes.map((outcome) => (outcome instanceof UnreachableError ? outcome.code : 'got through'))
    expect(new Set(codes)).toEqual(new Set(['address-not-allowed', 'bad-url']))
    expect(canary.connections()).toBe(0)
  })

  test('reach the same canary when this machine is allowed, so the test above can fail', async () => {
    const { canary, outcomes } = await attack('loopback')
    expect(outcomes.filter((outcome) => !(outcome instanceof Error)).length).toBeGreaterThan(100)
    expect(canary.connections()).toBeGreaterThan(0)
  })
})

const json = { timeoutMs: 5_000, maxBytes: 10_000 }

function open(options: ConnectionOptions) {
  const made = createHttpClient(options)
  onTestFinished(() => made.close())
  return made
}

/** Answers every name with the same addresses. */
const always =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

describe('a name', () => {
  test('whose second answer is a private address is refused then', async () => {
    await using server = await startServer((_, response) => response.setHeader('connection', 'close').end('1'))
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']]
    const http = open({ allow: 'loopback', lookup: (name) => always(...answers.shift()!)(name) })
    const url = `http://rebind.example:${server.port}/`
    expect(await http.getJson(url, json)).toBe(1)
    await expect(http.getJson(url, json)).rejects.toMatchObject({ code: 'address-not-allowed' })
    expect(await http.getJson(url, json)).toBe(1)
    expect(server.connections()).toBe(2)
    expect(answers).toEqual([])
  })

  test('with allowed and forbidden addresses is called at the allowed ones', async () => {
    await using server = await startServer((_, response) => response.end('1'))
    const http = open({ allow: 'loopback', lookup: always('10.0.0.1', '::ffff:192.168.0.1', '127.0.0.1') })
    expect(await http.getJson(`http://mixed.example:${server.port}/`, json)).toBe(1)
  })

  test('without addresses is refused', async () => {
    await expect(open({ allow: 'any', lookup: always() }).getJson('http://void.example/', json)).rejects.toMatchObject({
      name: 'UnreachableError',
    })
  })
})
