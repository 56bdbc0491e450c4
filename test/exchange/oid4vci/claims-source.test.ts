/** The request to a claims source, and its answers, also those of a source that lies or dies. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import {
  askSource,
  type ClaimsRequest,
  ClaimsSource,
  readAnswer,
} from '../../../src/exchange/oid4vci/claims-source.ts'
import { newSecret } from '../../../src/wallet/events/signature.ts'
import { filled, openSource, type Scripted } from './_claims-source.ts'

const secret = newSecret()
const request: ClaimsRequest = {
  issuerId: 'issuer',
  recordId: 'record',
  configurationId: 'Employee',
  credentialIdentifier: 'record',
  purpose: 'issue',
  offered: { employeeId: '7' },
  wanted: [['department'], ['address', 'street'], ['phones']],
  wallet: { attested: false },
}

function ask(
  url: string,
  { timeout = 5, id = 'need', issuerId = 'issuer', http = createHttpClient({ allow: 'loopback' }) } = {},
) {
  return askSource(
    { http, config: { OID4VCI_CLAIMS_TIMEOUT: timeout } },
    { source: ClaimsSource.parse({ url }), secrets: [{ secret }], id, request: { ...request, issuerId } },
  )
}

test('a request has its content, an id and a signature that a tenant verifies', async () => {
  await using source = await openSource(filled({ department: 'Sales' }))
  expect(await ask(source.url)).toEqual({
    kind: 'claims',
    claims: { department: 'Sales' },
    validitySeconds: undefined,
    digest: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(source.verify(secret)).toEqual({ type: 'ClaimsRequested', ...request })
  expect(() => source.verify(newSecret())).toThrow()
  expect(source.requests[0]).toMatchObject({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'webhook-id': 'need' },
  })
})

describe('a source that does not answer is asked once more, with the same id', () => {
  const failures: [string, Scripted, string][] = [
    ['429', { status: 429 }, 'answered 429'],
    ['500', { status: 500 }, 'answered 500'],
    ['a broken connection', 'cut', 'could not be reached'],
    ['silence', 'silent', 'did not answer within 200 ms'],
  ]
  test.each(failures)('%s, and then claims', async (_, failure) => {
    await using source = await openSource(failure, filled({ department: 'Sales' }))
    expect(await ask(source.url, { timeout: 0.2 })).toMatchObject({ kind: 'claims' })
    expect(source.ids()).toEqual(['need', 'need'])
    expect(source.bodies[0]).toBe(source.bodies[1])
    source.verify(secret, 1)
  })

  test.each(failures)('%s twice', async (_, failure, reason) => {
    await using source = await openSource(failure)
    expect(await ask(source.url, { timeout: 0.2 })).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining(reason),
      seconds: 0,
    })
    expect(source.ids()).toHaveLength(2)
  })
})

test('a source that names a time is not asked before', async () => {
  await using source = await openSource({ status: 503, headers: { 'retry-after': '120' } })
  expect(await ask(source.url)).toMatchObject({ kind: 'unavailable', seconds: 120 })
})

const tooMuch = `{"claims":{"department":"${'a'.repeat(262_144)}"}}`

test.each<[string, Scripted, object]>([
  ['a deferral', { status: 202, body: { retryAfter: 3_600 } }, { kind: 'later', seconds: 3_600 }],
  ['a refusal', { status: 403, body: { reason: 'has\nleft' } }, { kind: 'refused', reason: 'has left' }],
  [
    'a refusal without reason',
    { status: 404, body: '<html>' },
    { kind: 'refused', reason: 'The claims source answered 404.' },
  ],
  ['a validity', filled({}, { validitySeconds: 60 }), { kind: 'claims', validitySeconds: 60 }],
  ['no validity', filled({}, { validitySeconds: null }), { kind: 'claims', validitySeconds: undefined }],
  ['a part of a wanted claim', filled({ address: { street: 'A' } }), { kind: 'claims' }],
  ['an array of a wanted claim', filled({ phones: ['1', '2'] }), { kind: 'claims' }],
  ['another status', { status: 201, body: { claims: {} } }, unusable('answered 201')],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:9/' } }, unusable('answered 307')],
  ['no JSON', { status: 200, body: 'claims' }, unusable('is not JSON')],
  ['a member twice', { status: 200, body: '{"claims":{},"claims":{}}' }, unusable('names a member twice')],
  ['no claims', { status: 200, body: {} }, unusable('claims:')],
  ['a list of claims', { status: 200, body: { claims: ['secret'] } }, unusable('claims:')],
  ['a wrong validity', filled({}, { validitySeconds: -1 }), unusable('validitySeconds:')],
  ['no time', { status: 202, body: {} }, unusable('retryAfter:')],
  ['a time in 31 days', { status: 202, body: { retryAfter: 31 * 86_400 } }, unusable('retryAfter:')],
  ['too much', { status: 200, body: tooMuch }, unusable('more than 262144 bytes')],
  ['a claim that was not asked for', filled({ salary: 'secret' }), unusable('claims.salary: was not asked')],
  [
    'a part that was not asked for',
    filled({ address: { street: 'A', city: 'secret' } }),
    unusable('claims.address.city: was not asked'),
  ],
  ['a value for an object', filled({ address: 'secret' }), unusable('claims.address: was not asked')],
  ['an offered claim', filled({ employeeId: 'secret' }), unusable('claims.employeeId: was not asked')],
])('an answer with %s is read, once', async (_, scripted, expected) => {
  await using source = await openSource(scripted)
  const answer = await ask(source.url)
  expect(answer).toMatchObject(expected)
  expect(JSON.stringify(answer.kind === 'claims' ? '' : answer)).not.toContain('secret')
  expect(source.requests).toHaveLength(1)
})

function unusable(reason: string) {
  return { kind: 'unusable', reason: expect.stringContaining(reason) }
}

test('while a source gives no answer, one request at a time waits for it', async () => {
  await using source = await openSource('silent')
  const http = createHttpClient({ allow: 'loopback' })
  const askIt = (rest = {}) => ask(source.url, { http, timeout: 0.2, ...rest })
  expect((await askIt()).kind).toBe('unavailable')
  expect(source.requests).toHaveLength(2)
  const probe = askIt()
  await source.arrived(3)
  const order: string[] = []
  const others = Array.from({ length: 5 }, () => askIt())
  void Promise.all(others).then(() => order.push('others'))
  await probe.then(() => order.push('probe'))
  for (const each of others) expect(await each).toMatchObject({ kind: 'unavailable', isSilent: true })
  expect(order).toEqual(['others', 'probe'])
  // Not repeated.
  expect(source.requests).toHaveLength(3)
  // It is not that of another issuer.
  expect((await askIt({ issuerId: 'other' })).kind).toBe('unavailable')
  expect(source.requests).toHaveLength(5)
  source.answers(filled({ department: 'Sales' }))
  const answers = await Promise.all([askIt(), askIt()])
  expect(answers.map(({ kind }) => kind)).toEqual(['claims', 'unavailable'])
  expect((await Promise.all([askIt(), askIt()])).map(({ kind }) => kind)).toEqual(['claims', 'claims'])
})

test('a source that answers with an error is not silent', async () => {
  await using source = await openSource({ status: 503 })
  const http = createHttpClient({ allow: 'loopback' })
  await ask(source.url, { http })
  await Promise.all([ask(source.url, { http }), ask(source.url, { http })])
  expect(source.requests).toHaveLength(6)
})

test('an address of this machine is not asked unless the operator allows it', async () => {
  await using source = await openSource(filled({}))
  const http = createHttpClient({ allow: 'public' })
  const asking = { source: { url: source.url } as ClaimsSource, secrets: [{ secret }], id: 'need', request }
  expect(await askSource({ http, config: { OID4VCI_CLAIMS_TIMEOUT: 5 } }, asking)).toMatchObject({
    kind: 'unusable',
  })
  expect(source.requests).toEqual([])
})

test.each([
  ['https://hr.example/claims', true],
  ['http://127.0.0.1:8000/claims', true],
  ['http://localhost/claims', true],
  ['http://hr.example/claims', false],
  ['https://user@hr.example/claims', false],
  ['ftp://hr.example/claims', false],
  ['hr.example', false],
])('the URL %s: %j', (url, isGood) => {
  expect(ClaimsSource.safeParse({ url }).success).toBe(isGood)
})

test('no body makes the reader throw, and none that is refused is quoted', () => {
  const parts = ['{', '}', '"claims"', ':', '"x"', '[', ']', 'null', '1e999', ',', '\\', '"__proto__":{},']
  const good = '{"claims":{"department":"secret","phones":["secret"]},"validitySeconds":60,"retryAfter":9}'
  const seen = new Set<string>()
  for (let round = 0; round < 5_000; round++) {
    const [at, cut, part, status] = randomBytes(4)
    const place = at! % good.length
    const text = good.slice(0, place) + parts[part! % parts.length] + good.slice(place + (cut! % 12))
    const sent = { status: [200, 200, 202, 403, 418, 503][status! % 6]!, text }
    const answer = readAnswer(sent, request.wanted)
    seen.add(answer.kind)
    if (answer.kind !== 'claims') expect(JSON.stringify(answer), text).not.toContain('secret')
    else for (const name of Object.keys(answer.claims)) expect(['department', 'phones'], text).toContain(name)
  }
  expect([...seen].toSorted()).toEqual(['claims', 'later', 'refused', 'unavailable', 'unusable'])
})
