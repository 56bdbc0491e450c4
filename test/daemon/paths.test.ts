/** Paths of endpoints: base paths, slashes, percent-encoding, methods. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { route } from '../../daemon/http/route.ts'
import { startAgent } from '../support/agent.ts'
import { anyone } from './_route.ts'
import { untilEnd } from '../support/shared.ts'

const text = z.object({ text: z.string() })

/** The path with a parameter comes first, and must not hide the fixed one. */
const samples = [
  route(
    'GET /things/{id}',
    { ...anyone, path: { id: z.string().max(50) }, reply: [200, text] },
    (_, { path }) => Promise.resolve({ text: path.id }),
  ),
  route('GET /things/fixed', { ...anyone, reply: [200, text] }, (_, { target }) =>
    Promise.resolve({ text: `fixed ${target}` }),
  ),
  route(
    'GET /things/{id}/parts/{part}',
    {
      ...anyone,
      path: { id: z.guid(), part: z.string() },
      reply: [200, text],
    },
    (_, { path }) => Promise.resolve({ text: `${path.id} ${path.part}` }),
  ),
  route(
    'GET /media',
    {
      ...anyone,
      media: ['application/json', 'text/plain'],
      reply: [200, text],
    },
    (_, { accept }) =>
      Promise.resolve(
        accept.includes('text/plain')
          ? { type: 'text/plain', status: 203, body: 'as text' }
          : { type: 'application/json', body: { text: 'as JSON' } },
      ),
  ),
]

const agent = await untilEnd(startAgent({}, { routes: samples }))

const id = '0198c2f4-0000-7000-8000-000000000000'

async function get(path: string, method = 'GET'): Promise<[number, string | undefined]> {
  const response = await agent.send(method, path)
  const body = (await response.json()) as { text?: string; type?: string }
  return [response.status, body.text ?? body.type]
}

test.each([
  ['/things/one', 'one'],
  ['/things/one/', 'one'],
  ['/things/did:prism:abc:def', 'did:prism:abc:def'],
  ['/things/did%3Aprism%3Aabc', 'did:prism:abc'],
  ['/things/a%20b%2Fc', 'a b/c'],
  ['/things/%E0%A4%A', '%E0%A4%A'],
  ['/things/fixed', 'fixed /things/fixed'],
  ['/things/fixed/?a=b', 'fixed /things/fixed/?a=b'],
  ['/cloud-agent/things/one', 'one'],
  ['/prism-agent/things/one/', 'one'],
  ['/cloud-agent/things/fixed?a=b', 'fixed /cloud-agent/things/fixed?a=b'],
  ['//things/one', 'one'],
  ['////things/fixed/', 'fixed ////things/fixed/'],
  ['//cloud-agent/things/one', 'one'],
  ['/cloud-agent//things/one', 'one'],
  ['///cloud-agent///things/one/', 'one'],
  [`/things/${id}/parts/x`, `${id} x`],
  [`/things/${id.toUpperCase()}/parts/x`, `${id.toUpperCase()} x`],
])('%s is a path', async (path, expected) => {
  expect(await get(path)).toEqual([200, expected])
})

test.each([
  '/',
  '/nowhere',
  '/things',
  '/things/',
  '//',
  '//nowhere',
  '/things//one',
  '/things//fixed',
  '//things//one',
  '/%2Fthings/one',
  '/cloud-agent//cloud-agent/things/one',
  '//cloud-agent//',
  '//other-agent//things/one',
  '/Things/one',
  '/THINGS/FIXED',
  '/things/one//',
  `/things/${'x'.repeat(51)}`,
  '/things/no-uuid/parts/x',
  `/things/${id}/parts`,
  '/things/one/parts/x/more',
  '/cloud-agent',
  '/cloud-agent/',
  '/cloud-agentthings/one',
  '/cloud-agent/cloud-agent/things/one',
  '/other-agent/things/one',
])('%s is not a path', async (path) => {
  expect(await get(path)).toEqual([404, 'error:ResourcePathNotFound'])
})

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
  'a method that a path does not support, such as %s, is 404 like an unknown path',
  async (method) => {
    expect(await get('/things/one', method)).toEqual([404, 'error:ResourcePathNotFound'])
  },
)

test('HEAD is GET without the body', async () => {
  const response = await agent.send('HEAD', '/things/one')
  expect([response.status, await response.text(), response.headers.get('content-length')]).toEqual([
    200,
    '',
    '14',
  ])
})

test('an endpoint with several media types answers with the type and the status of its handler', async () => {
  const read = async (accept: string) => {
    const response = await agent.send('GET', '/media', { headers: { accept } })
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  expect(await read('*/*')).toEqual([200, 'application/json', '{"text":"as JSON"}'])
  expect(await read('text/plain')).toEqual([203, 'text/plain', 'as text'])
})

test('responses are not cached, sniffed or framed', async () => {
  const { headers } = await agent.send('GET', '/things/one')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'")
  expect(headers.get('strict-transport-security')).toBeNull()
  expect(headers.get('x-powered-by')).toBeNull()
})
