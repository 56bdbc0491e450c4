/** Page objects. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cut, Paging, toPage, toPageAfter } from '../../daemon/http/paging.ts'
import { adminToken, startAgent, type TestAgent } from '../support/agent.ts'
import { ask } from '../support/ask.ts'
import { withDetail } from '../support/detail.ts'

const page = (target: string, query: object, total: number, count: number) =>
  toPage('WalletPage', { target, total, ...Paging.parse(query) }, Array.from({ length: count }))

test('an empty list has neither a next nor a previous page', () => {
  expect(toPage('WalletPage', { target: '/wallets', offset: 0, limit: 100, total: 0 }, [])).toEqual({
    self: '/wallets',
    kind: 'WalletPage',
    pageOf: '/wallets',
    contents: [],
  })
  expect(page('/wallets?offset=5', { offset: '5' }, 0, 0)).not.toHaveProperty('previous')
})

test.each([
  // offset, limit, total, items on the page, next, previous
  [0, 10, 25, 10, [10, 10], undefined],
  [10, 10, 25, 10, [20, 10], [0, 10]],
  [20, 10, 25, 5, undefined, [10, 10]],
  [0, 10, 10, 10, undefined, undefined],
  [0, 10, 11, 10, [10, 10], undefined],
  [10, 10, 20, 10, undefined, [0, 10]],
  [3, 10, 25, 10, [13, 10], [0, 10]],
  [30, 10, 25, 0, undefined, [20, 10]],
  [0, 1, 2, 1, [1, 1], undefined],
] as const)(
  'offset %i and limit %i of %i return %i, next %j, previous %j',
  (offset, limit, total, count, next, previous) => {
    const target = `/wallets?offset=${offset}&limit=${limit}`
    const result = page(target, { offset: String(offset), limit: String(limit) }, total, count)
    const link = (paging: readonly [number, number] | undefined) =>
      paging && `/wallets?offset=${paging[0]}&limit=${paging[1]}`
    expect([result.self, result.pageOf, result.next, result.previous]).toEqual([
      target,
      '/wallets',
      link(next),
      link(previous),
    ])
  },
)

test('links keep the other parameters, the base path and the trailing slash, and are relative', () => {
  const result = page('/cloud-agent/wallets/?thid=a%20b&limit=1', { limit: '1' }, 3, 1)
  expect(result).toMatchObject({
    self: '/cloud-agent/wallets/?thid=a%20b&limit=1',
    pageOf: '/cloud-agent/wallets/?thid=a+b',
    next: '/cloud-agent/wallets/?thid=a+b&limit=1&offset=1',
  })
  expect(page('http://agent.example/wallets?limit=1', { limit: '1' }, 2, 1)).toMatchObject({
    self: '/wallets?limit=1',
    next: '/wallets?limit=1&offset=1',
  })
})

test('links of a path with several leading slashes contain no host', () => {
  expect(page('//wallets?limit=1&offset=1', { limit: '1', offset: '1' }, 3, 1)).toMatchObject({
    self: '/wallets?limit=1&offset=1',
    pageOf: '/wallets',
    next: '/wallets?limit=1&offset=2',
    previous: '/wallets?limit=1&offset=0',
  })
  expect(page('http://agent.example///evil.example/wallets?limit=1', { limit: '1' }, 3, 1)).toMatchObject({
    self: '/evil.example/wallets?limit=1',
    pageOf: '/evil.example/wallets',
  })
  const log = toPageAfter('Log', { target: '//events/log?after=1', after: '2' }, [])
  expect(log).toMatchObject({
    self: '/events/log?after=1',
    pageOf: '/events/log',
    next: '/events/log?after=2',
  })
})

test('a list may have another self link', () => {
  expect(
    toPage('Collection', { target: '/connections', offset: 0, limit: 1, total: 0 }, [], '/collections'),
  ).toMatchObject({
    self: '/collections',
    pageOf: '/connections',
  })
})

test('`pageOf` cuts a page out of a list in memory', () => {
  expect(cut(['a', 'b', 'c'], { offset: 1, limit: 1 })).toEqual(['b'])
  expect(cut(['a', 'b', 'c'], { offset: 7, limit: 1 })).toEqual([])
})

describe('over HTTP', () => {
  let agent: TestAgent
  beforeAll(async () => {
    agent = await startAgent({ DEFAULT_WALLET_ENABLED: 'false' })
    for (const name of ['one', 'two', 'three', 'four', 'five'])
      await agent.admin('POST /wallets', { body: { name } })
  })
  afterAll(() => agent[Symbol.asyncDispose]())
  const get = (target: string) => ask(agent, `GET ${target}`, { headers: { 'x-admin-api-key': adminToken } })

  test('`next` leads to all items once in the order of creation, and `previous` leads back', async () => {
    const names: string[] = []
    const targets: string[] = []
    for (let next: string | undefined = '/wallets?limit=2'; next !== undefined;) {
      targets.push(next)
      const { body } = await get(next)
      names.push(...body.contents.map(({ name }: { name: string }) => name))
      if (targets.length === 3) expect(body.previous).toBe('/wallets?limit=2&offset=2')
      next = body.next
    }
    expect(names).toEqual(['one', 'two', 'three', 'four', 'five'])
    expect(targets).toHaveLength(3)
  })

  test.each([
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=ten',
    'limit=1.5',
    'limit=',
    'limit=0x10',
    'limit=1e2',
    'limit=1&limit=2',
    'offset=-1',
    'offset=none',
    'offset=9999999999999999',
  ])('%s is 400 and names the parameter', async (query) => {
    const { body } = await get(`/wallets?${query}`)
    expect(body).toMatchObject({ ...withDetail(400, `${query.split('=')[0]}: `), type: 'BadRequest' })
  })

  test.each([
    ['limit=1000', 5],
    ['offset=4', 1],
    ['offset=5', 0],
    ['offset=100000', 0],
    ['limit=1&name=whatever', 1],
  ])('%s returns %i', async (query, count) => {
    expect((await get(`/wallets?${query}`)).body.contents).toHaveLength(count)
  })
})
