/** Request bodies: accepted types, limits, and refusals. */
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defaultMaxBytes } from '../../daemon/http/body.ts'
import { route } from '../../daemon/http/route.ts'
import { jsonLimits } from '../../src/foundation/json.ts'
import { startAgent } from '../support/agent.ts'
import { anyone } from './_route.ts'
import { untilEnd } from '../support/shared.ts'

const Body = z.object({
  name: z.string(),
  claims: z.record(z.string(), z.json()).optional(),
  list: z.array(z.object({ schemaId: z.url() })).optional(),
  either: z.union([z.string(), z.object({ uri: z.string(), retries: z.number() })]).optional(),
})

const echoing = { ...anyone, reply: [200, z.looseObject({})] } as const
const Optional = z.object({ from: z.string().optional() })
const Query = z.object({ n: z.coerce.number<number>().int().default(1) })

const echo = [
  route('POST /echo', { ...echoing, body: Body }, (_, { body }) => Promise.resolve(body)),
  route('POST /optional', { ...echoing, body: Optional }, (_, { body }) => Promise.resolve(body)),
  route('POST /none', { ...anyone, reply: [201, null] }, () => Promise.resolve()),
  route('DELETE /echo', { ...echoing, body: Body }, (_, { body }) => Promise.resolve(body)),
  route('GET /query', { ...echoing, query: Query }, (_, { query }) => Promise.resolve(query)),
]

const agent = await untilEnd(startAgent({}, { routes: echo }))

type Answer = { status: number; type?: string; detail?: string; body: unknown }

async function post(
  path: string,
  body: string | Uint8Array | undefined,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<Answer> {
  const response = await agent.send('POST', path, { headers, ...(body !== undefined && { body }) })
  const text = await response.text()
  const parsed = text === '' ? undefined : (JSON.parse(text) as { type?: string; detail?: string })
  return {
    status: response.status,
    ...(response.ok ? {} : { type: parsed!.type!, detail: parsed!.detail! }),
    body: parsed,
  }
}

const refused = { status: 400, type: 'error:RequestBodyDecodingFailure' }

describe('content types', () => {
  const body = new TextEncoder().encode('{"name":"x"}')

  test.each([
    {},
    { 'content-type': '' },
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'APPLICATION/JSON' },
    { 'content-type': 'application/vc+json' },
  ])('JSON is read from %j', async (headers) => {
    expect(await post('/echo', body, headers)).toMatchObject({ status: 200, body: { name: 'x' } })
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/jsonp',
    'multipart/form-data; boundary=json',
    'nonsense',
  ])('a body of type %s is 415', async (type) => {
    expect(await post('/echo', body, { 'content-type': type })).toMatchObject({
      status: 415,
      type: 'error:UnsupportedMediaType',
      detail: expect.stringContaining('application/json'),
    })
  })

  test('a content type without a body does not matter', async () => {
    expect(await post('/optional', undefined, { 'content-type': 'text/plain' })).toMatchObject({
      status: 200,
      body: {},
    })
    expect(await post('/none', 'anything', { 'content-type': 'text/plain' })).toMatchObject({ status: 201 })
  })

  test('a compressed body is read; an unknown or broken encoding is refused', async () => {
    const json = { 'content-type': 'application/json' }
    expect(await post('/echo', gzipSync(body), { ...json, 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
      body: { name: 'x' },
    })
    expect(
      await post('/echo', brotliCompressSync(body), { ...json, 'content-encoding': 'br' }),
    ).toMatchObject({
      status: 200,
      body: { name: 'x' },
    })
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const headers = { ...json, 'content-encoding': encoding }
      expect(await post('/echo', body, headers)).toMatchObject(refused)
      expect(await post('/echo', new Uint8Array([0xff, 0xff, 0]), headers)).toMatchObject(refused)
    }
    expect(await post('/echo', body, { ...json, 'content-encoding': 'compress' })).toMatchObject({
      status: 415,
    })
  })
})

describe('empty bodies', () => {
  test.each([undefined, '', 'null', '{}'])('%j counts as no body where none is required', async (body) => {
    expect(await post('/none', body)).toEqual({ status: 201, body: undefined })
    expect(await post('/optional', body)).toMatchObject({ status: 200, body: {} })
    expect(await post('/echo', body)).toMatchObject({
      ...refused,
      detail: 'name: is missing: it must be a text',
    })
  })

  test('an empty reply has no bytes and no content type', async () => {
    const response = await agent.send('POST', '/none')
    expect([
      response.status,
      response.headers.get('content-length'),
      response.headers.get('content-type'),
    ]).toEqual([201, '0', null])
  })
})

describe('refusals name the field by its dotted path and say why', () => {
  test.each([
    ['{"name":1}', 'name: must be a text, and is a number'],
    ['{}', 'name: is missing: it must be a text'],
    ['{"name":null}', 'name: must be a text, and is null'],
    [
      '{"name":"x","list":[{"schemaId":"ftp//"}]}',
      'list.0.schemaId: must be an absolute URL such as https://example.com/path',
    ],
    ['{"name":"x","list":[{}]}', 'list.0.schemaId: is missing: it must be a text'],
    ['{"list":{}}', 'name: is missing: it must be a text; list: must be an array, and is an object'],
    ['{"name":"x","either":{"uri":"u"}}', 'either.retries: is missing: it must be a number'],
    ['{"name":"x","claims":"none"}', 'claims: must be an object, and is a text'],
    ['[]', 'body: must be an object, and is an array'],
    ['"text"', 'body: must be an object, and is a text'],
    ['7', 'body: must be an object, and is a number'],
  ])('%s', async (body, detail) => {
    expect(await post('/echo', body)).toMatchObject({ ...refused, detail })
  })

  test('error messages do not repeat the input', async () => {
    const { detail } = await post(
      '/echo',
      '{"name":{"seed":"a-secret-seed"},"list":[{"schemaId":"a-secret-url"}]}',
    )
    expect(detail).not.toContain('secret')
  })

  test('many reasons are counted, not listed, and long names are cut', async () => {
    const { detail } = await post(
      '/echo',
      JSON.stringify({ name: 'x', list: Array.from({ length: 500 }, () => ({})) }),
    )
    expect(detail).toMatch(/; and 490 more$/)
    const long = await post('/echo', JSON.stringify({ name: 'x', either: { ['y'.repeat(10_000)]: 1 } }))
    expect(long.detail!.length).toBeLessThan(500)
  })

  test('an invalid query is 400, and unknown parameters are ignored', async () => {
    const get = async (query: string) => {
      const response = await agent.send('GET', `/query${query}`)
      return [response.status, await response.json()]
    }
    expect(await get('?n=x')).toEqual([
      400,
      expect.objectContaining({ type: 'BadRequest', detail: expect.stringContaining('n: must be a number') }),
    ])
    expect(await get('?n=1&n=2')).toEqual([400, expect.anything()])
    expect(await get('?name=whatever&__proto__=1&constructor=2')).toEqual([200, { n: 1 }])
    expect(await get('?%E0%A4%A')).toEqual([200, { n: 1 }])
  })
})

describe('sizes', () => {
  const padded = (bytes: number) => `{"name":"${'x'.repeat(bytes - '{"name":""}'.length)}"}`

  test('a body of one mebibyte is read, and one byte more is 413', async () => {
    expect((await post('/echo', padded(defaultMaxBytes))).status).toBe(200)
    expect(await post('/echo', padded(defaultMaxBytes + 1))).toMatchObject({
      status: 413,
      type: 'error:RequestBodyTooLarge',
    })
  })

  test('the limit applies to decompressed bodies, and to bodies without a length', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect(await post('/echo', gzipSync(padded(50 * defaultMaxBytes)), headers)).toMatchObject({
      status: 413,
    })
    const chunks = new ReadableStream({
      start: (stream) => (
        stream.enqueue(new TextEncoder().encode(padded(2 * defaultMaxBytes))),
        stream.close()
      ),
    })
    const response = await fetch(`${agent.url}/echo`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: chunks,
      duplex: 'half',
    })
    expect(response.status).toBe(413)
  })

  test('nesting is bounded', async () => {
    const nested = (depth: number) => `{"name":"x","claims":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`
    expect((await post('/echo', nested(jsonLimits.depth - 2))).status).toBe(200)
    expect(await post('/echo', nested(jsonLimits.depth - 1))).toMatchObject({
      ...refused,
      detail: `body: it is nested deeper than ${jsonLimits.depth} levels`,
    })
    expect(await post('/echo', nested(400_000))).toMatchObject(refused)
    // This would be invalid JSON if it were parsed.
    expect(await post('/echo', '['.repeat(defaultMaxBytes))).toMatchObject({
      ...refused,
      detail: `body: it is nested deeper than ${jsonLimits.depth} levels`,
    })
    expect((await post('/echo', `{"name":"${'['.repeat(1_000)}\\"${'{'.repeat(1_000)}"}`)).status).toBe(200)
  })
})

test('the number of values and the length of names are limited before validation', async () => {
  const many = (count: number) => `{"name":"x","list":[${'0,'.repeat(count)}0]}`
  expect(await post('/echo', many(jsonLimits.values))).toMatchObject({
    ...refused,
    detail: `body: it has more than ${jsonLimits.values} values`,
  })
  const { detail } = await post('/echo', many(jsonLimits.values - 10))
  expect(detail).toMatch(/^list\.0: .*; and \d+ more$/)
  const named = (length: number) => `{"name":"x","claims":{"${'n'.repeat(length)}":1}}`
  expect((await post('/echo', named(jsonLimits.name))).status).toBe(200)
  expect(await post('/echo', named(jsonLimits.name + 1))).toMatchObject({
    ...refused,
    detail: `body: it has a name of more than ${jsonLimits.name} characters`,
  })
})

const malformed = [
  '{',
  '}',
  '[',
  ']',
  '{]',
  '[}',
  '{"name"',
  '{"name":',
  '{"name":}',
  '{"name":"x"',
  '{"name":"x",}',
  '{"name":"x"}}',
  '{"name":"x"}{"name":"y"}',
  '{name:"x"}',
  "{'name':'x'}",
  '{"name":undefined}',
  '{"name":NaN}',
  '{"name":Infinity}',
  '{"name":01}',
  '{"name":1.}',
  '{"name":.5}',
  '{"name":+1}',
  '{"name":0x10}',
  '{"name":1e}',
  '{"name":"\\x"}',
  '{"name":"\\u12"}',
  '{"name":"\n"}',
  '{"name":"\t"}',
  '{"name":"x"/**/}',
  '// x\n{"name":"x"}',
  '<name>x</name>',
  'name=x',
  'nul',
  'NULL',
  'tru',
  '"',
  '"x',
  '\\',
  ' ',
  '\n',
  '\0',
  '{"name":"x"}\0',
  '-',
  '--1',
  '{,}',
  '[,]',
  '{"a":1 "b":2}',
  '{"":}',
  '{"name":"x";"b":1}',
  '\uFEFF{',
  '{"name":"x","name":"y"}',
  '{"__proto__":{"polluted":true},"name":"x"}',
  '{"name":"x","claims":{"__proto__":{"polluted":true}}}',
  '{"\\u005f_proto__":{"polluted":true},"name":"x"}',
]

test.each(malformed)('malformed JSON %j is 400 for every endpoint that reads a body', async (body) => {
  expect(await post('/echo', body)).toMatchObject({ ...refused, detail: expect.stringMatching(/^body: ./) })
  expect(await post('/optional', body)).toMatchObject(refused)
  expect((await post('/none', body)).status).toBe(201)
})

test('bytes that are not text are 400 or read as text, never an internal error', async () => {
  for (const bytes of [
    [0xff],
    [0xc3, 0x28],
    [0x7b, 0x22, 0xed, 0xa0, 0x80],
    [0xfe, 0xff, 0, 0x7b],
    [0x1f, 0x8b],
    [0x00],
  ]) {
    expect(await post('/echo', Uint8Array.from(bytes))).toMatchObject(refused)
  }
  expect(
    await post('/echo', Uint8Array.from([...new TextEncoder().encode('{"name":"'), 0xff, 0x22, 0x7d])),
  ).toMatchObject({
    status: 200,
    body: { name: '\uFFFD' },
  })
})

test.each([
  ['{"name":"x","constructor":{"prototype":{"polluted":true}}}', { name: 'x' }],
  [
    '{"name":"x","claims":{"constructor":{"prototype":{"polluted":true}},"toString":"t","hasOwnProperty":null}}',
    expect.objectContaining({ name: 'x' }),
  ],
  ['{"name":"x","unknown":{"deep":[1,2]},"description":null}', { name: 'x' }],
  ['\uFEFF{"name":"x"}', { name: 'x' }],
  [' \r\n\t{"name":"x"}\n', { name: 'x' }],
  ['{"name":"\\ud800"}', { name: '\ud800' }],
])('%s is read literally and changes no prototype', async (body, expected) => {
  expect(await post('/echo', body)).toMatchObject({ status: 200, body: expected })
  expect('polluted' in {}).toBe(false)
  expect(Object.prototype.toString.call({})).toBe('[object Object]')
})

test('claims keep members with the names of prototype members', async () => {
  const claims = { constructor: { prototype: { x: 1 } }, toString: 't', hasOwnProperty: null }
  expect((await post('/echo', JSON.stringify({ name: 'x', claims }))).body).toEqual({ name: 'x', claims })
})

test('a body of DELETE is read', async () => {
  const response = await agent.send('DELETE', '/echo', {
    body: '{"name":"x"}',
    headers: { 'content-type': 'application/json' },
  })
  expect([response.status, await response.json()]).toEqual([200, { name: 'x' }])
})

test.each([
  '{"seed": abcdefghij}',
  '{"seed":"x"abcdefghij}',
  '{"seed":"abcdefghij',
  '{"seed":"abcdefghij\n"}',
  'abcdefghij',
  '{"abcdefghij":1,}',
])('the error for invalid JSON does not repeat the input: %j', async (body) => {
  const answer = await post('/echo', body)
  expect(answer).toMatchObject({ ...refused, detail: expect.stringMatching(/^body: .*JSON/) })
  expect(answer.detail).not.toMatch(/abcd|ghij/)
})
