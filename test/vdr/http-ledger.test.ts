/** The client of a ledger node: nodes that are down, slow or lying, and plain NeoPRISM. */
import type { RequestListener } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { Problem } from '../../src/base/problem.ts'
import { encodeDidData } from '../../src/did/prism/did-data.ts'
import { toShortForm } from '../../src/did/prism/did.ts'
import { encodeOperation, operationHash, operationId, signOperation } from '../../src/did/prism/operations.ts'
import { apply, type DidState } from '../../src/did/prism/state.ts'
import { compressed, fromPrivateBytes } from '../../src/crypto/secp256k1.ts'
import { toPublic } from '../../src/crypto/keys.ts'
import type { Ledger } from '../../src/vdr/ledger.ts'
import type { NodeLimits } from '../../src/vdr/neoprism-client.ts'
import {
  at,
  later,
  masterKey,
  published,
  signedCreate,
  signedDeactivate,
  signedUpdate,
  suffixOf,
  updated,
} from '../did/prism/_make.ts'
import { startServer } from '../net/_server.ts'
import { add, openFile, openUrl, temporaryFile } from './_ledgers.ts'

const suffix = suffixOf()
const did = toShortForm(suffix)
const id = operationId(signedCreate())

/** Everything a ledger can be asked. */
const calls: [string, (ledger: Ledger) => Promise<unknown>][] = [
  ['submit', (ledger) => ledger.submit(signedCreate())],
  ['getOperation', (ledger) => ledger.getOperation(id)],
  ['getState', (ledger) => ledger.getState(suffix)],
  ['findByMasterKey', (ledger) => ledger.findByMasterKey(masterKey.publicKey)],
]

async function node(listener: RequestListener, limits?: NodeLimits) {
  const server = await startServer(listener)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { ledger: openUrl(server.url, limits), url: server.url }
}

/** Answers by path: a body, or a status and a body. What is not listed is NeoPRISM's 404. */
type Body = string | object
type Answers = Record<string, Body | [status: number, body: Body] | (() => Body)>
const answering =
  (answers: Answers, asked: string[] = []): RequestListener =>
  (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const absent = /^\/api\/dids\/[^/]*$/.test(request.url!) ? notFound : [404, { error: 'not found' }]
    const given = answers[request.url!] ?? absent
    const answer = typeof given === 'function' ? given() : given
    const [status, body] = (Array.isArray(answer) ? answer : [200, answer]) as [number, Body]
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const notFound: [status: number, body: object] = [
  404,
  {
    didResolutionMetadata: { error: { type: 'https://www.w3.org/ns/did#NOT_FOUND' } },
    didDocumentMetadata: {},
  },
]

function resolution(state = published()) {
  const { deactivated, lastOperationHash: versionId, createdAt: created, updatedAt: updated } = state
  return {
    didDocument: deactivated ? null : { id: did },
    didResolutionMetadata: { contentType: 'application/did-resolution', error: null },
    didDocumentMetadata: { deactivated, versionId, created, updated, canonicalId: null },
  }
}

/** A state as NeoPRISM tells it: no ids that were removed. */
function told(state: DidState): Answers {
  const data = Buffer.from(encodeDidData({ ...state, retiredKeyIds: [], retiredServiceIds: [] })).toString(
    'hex',
  )
  return {
    [`/api/dids/${did}`]: [state.deactivated ? 410 : 200, resolution(state)],
    [`/api/dids/${did}/protobuf`]: data,
  }
}

async function fault(work: Promise<unknown>): Promise<Problem> {
  const error: unknown = await work.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Problem)
  expect(error).toMatchObject({ type: 'error:ServiceUnavailable', status: 503 })
  return error as Problem
}

describe.each(calls)('%s', (_name, call) => {
  test('of a node that is down says which and why', async () => {
    const server = await startServer(() => undefined)
    await server[Symbol.asyncDispose]()
    const { message } = await fault(call(openUrl(server.url)))
    expect(message).toContain(server.url)
    expect(message).toContain('nothing listens there')
  })

  test('of a node that does not answer is given up in time', async () => {
    const { ledger } = await node(() => undefined, { readMs: 50, submitMs: 50 })
    expect((await fault(call(ledger))).message).toContain('did not answer within 50 ms')
  })

  test('of a node whose answer never ends is given up in time', async () => {
    const { ledger } = await node((_, response) => response.writeHead(200).write('{'), {
      readMs: 50,
      submitMs: 50,
    })
    expect((await fault(call(ledger))).message).toContain('did not answer within 50 ms')
  })

  test.each([500, 503, 429, 401, 302])('of a node that answers with status %i is a fault', async (status) => {
    const { ledger } = await node((_, response) =>
      response.writeHead(status, { location: '/elsewhere' }).end('a secret'),
    )
    const error = await fault(call(ledger))
    expect(error.message).toContain(`status ${status}`)
    expect(inspect(error)).not.toContain('secret')
  })

  test.each([
    ['noise', Buffer.from([0xff, 0xfe, 0x00])],
    ['another page', '<html>a secret</html>'],
    ['another API', '{"secret":"a secret"}'],
    ['null', 'null'],
    ['nothing', ''],
  ])('of a node that answers with %s is a fault that does not repeat it', async (_what, body) => {
    const { ledger } = await node((_, response) => response.end(body))
    expect(inspect(await fault(call(ledger)))).not.toContain('secret')
  })

  test('of a node that answers without end is a fault before all of it is read', async () => {
    const { ledger } = await node((_, response) => {
      const more = () => response.write('x'.repeat(65_536), (error) => error ?? setImmediate(more))
      more()
    })
    expect((await fault(call(ledger))).message).toContain('more than 2500000 bytes')
  })

  test('of a server that has no such page is a fault, not an answer', async () => {
    const { ledger } = await node((_, response) => response.writeHead(404).end('<h1>Not Found</h1>'))
    await fault(call(ledger))
  })
})

describe('a lying node', () => {
  const wrong = 'ab'.repeat(32)
  const other = toShortForm(wrong)
  const badService = { id: 's', type: 'T', serviceEndpoint: '{not json' }

  test.each<[string, Answers, (ledger: Ledger) => Promise<unknown>]>([
    [
      'accepts another operation',
      { '/api/submissions/signed-operations': { tx_id: wrong, operation_ids: [wrong] } },
      calls[0]![1],
    ],
    [
      'accepts more than was sent',
      { '/api/submissions/signed-operations': { tx_id: wrong, operation_ids: [id, wrong] } },
      calls[0]![1],
    ],
    [
      'tells of another operation',
      { [`/api/operations/${id}`]: { operation_id: wrong, status: 'confirmed' } },
      calls[1]![1],
    ],
    [
      'shows the bytes of another operation',
      {
        [`/api/operations/${id}`]: {
          signed_operation_data: Buffer.from(signedCreate({ services: [] })).toString('hex'),
        },
      },
      calls[1]![1],
    ],
    [
      'shows bytes of no operation',
      { [`/api/operations/${id}`]: { signed_operation_data: 'abcd' } },
      calls[1]![1],
    ],
    [
      'tells of another DID',
      { ...told(published()), [`/api/dids/${did}/protobuf`]: dataOf({ suffix: wrong }) },
      calls[2]![1],
    ],
    [
      'shows the document of another DID',
      { ...told(published()), ...document({ didDocument: { id: other } }) },
      calls[2]![1],
    ],
    ['has another canonical id', { ...told(published()), ...metadata({ canonicalId: other }) }, calls[2]![1]],
    ['tells no version', { ...told(published()), ...metadata({ versionId: null }) }, calls[2]![1]],
    [
      'tells a version that is none',
      { ...told(published()), ...metadata({ versionId: 'one' }) },
      calls[2]![1],
    ],
    [
      'says it is deactivated, with keys',
      { ...told(published()), ...metadata({ deactivated: true }) },
      calls[2]![1],
    ],
    [
      'has no master key',
      { ...told(published()), [`/api/dids/${did}/protobuf`]: dataOf({ publicKeys: [] }) },
      calls[2]![1],
    ],
    [
      'has a key that is on no curve',
      { ...told(published()), [`/api/dids/${did}/protobuf`]: offCurve() },
      calls[2]![1],
    ],
    [
      'has a service that is none',
      { ...told(published()), [`/api/dids/${did}/protobuf`]: dataOf({ services: [badService] }) },
      calls[2]![1],
    ],
    [
      'has a key twice',
      { ...told(published()), [`/api/dids/${did}/protobuf`]: dataOf({ publicKeys: [masterKey, masterKey] }) },
      calls[2]![1],
    ],
    [
      'has lost the keys',
      { ...told(published()), [`/api/dids/${did}/protobuf`]: [404, { error: 'not found' }] },
      calls[2]![1],
    ],
  ])('%s: a fault', async (_what, answers, call) => {
    await fault(call((await node(answering(answers))).ledger))
  })

  function dataOf(change: Partial<DidState>): string {
    return Buffer.from(encodeDidData({ ...published(), ...change })).toString('hex')
  }
  function offCurve(): string {
    const point = Buffer.from(compressed(masterKey.publicKey)).toString('hex')
    return dataOf({ publicKeys: [masterKey] }).replace(point, `02${'ff'.repeat(32)}`)
  }
  function document(change: object): Answers {
    return { [`/api/dids/${did}`]: { ...resolution(), ...change } }
  }
  function metadata(change: object): Answers {
    return document({ didDocumentMetadata: { ...resolution().didDocumentMetadata, ...change } })
  }
})

describe('a NeoPRISM node', () => {
  test('gets an operation once, and its transaction is returned', async () => {
    const asked: string[] = []
    const transactionId = 'cd'.repeat(32)
    const { ledger, url } = await node(
      answering(
        { '/api/submissions/signed-operations': { tx_id: transactionId, operation_ids: [id] } },
        asked,
      ),
    )
    expect(await ledger.submit(signedCreate())).toEqual({ operationId: id, transactionId })
    expect(asked).toEqual(['POST /api/submissions/signed-operations'])
    expect(ledger.location).toBe(url)
  })

  test('that refuses an operation gets it once', async () => {
    const { ledger } = await node(
      answering({ '/api/submissions/signed-operations': [400, { error: 'a secret' }] }),
    )
    const error: unknown = await ledger.submit(signedCreate()).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ type: 'BadRequest' })
    expect(inspect(error)).not.toContain('secret')
  })

  test('does not know an operation until it is confirmed', async () => {
    const { ledger } = await node(answering({}))
    expect(await ledger.getOperation(id)).toBeUndefined()
    expect(await ledger.getOperation('../dids/x')).toBeUndefined()
  })

  test('shows what broke a rule like the rest: whether it counted shows in the DID', async () => {
    const [one, two] = [signedUpdate(published(), add('one')), signedUpdate(published(), add('two'))]
    const state = apply(published(), one, later)
    const seen = (operation: Uint8Array) => ({
      [`/api/operations/${operationId(operation)}`]: {
        signed_operation_data: Buffer.from(operation).toString('hex'),
        block_timestamp: '2025-01-02T04:04:05+01:00',
      },
    })
    const { ledger } = await node(
      answering({
        ...told(state),
        ...seen(signedCreate()),
        ...seen(one),
        ...seen(two),
        ...seen(signedCreate({ services: [] })),
      }),
    )
    const confirmsAt = '2025-01-02T03:04:05.000Z'
    expect(await ledger.getOperation(id)).toEqual({ operationId: id, status: 'confirmed', confirmsAt })
    expect(await ledger.getOperation(operationId(one))).toMatchObject({ status: 'confirmed' })
    expect(await ledger.getOperation(operationId(two))).toMatchObject({
      status: 'rejected',
      details: expect.any(String),
    })
    expect(await ledger.getOperation(operationId(signedCreate({ services: [] })))).toMatchObject({
      status: 'rejected',
    })
  })

  test('that returns an operation without its bytes is trusted', async () => {
    for (const answer of [{ operation_id: id }, { tx_id: 'cd'.repeat(32) }]) {
      const { ledger } = await node(answering({ [`/api/operations/${id}`]: answer }))
      expect(await ledger.getOperation(id)).toEqual({ operationId: id, status: 'confirmed' })
    }
  })

  test('tells states, active and deactivated, and that there is none', async () => {
    const changed = updated(published(), ...add('key-2'))
    expect(await (await node(answering(told(changed)))).ledger.getState(suffix)).toEqual(changed)
    const gone = apply(changed, signedDeactivate(changed), later)
    expect(await (await node(answering(told(gone)))).ledger.getState(suffix)).toEqual({
      ...gone,
      retiredKeyIds: [],
      retiredServiceIds: [],
    })
    expect(await (await node(answering({}))).ledger.getState(suffix)).toBeUndefined()
  })

  test('is asked again when the DID changes while it is read', async () => {
    const states = [published()]
    for (const name of ['one', 'two']) states.push(updated(states.at(-1)!, ...add(name)))
    let requests = 0
    // It changes before the second request and before the fourth.
    const now = () => states[Math.min(2, Math.ceil(requests++ / 2))]!
    const answers: Answers = {
      [`/api/dids/${did}`]: () => resolution(now()),
      [`/api/dids/${did}/protobuf`]: () => Buffer.from(encodeDidData(now())).toString('hex'),
    }
    expect(await (await node(answering(answers))).ledger.getState(suffix)).toEqual(states[2])
  })

  test('whose DID changes with every read is a fault', async () => {
    let requests = 0
    const version = () => operationHash(Buffer.from(String(requests++)))
    const moving = () => {
      const { didDocumentMetadata, ...rest } = resolution()
      return { ...rest, didDocumentMetadata: { ...didDocumentMetadata, versionId: version() } }
    }
    const { ledger } = await node(answering({ ...told(published()), [`/api/dids/${did}`]: moving }))
    expect((await fault(ledger.getState(suffix))).message).toContain('changed each time')
  })

  test('cannot look for keys: the DIDs that follow from a master key alone are looked for', async () => {
    // The proposal's vector: master key m/29'/29'/0'/1'/0' of its 24 words (fixtures/did-prism has its create
    // operation).
    const privateKey = fromPrivateBytes(
      fromHex('158bf13202ccafe551b5b4e60ed516efe0fe190e5c1421c3387f0f9fef2a6111'),
    )
    const deterministic = '35fbaf7f8a68e927feb89dc897f4edc24ca8d7510261829e4834d931e947e6ca'
    const real = await openFile(temporaryFile())
    const bytes = encodeOperation({
      operation: 'create',
      publicKeys: [{ id: 'master', usage: 'master', publicKey: toPublic(privateKey) }],
      services: [],
      contexts: [],
    })
    await real.submit(signOperation(bytes, 'master', privateKey))
    expect(await real.getState(deterministic)).toBeDefined()
    const answers: Answers = {
      [`/api/dids/${toShortForm(deterministic)}`]: {
        didDocument: { id: toShortForm(deterministic) },
        didResolutionMetadata: {},
        didDocumentMetadata: { versionId: deterministic, created: at.toISOString() },
      },
    }
    const asked: string[] = []
    const { ledger } = await node(answering(answers, asked))
    expect(await ledger.findByMasterKey(toPublic(privateKey))).toEqual([deterministic])
    expect(asked).toHaveLength(3)
    expect(await ledger.findByMasterKey(masterKey.publicKey)).toEqual([])
  })
})

test('bytes that are no signed operation do not reach the node', async () => {
  const { ledger } = await node(() => expect.unreachable())
  await expect(ledger.submit(new Uint8Array(3))).rejects.toMatchObject({ type: 'BadRequest' })
})
