import { describe, expect, test } from 'vitest'
import type { Reach } from '../../../src/foundation/net/policy.ts'
import { UnreachableError } from '../../../src/foundation/net/unreachable-error.ts'
import { corpus, hostile } from './_corpus.ts'
import { startServer } from '../../support/server.ts'
import { always, openCanary, openClient } from './_connections.ts'

async function attack(allow: Reach) {
  const canary = await openCanary()
  const http = openClient({ allow, lookup: hostile })
  const urls = corpus(canary.port)
  const outcomes = await Promise.all(
    urls.flatMap((url) => [
      http
        .getJson(url, { timeoutMs: 10_000, maxBytes: 100, maxRedirects: 3 })
        .catch((error: unknown) => error),
      http.post(url, { headers: {}, body: '{}', timeoutMs: 10_000 }).catch((error: unknown) => error),
    ]),
  )
  return { canary, urls, outcomes }
}

describe('spellings of forbidden addresses', () => {
  test('reach nothing when only public addresses are allowed', async () => {
    const { canary, urls, outcomes } = await attack('public')
    expect(urls.length).toBeGreaterThan(200)
    const codes = outcomes.map((outcome) =>
      outcome instanceof UnreachableError ? outcome.code : 'got through',
    )
    expect(new Set(codes)).toEqual(new Set(['address-not-allowed', 'bad-url', 'port-not-allowed']))
    expect(canary.connections()).toBe(0)
  })

  test('reach the same canary when this machine is allowed, so the test above can fail', async () => {
    const { canary, outcomes } = await attack('loopback')
    expect(outcomes.filter((outcome) => !(outcome instanceof Error)).length).toBeGreaterThan(100)
    expect(canary.connections()).toBeGreaterThan(0)
  })
})

const json = { timeoutMs: 5_000, maxBytes: 10_000 }

describe('a name', () => {
  test('whose second answer is a private address is refused then', async () => {
    await using server = await startServer((_, response) =>
      response.setHeader('connection', 'close').end('1'),
    )
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']]
    const http = openClient({ allow: 'loopback', lookup: (name) => always(...answers.shift()!)(name) })
    const url = `http://rebind.example:${server.port}/`
    expect(await http.getJson(url, json)).toBe(1)
    await expect(http.getJson(url, json)).rejects.toMatchObject({ code: 'address-not-allowed' })
    expect(await http.getJson(url, json)).toBe(1)
    expect(server.connections()).toBe(2)
    expect(answers).toEqual([])
  })

  test('with allowed and forbidden addresses is called at the allowed ones', async () => {
    await using server = await startServer((_, response) => response.end('1'))
    const http = openClient({
      allow: 'loopback',
      lookup: always('10.0.0.1', '::ffff:192.168.0.1', '127.0.0.1'),
    })
    expect(await http.getJson(`http://mixed.example:${server.port}/`, json)).toBe(1)
  })

  test('without addresses is refused', async () => {
    await expect(
      openClient({ allow: 'any', lookup: always() }).getJson('http://void.example/', json),
    ).rejects.toMatchObject({ name: 'UnreachableError' })
  })
})
