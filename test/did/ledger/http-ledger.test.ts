/**
 * The client of a ledger node, with unavailable, slow and inconsistent nodes, and with the responses of
 * NeoPRISM.
 */
import type { RequestListener } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fromHex, toHex } from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { encodeDidData } from '../../../src/did/prism/did-data.ts'
import { toShortForm } from '../../../src/did/prism/did.ts'
import {
  encodeOperation,
  operationHash,
  operationId,
  signOperation,
} from '../../../src/did/prism/operations.ts'
import { apply, type DidState } from '../../../src/did/prism/state.ts'
import { compressed, fromPrivateBytes } from '../../../src/foundation/crypto/secp256k1.ts'
import { toPublic } from '../../../src/foundation/crypto/keys.ts'
import type { Ledger } from '../../../src/did/ledger/ledger.ts'
import type { NodeLimits } from '../../../src/did/ledger/neoprism-client.ts'
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
} from '../prism/_make.ts'
import { startServer } from '../../support/server.ts'
import { add, openFile, openUrl, temporaryFile } from './_ledgers.ts'

const suffix = suffixOf()
const did = toShortForm(suffix)
const id = operationId(signedCreate())

/** All functions of a ledger. */
const calls: [string, (ledger: Ledger) => Promise<unknown>][] = [
  ['submit', (ledger) => ledger.submit(signedCreate())],
  ['getOperation', (ledger) => ledger.getOperation(id)],
  ['getState', (ledger) => ledger.getState(suffix)],
  ['findByMasterKey', (ledger) => ledger.findByMasterKey(masterKey.publicKey)],
]

const shortLimits = { readMs: 50, submitMs: 50 }

async function node(listener: RequestListener, limits?: NodeLimits) {
  const server = await startServer(listener)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return { ledger: openUrl(server.url, limits), url: server.url }
}

/** Answers by path: a body, or a status and a body. Other paths get NeoPRISM's 404. */
type Body = string | object
type Answers = Record<string, Body | [status: number, body: Body] | (() => Body)>
const answering =
  (answers: Answers, requests: string[] = []): RequestListener =>
  (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const absent = /^\/api\/dids\/[^/]*$/.test(request.url!) ? notFound : [404, { error: 'not found' }]
    const given = answers[request.url!] ?? absent
    const answer = typeof given === 'function' ? given() : given
    const [status, body] = (Array.isArray(answer) ? answer : [200, answer]) as [number, Body]
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  }

async function ledgerWith(...given: Parameters<typeof answering>): Promise<Ledger> {
  return (await node(answering(...given))).ledger
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

/** The answers of NeoPRISM for a state. They do not contain removed ids. */
function answersFor(state: DidState): Answers {
  const data = toHex(encodeDidData({ ...state, retiredKeyIds: [], retiredServiceIds: [] }))
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
  test('a node that is down is named with the reason', async () => {
    const server = await startServer(() => undefined)
    await server[Symbol.asyncDispose]()
    const { message } = await fault(call(openUrl(server.url)))
    expect(message).toContain(server.url)
    expect(message).toContain('nothing listens there')
  })

  test('a node that does not answer times out', async () => {
    const { ledger } = await node(() => undefined, shortLimits)
    expect((await fault(call(ledger))).message).toContain('did not answer within 50 ms')
  })

  test('a node that never ends its answer times out', async () => {
    const { ledger } = await node((_, response) => response.writeHead(200).write('{'), shortLimits)
    expect((await fault(call(ledger))).message).toContain('did not answer within 50 ms')
  })

  test.each([500, 503, 429, 401, 302])('status %i is a fault', async (status) => {
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
  ])('an answer with %s is a fault that does not quote it', async (_name, body) => {
    const { ledger } = await node((_, response) => response.end(body))
    expect(inspect(await fault(call(ledger)))).not.toContain('secret')
  })

  test('an endless answer is a fault before all of it is read', async () => {
    const { ledger } = await node((_, response) => {
      const more = () => response.write('x'.repeat(65_536), (error) => error ?? setImmediate(more))
      more()
    })
    expect((await fault(call(ledger))).message).toContain('more than 2500000 bytes')
  })

  test('a 404 of another server is a fault, not an answer', async () => {
    const { ledger } = await node((_, response) => response.writeHead(404).end('<h1>Not Found</h1>'))
    await fault(call(ledger))
  })
})

describe('an inconsistent answer is a fault', () => {
  const wrong = 'ab'.repeat(32)
  const other = toShortForm(wrong)
  const badService = { id: 's', type: 'T', serviceEndpoint: '{not json' }

  test.each([
    ['another operation', [wrong]],
    ['more operations than were sent', [id, wrong]],
  ])('to a submission: %s', async (_name, operation_ids) => {
    const answer = { tx_id: wrong, operation_ids }
    const ledger = await ledgerWith({ '/api/submissions/signed-operations': answer })
    await fault(ledger.submit(signedCreate()))
  })

  test.each<[string, object]>([
    ['another id', { operation_id: wrong, status: 'confirmed' }],
    ['the bytes of another operation', { signed_operation_data: toHex(signedCreate({ services: [] })) }],
    ['bytes that are not an operation', { signed_operation_data: 'abcd' }],
  ])('for an operation: %s', async (_name, answer) => {
    await fault((await ledgerWith({ [`/api/operations/${id}`]: answer })).getOperation(id))
  })

  test.each<[string, Answers]>([
    ['the data of another DID', protobuf(dataOf({ suffix: wrong }))],
    ['the document of another DID', document({ didDocument: { id: other } })],
    ['another canonical id', metadata({ canonicalId: other })],
    ['no version', metadata({ versionId: null })],
    ['an invalid version', metadata({ versionId: 'one' })],
    ['deactivated, with keys', metadata({ deactivated: true })],
    ['no master key', protobuf(dataOf({ publicKeys: [] }))],
    ['a key that is not on its curve', protobuf(offCurve())],
    ['an invalid service', protobuf(dataOf({ services: [badService] }))],
    ['a duplicate key', protobuf(dataOf({ publicKeys: [masterKey, masterKey] }))],
    ['no keys', protobuf([404, { error: 'not found' }])],
  ])('for a DID: %s', async (_name, changes) => {
    const ledger = await ledgerWith({ ...answersFor(published()), ...changes })
    await fault(ledger.getState(suffix))
  })

  function protobuf(answer: Answers[string]): Answers {
    return { [`/api/dids/${did}/protobuf`]: answer }
  }
  function dataOf(change: Partial<DidState>): string {
    return toHex(encodeDidData({ ...published(), ...change }))
  }
  function offCurve(): string {
    const point = toHex(compressed(masterKey.publicKey))
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
  test('receives an operation once, and its transaction id is returned', async () => {
    const requests: string[] = []
    const transactionId = 'cd'.repeat(32)
    const { ledger, url } = await node(
      answering(
        { '/api/submissions/signed-operations': { tx_id: transactionId, operation_ids: [id] } },
        requests,
      ),
    )
    expect(await ledger.submit(signedCreate())).toEqual({ operationId: id, transactionId })
    expect(requests).toEqual(['POST /api/submissions/signed-operations'])
    expect(ledger.location).toBe(url)
  })

  test('receives an operation once even if it refuses it', async () => {
    const ledger = await ledgerWith({ '/api/submissions/signed-operations': [400, { error: 'a secret' }] })
    const error: unknown = await ledger.submit(signedCreate()).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ type: 'BadRequest' })
    expect(inspect(error)).not.toContain('secret')
  })

  test('has no operation before it is confirmed', async () => {
    const ledger = await ledgerWith({})
    expect(await ledger.getOperation(id)).toBeUndefined()
    expect(await ledger.getOperation('../dids/x')).toBeUndefined()
  })

  test('returns operations that broke a rule too: the state of the DID decides whether they counted', async () => {
    const [one, two] = [signedUpdate(published(), add('one')), signedUpdate(published(), add('two'))]
    const state = apply(published(), one, later)
    const seen = (operation: Uint8Array) => ({
      [`/api/operations/${operationId(operation)}`]: {
        signed_operation_data: toHex(operation),
        block_timestamp: '2025-01-02T04:04:05+01:00',
      },
    })
    const ledger = await ledgerWith({
      ...answersFor(state),
      ...seen(signedCreate()),
      ...seen(one),
      ...seen(two),
      ...seen(signedCreate({ services: [] })),
    })
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

  test('may return an operation without its bytes', async () => {
    for (const answer of [{ operation_id: id }, { tx_id: 'cd'.repeat(32) }]) {
      const ledger = await ledgerWith({ [`/api/operations/${id}`]: answer })
      const { tx_id: transactionId } = answer
      const found = { operationId: id, status: 'confirmed', ...(transactionId && { transactionId }) }
      expect(await ledger.getOperation(id)).toEqual(found)
    }
  })

  test('returns active, deactivated and missing states', async () => {
    const changed = updated(published(), ...add('key-2'))
    expect(await (await ledgerWith(answersFor(changed))).getState(suffix)).toEqual(changed)
    const gone = apply(changed, signedDeactivate(changed), later)
    expect(await (await ledgerWith(answersFor(gone))).getState(suffix)).toEqual({
      ...gone,
      retiredKeyIds: [],
      retiredServiceIds: [],
    })
    expect(await (await ledgerWith({})).getState(suffix)).toBeUndefined()
  })

  test('is read again when the DID changes during the read', async () => {
    const states = [published()]
    for (const name of ['one', 'two']) states.push(updated(states.at(-1)!, ...add(name)))
    let requests = 0
    // It changes before the second request and before the fourth.
    const now = () => states[Math.min(2, Math.ceil(requests++ / 2))]!
    const answers: Answers = {
      [`/api/dids/${did}`]: () => resolution(now()),
      [`/api/dids/${did}/protobuf`]: () => toHex(encodeDidData(now())),
    }
    expect(await (await ledgerWith(answers)).getState(suffix)).toEqual(states[2])
  })

  test('has a fault when the DID changes during every read', async () => {
    let requests = 0
    const version = () => operationHash(Buffer.from(String(requests++)))
    const moving = () => {
      const { didDocumentMetadata, ...rest } = resolution()
      return { ...rest, didDocumentMetadata: { ...didDocumentMetadata, versionId: version() } }
    }
    const ledger = await ledgerWith({ ...answersFor(published()), [`/api/dids/${did}`]: moving })
    expect((await fault(ledger.getState(suffix))).message).toContain('changed each time')
  })

  test('has no search by key: DIDs that follow from a master key alone are resolved instead', async () => {
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
    const requests: string[] = []
    const ledger = await ledgerWith(answers, requests)
    expect(await ledger.findByMasterKey(toPublic(privateKey))).toEqual([deterministic])
    expect(requests).toHaveLength(3)
    expect(await ledger.findByMasterKey(masterKey.publicKey)).toEqual([])
  })
})

test('bytes that are not a signed operation do not reach the node', async () => {
  const { ledger } = await node(() => expect.unreachable())
  await expect(ledger.submit(new Uint8Array(3))).rejects.toMatchObject({ type: 'BadRequest' })
})
