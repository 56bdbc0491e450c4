/** The embedded ledger over NeoPRISM's API: statuses and bodies. */
import { create, toBinary } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { decodeDidData } from '../../../src/did/prism/did-data.ts'
import { toLongForm, toShortForm } from '../../../src/did/prism/did.ts'
import { encodeOperation, operationId } from '../../../src/did/prism/operations.ts'
import { AtalaObjectSchema } from '../../../src/did/prism/prism_pb.ts'
import { startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { withDetail } from '../../support/detail.ts'
import {
  createBytes,
  masterKey,
  published,
  signedCreate,
  signedDeactivate,
  signedUpdate,
  suffixOf,
} from '../../did/prism/_make.ts'
import { startServer } from '../../support/server.ts'
import { add, clock, openFile, temporaryFile } from '../../did/ledger/_ledgers.ts'
import { ledgerApp } from '../../did/ledger/_serve.ts'
import { untilEnd } from '../../support/shared.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const did = toShortForm(suffixOf())

const agent = await untilEnd(startAgent())

async function call(path: string, init: { body?: unknown; accept?: string } = {}) {
  const { body, accept } = init
  const response = await agent.send(body === undefined ? 'GET' : 'POST', path, {
    ...(accept !== undefined && { headers: { accept } }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const type = response.headers.get('content-type')
  return {
    status: response.status,
    type,
    text,
    body: /json|did/.test(type ?? '') ? JSON.parse(text) : undefined,
  }
}

const submit = (...operations: Uint8Array[]) =>
  call('/api/submissions/signed-operations', { body: { signed_operations: operations.map(hex) } })

const submitTo = (server: { url: string }, ...operations: Uint8Array[]) =>
  ask(server, 'POST /api/submissions/signed-operations', {
    body: { signed_operations: operations.map(hex) },
  })

/** DIDs that no other test uses. */
let made = 0
const fresh = () => ({ contexts: [`https://example.com/${++made}`] })

describe('submissions', () => {
  test('of one operation and of several, signed or in an object', async () => {
    const [one, two, three] = [fresh(), fresh(), fresh()]
    const id = operationId(signedCreate(one))
    expect(await submit(signedCreate(one))).toMatchObject({
      status: 200,
      type: 'application/json',
      body: { tx_id: id, operation_ids: [id] },
    })
    const both = await submit(signedCreate(two), signedUpdate(published(two), add('key-2')))
    expect(both.body.operation_ids).toHaveLength(2)
    const transaction = await call(`/api/transactions/${both.body.tx_id}`)
    expect(transaction).toMatchObject({
      status: 200,
      body: {
        tx_id: both.body.tx_id,
        operation_count: 2,
        operations: [
          { absn: 0, osn: 0, did: toShortForm(suffixOf(two)), signed_operation_data: hex(signedCreate(two)) },
          { osn: 1, operation_id: both.body.operation_ids[1] },
        ],
      },
    })
    const object = create(AtalaObjectSchema, { blockContent: { operations: [signedCreate(three)] } })
    const answer = await call('/api/submissions/objects', {
      body: { object: hex(toBinary(AtalaObjectSchema, object)) },
    })
    expect(answer).toMatchObject({ status: 200, body: { operation_ids: [operationId(signedCreate(three))] } })
  })

  const tooLarge = signedCreate({
    services: [{ id: 's', type: 'T', serviceEndpoint: `https://${'x'.repeat(64_000)}` }],
  })
  test.each<[string, unknown, number?]>([
    ['nothing', []],
    ['no list', undefined],
    ['a text that is not hexadecimal', ['xy']],
    ['noise', ['ffff']],
    ['an operation without a signature around it', [hex(createBytes())]],
    ['an operation that is too large', [hex(tooLarge)]],
    ['101 operations', Array.from({ length: 101 }, () => hex(signedCreate()))],
    ['a body that is too large', ['00'.repeat(600_000)], 413],
  ])('of %s are refused', async (_, signed_operations, status = 400) => {
    const { status: answered } = await call('/api/submissions/signed-operations', {
      body: { signed_operations },
    })
    expect(answered).toBe(status)
  })

  test.each([
    ['an object that is none', 'ffff'],
    ['an empty object', '2200'],
  ])('of %s are refused', async (_, object) => {
    expect((await call('/api/submissions/objects', { body: { object } })).status).toBe(400)
  })

  test('report errors like a NeoPRISM node, and a list with an error is refused as a whole', async () => {
    const one = fresh()
    const refused = await submit(signedCreate(one), Uint8Array.of(1, 2))
    expect(refused).toMatchObject({ status: 400, type: 'application/json' })
    expect(refused.body).toEqual({
      error: `bad request: ${refused.body.details}`,
      details: expect.stringContaining('SignedAtalaOperation'),
    })
    expect((await call(`/api/operations/${operationId(signedCreate(one))}`)).status).toBe(404)
  })

  test('are counted by address, and too many are refused', async () => {
    await using server = await startServer(
      ledgerApp(await openFile(temporaryFile()), { submissionsPerMinute: 2 }),
    )
    expect((await submitTo(server, signedCreate(), signedCreate(fresh()))).status).toBe(200)
    const refused = await submitTo(server, signedCreate(fresh()))
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(refused.body).toEqual({ error: expect.stringMatching(/^too many requests: /) })
    expect((await ask(server, 'GET /api/indexer-stats')).status).toBe(200)
  })
})

describe('operations', () => {
  test('have a status and a reason', async () => {
    const one = fresh()
    await submit(signedCreate(one))
    expect((await call(`/api/operations/${operationId(signedCreate(one))}`)).body).toEqual({
      tx_id: operationId(signedCreate(one)),
      slot_number: expect.any(Number),
      block_number: expect.any(Number),
      block_timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      operation_id: operationId(signedCreate(one)),
      did: toShortForm(suffixOf(one)),
      absn: 0,
      osn: 0,
      signed_operation_data: hex(signedCreate(one)),
      status: 'confirmed',
      submitted_at: expect.any(String),
      confirms_at: expect.any(String),
    })
    expect((await call(`/api/dids/${toShortForm(suffixOf(one))}`)).body.verificationMethod).toHaveLength(1)
  })

  test('are not found before they are processed, but known', async () => {
    const time = clock()
    await using server = await startServer(
      ledgerApp(await openFile(temporaryFile(), { confirmAfterSeconds: 60, now: time.now })),
    )
    const id = operationId(signedCreate())
    await submitTo(server, signedCreate())
    const read = async (path: string) => {
      const { status, body } = await ask(server, `GET ${path}`)
      return [status, body]
    }
    expect(await read(`/api/operations/${id}`)).toEqual([
      404,
      {
        error: 'not found',
        operation_id: id,
        status: 'pending',
        submitted_at: '2025-01-02T03:04:05.678Z',
        confirms_at: '2025-01-02T03:05:05.678Z',
      },
    ])
    expect(await read(`/api/transactions/${id}`)).toMatchObject([404, {}])
    expect(await read('/api/indexer-stats')).toEqual([
      200,
      { last_prism_slot_number: null, last_prism_block_number: null },
    ])
    time.seconds = 60
    expect(await read(`/api/operations/${id}`)).toMatchObject([200, { status: 'confirmed', block_number: 1 }])
    expect(await read('/api/indexer-stats')).toEqual([
      200,
      { last_prism_slot_number: 1_735_787_105, last_prism_block_number: 1 },
    ])
  })

  test.each(['/api/operations/', '/api/transactions/'])(
    'that were never submitted are not found at %s',
    async (path) => {
      for (const id of ['00'.repeat(32), 'x']) {
        expect(await call(path + id)).toMatchObject({
          status: 404,
          body: { error: expect.stringMatching(/^not found/) },
        })
      }
    },
  )
})

describe('DIDs', () => {
  beforeAll(async () => {
    await submit(signedCreate())
  })

  test.each([
    [undefined, 'application/did'],
    ['*/*', 'application/did'],
    ['application/did', 'application/did'],
    ['application/json', 'application/json'],
    ['text/html, application/json;q=0.9, */*;q=0.1', 'application/json'],
  ])('for %s are returned as the document alone', async (accept, type) => {
    const answer = await call(`/api/dids/${did}`, accept === undefined ? {} : { accept })
    expect(answer).toMatchObject({ status: 200, type, body: { id: did, authentication: [`${did}#auth-1`] } })
  })

  test('come with their version and times for application/did-resolution', async () => {
    const { status, type, body } = await call(`/api/dids/${did}`, { accept: 'application/did-resolution' })
    expect([status, type]).toEqual([200, 'application/did-resolution'])
    expect(body).toEqual({
      didDocument: expect.objectContaining({ id: did }),
      didResolutionMetadata: { contentType: 'application/did-resolution' },
      didDocumentMetadata: {
        deactivated: false,
        versionId: suffixOf(),
        created: expect.stringMatching(/\.\d{3}Z$/),
        updated: expect.any(String),
      },
    })
  })

  test('in long form have a canonical id when they are published, and resolve when they are not', async () => {
    const accept = 'application/did-resolution'
    const long = await call(`/api/dids/${toLongForm(createBytes())}`, { accept })
    expect(long.body.didDocumentMetadata).toMatchObject({ canonicalId: did, versionId: suffixOf() })
    const unpublished = createBytes(fresh())
    const { body } = await call(`/api/dids/${toLongForm(unpublished)}`, { accept })
    expect(body.didDocument.id).toBe(toLongForm(unpublished))
    expect(body.didDocumentMetadata).toEqual({ deactivated: false, versionId: expect.any(String) })
  })

  test.each([
    ['did:prism:nothing', 400, 'INVALID_DID'],
    ['nothing', 400, 'INVALID_DID'],
    [toShortForm('ab'.repeat(32)), 404, 'NOT_FOUND'],
    ['did:web:example.com', 501, 'METHOD_NOT_SUPPORTED'],
  ])(
    '%s is an error with a complete resolution result, for any Accept header',
    async (wrong, status, code) => {
      for (const accept of ['application/did-resolution', 'application/did', '*/*']) {
        const answer = await call(`/api/dids/${wrong}`, { accept })
        expect([answer.status, answer.type]).toEqual([status, 'application/did-resolution'])
        expect(answer.body).toMatchObject({
          didDocument: null,
          didResolutionMetadata: {
            error: {
              type: `https://www.w3.org/ns/did#${code}`,
              title: expect.any(String),
              detail: expect.any(String),
            },
          },
        })
      }
      const data = await call(`/api/dids/${wrong}/protobuf`)
      expect(data).toMatchObject({ status, body: { error: expect.any(String) } })
    },
  )

  test('in an unsupported representation are 406', async () => {
    expect(await call(`/api/dids/${did}`, { accept: 'text/html' })).toMatchObject({
      status: 406,
      type: 'application/did-resolution',
    })
  })

  test('that are deactivated are 410, and have data without keys', async () => {
    const one = fresh()
    const gone = toShortForm(suffixOf(one))
    await submit(signedCreate(one), signedDeactivate(published(one)))
    const answer = await call(`/api/dids/${gone}`)
    expect(answer).toMatchObject({
      status: 410,
      type: 'application/did-resolution',
      body: { didDocument: null, didDocumentMetadata: { deactivated: true } },
    })
    const { status, type, text } = await call(`/api/dids/${gone}/protobuf`)
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(decodeDidData(Buffer.from(text, 'hex'))).toMatchObject({
      suffix: suffixOf(one),
      publicKeys: [],
      retiredKeyIds: ['auth-1', 'master0'],
    })
  })

  test('are found by a master key', async () => {
    const point = encodeOperation({
      operation: 'create',
      publicKeys: [masterKey],
      services: [],
      contexts: [],
    })
    const key = /21(0[23][0-9a-f]{64})/.exec(hex(point))![1]!
    expect((await call(`/api/dids?masterKey=${key}`)).body.dids).toContain(did)
    expect((await call(`/api/dids?masterKey=${key.toUpperCase()}`)).body.dids).toContain(did)
    for (const wrong of ['', '?masterKey=', '?masterKey=02', `?masterKey=02${'ff'.repeat(32)}`])
      expect((await call(`/api/dids${wrong}`)).status).toBe(400)
  })
})

test('the system endpoints answer', async () => {
  expect(await call('/api/_system/health')).toMatchObject({
    status: 200,
    type: 'text/plain; charset=utf-8',
    text: 'Ok',
  })
  expect((await call('/api/_system/metadata')).body).toEqual({
    version: expect.stringMatching(/^\d/),
    mode: 'Standalone',
  })
  expect((await call('/api/indexer-stats')).body).toEqual({
    last_prism_slot_number: expect.any(Number),
    last_prism_block_number: expect.any(Number),
  })
})

test.each([
  { REST_SERVICE_URL: 'http://localhost:8085' },
  { REST_SERVICE_URL: 'https://agent.example', VDR_SERVE: 'true' },
])('an agent serves its ledger with %o', async (variables) => {
  const other = await startAgent(variables)
  onTestFinished(() => other[Symbol.asyncDispose]())
  expect((await other.send('GET', '/api/_system/health')).status).toBe(200)
})

test.each([
  ['VDR_SERVE is false', { VDR_SERVE: 'false' }],
  ['its own ledger is elsewhere', { VDR_URL: 'http://127.0.0.1:9' }],
  ['AGENT_TRUST_PROXY is true, and VDR_SERVE is not true', { AGENT_TRUST_PROXY: 'true' }],
  [
    'REST_SERVICE_URL is https://agent.example, and VDR_SERVE is not true',
    { REST_SERVICE_URL: 'https://agent.example' },
  ],
])('an agent serves no ledger when %s', async (reason, variables) => {
  const other = await startAgent(variables)
  onTestFinished(() => other[Symbol.asyncDispose]())
  for (const path of [
    '/api/_system/health',
    `/api/dids/${did}`,
    `/api/dids/${did}/protobuf`,
    `/api/operations/${suffixOf()}`,
    '/api/indexer-stats',
  ]) {
    const { body } = await ask(other, `GET ${path}`)
    expect(body).toMatchObject({ ...withDetail(404, reason), type: 'error:ResourcePathNotFound' })
  }
})
