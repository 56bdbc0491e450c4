/** The behaviour of every ledger, embedded or served by another agent. */
import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { encodeOperation, operationId, signOperation } from '../../../src/did/prism/operations.ts'
import { apply } from '../../../src/did/prism/state.ts'
import type { Ledger } from '../../../src/did/ledger/ledger.ts'
import type { SqliteLedgerOptions } from '../../../src/did/ledger/sqlite-ledger.ts'
import {
  at,
  createBytes,
  key,
  master,
  masterKey,
  published,
  secret,
  signedCreate,
  signedDeactivate,
  signedUpdate,
  suffixOf,
} from '../prism/_make.ts'
import { add, afterSeconds, clock, openFile, openServed, temporaryFile } from './_ledgers.ts'

const suffix = suffixOf()

const ledgers: [string, (options?: SqliteLedgerOptions) => Promise<Ledger>][] = [
  ['the embedded ledger', (options) => openFile(temporaryFile(), options)],
  ['the same over HTTP', openServed],
]

/** Submits an operation that the ledger does not store. */
async function refuses(ledger: Ledger, signed: Uint8Array, reason: RegExp): Promise<void> {
  const error: unknown = await ledger.submit(signed).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ type: 'BadRequest', message: expect.stringMatching(reason) })
  expect(await ledger.getOperation(operationId(signed))).toBeUndefined()
}

const keyIds = async (ledger: Ledger) => (await ledger.getState(suffix))!.publicKeys.map(({ id }) => id)
const deactivation = (of: string) =>
  encodeOperation({ operation: 'deactivate', suffix: of, previousHash: '' })

describe.each(ledgers)('%s', (_name, open) => {
  /** A ledger with the DID. */
  async function openCreated(): Promise<Ledger> {
    const ledger = await open()
    await ledger.submit(signedCreate())
    return ledger
  }

  /** A ledger that confirms operations after a minute. */
  async function openSlow() {
    const time = clock()
    return { time, ledger: await open({ confirmAfterSeconds: 60, now: time.now }) }
  }

  describe('without delay', () => {
    test('a submitted operation is confirmed at once', async () => {
      const ledger = await open()
      const answer = await ledger.submit(signedCreate())
      expect(answer).toEqual({
        operationId: operationId(signedCreate()),
        transactionId: operationId(signedCreate()),
      })
      expect(await ledger.getOperation(answer.operationId)).toEqual({
        operationId: answer.operationId,
        status: 'confirmed',
        transactionId: answer.transactionId,
        submittedAt: at.toISOString(),
        confirmsAt: at.toISOString(),
      })
      expect(await ledger.getState(suffix)).toEqual(published())
    })

    test('create, update and deactivate lead to the state of the rules', async () => {
      const ledger = await openCreated()
      const update = signedUpdate(published(), add('key-2'))
      await ledger.submit(update)
      const changed = apply(published(), update, at)
      expect(await ledger.getState(suffix)).toEqual(changed)
      await ledger.submit(signedDeactivate(changed))
      expect(await ledger.getState(suffix)).toMatchObject({ deactivated: true, publicKeys: [] })
    })

    test('an operation that breaks a rule is refused with the reason, and not stored', async () => {
      const ledger = await openCreated()
      const bad: [Uint8Array, RegExp][] = [
        [signedUpdate(published(), [{ action: 'removeKey', id: 'master0' }]), /no master key/],
        [
          signedUpdate(published(), add('key-2'), { id: 'master0', secret: secret('master', 1) }),
          /not by the key/,
        ],
        [signedUpdate(published({ services: [] }), add('key-2')), /does not exist/],
        [signedCreate({ publicKeys: [key('a', 'authentication')] }), /no master key/],
      ]
      for (const [signed, reason] of bad) await refuses(ledger, signed, reason)
      expect(await ledger.getState(suffix)).toEqual(published())
      expect(await ledger.getState(suffixOf({ services: [] }))).toBeUndefined()
    })

    test('a refused operation does not block the next one', async () => {
      const ledger = await open()
      await refuses(ledger, signedUpdate(published(), add('early')), /does not exist/)
      await ledger.submit(signedCreate())
      await ledger.submit(signedUpdate(published(), add('key-2')))
      expect(await keyIds(ledger)).toEqual(['auth-1', 'master0', 'key-2'])
    })

    test('the same bytes again have no effect and the same answer', async () => {
      const ledger = await open()
      const first = await ledger.submit(signedCreate())
      await ledger.submit(signedUpdate(published(), add('key-2')))
      const state = await ledger.getState(suffix)
      expect(await ledger.submit(signedCreate())).toEqual(first)
      expect(await ledger.getOperation(first.operationId)).toMatchObject({ status: 'confirmed' })
      expect(await ledger.getState(suffix)).toEqual(state)
    })

    test('of two create operations of one DID in different envelopes, the first one counts', async () => {
      const ledger = await open()
      const publicKeys = [key('master0', 'master'), key('master1', 'master', 1)]
      const bytes = encodeOperation({ operation: 'create', publicKeys, services: [], contexts: [] })
      const [first, second] = [
        signOperation(bytes, 'master0', master),
        signOperation(bytes, 'master1', secret('master', 1)),
      ]
      await ledger.submit(first)
      await refuses(ledger, second, /the DID exists already/)
      // The operation is signed, the envelope is not: anyone can put a public operation into another
      // envelope.
      await refuses(ledger, Buffer.concat([first, Uint8Array.of(0x7a, 1, 0)]), /the DID exists already/)
    })

    test.each([
      ['nothing', new Uint8Array(0)],
      ['noise', new Uint8Array(40).fill(255)],
      ['an operation without envelope', deactivation('ab'.repeat(32))],
      ['an operation on no DID', signOperation(deactivation('2'), 'master0', master)],
      ['a storage operation', signOperation(Uint8Array.of(0x3a, 0x00), 'master0', master)],
    ])('%s is refused', async (_name, bytes) => {
      const ledger = await open()
      await expect(ledger.submit(bytes)).rejects.toSatisfy(
        (error) => error instanceof Problem && error.type === 'BadRequest',
      )
      expect(await ledger.getOperation(operationId(bytes))).toBeUndefined()
    })

    test('an unknown id is undefined, and upper case is accepted', async () => {
      const ledger = await open()
      const { operationId: id } = await ledger.submit(signedCreate())
      expect(await ledger.getOperation('00'.repeat(32))).toBeUndefined()
      expect(await ledger.getOperation(id.toUpperCase())).toMatchObject({ operationId: id })
    })

    test('a master key finds the published DIDs that were created with it, in ledger order', async () => {
      const { time, ledger } = await openSlow()
      const contents = [{}, { services: [] }, { contexts: ['https://example.com/'] }]
      for (const content of contents) await ledger.submit(signedCreate(content))
      const others = [key('master0', 'master', 1), key('master1', 'master', 2)]
      await ledger.submit(signOperation(createBytes({ publicKeys: others }), 'master0', secret('master', 1)))
      // It names the key, but is not signed by it.
      const named = signOperation(
        createBytes({ publicKeys: [masterKey, ...others.slice(1)] }),
        'master0',
        secret('master', 1),
      )
      await refuses(ledger, named, /not by the key/)
      expect(await ledger.findByMasterKey(masterKey.publicKey)).toEqual([])
      time.seconds = 60
      expect(await ledger.findByMasterKey(masterKey.publicKey)).toEqual(contents.map(suffixOf))
      expect(await ledger.findByMasterKey(others[1]!.publicKey)).toEqual([suffixOf({ publicKeys: others })])
      expect(await ledger.findByMasterKey(key('x', 'authentication').publicKey)).toEqual([])
    })

    test('the state contains removed ids', async () => {
      const ledger = await openCreated()
      const update = signedUpdate(published(), [
        { action: 'removeKey', id: 'auth-1' },
        { action: 'removeService', id: 'service-1' },
      ])
      await ledger.submit(update)
      expect(await ledger.getState(suffix)).toEqual(apply(published(), update, at))
      expect(await ledger.getState(suffix)).toMatchObject({
        retiredKeyIds: ['auth-1'],
        retiredServiceIds: ['service-1'],
      })
    })

    test('of operations with the same predecessor, the first one counts; replayed and older ones do not', async () => {
      const ledger = await openCreated()
      const [one, two] = [signedUpdate(published(), add('one')), signedUpdate(published(), add('two'))]
      const first = apply(published(), one, at)
      await ledger.submit(one)
      await refuses(ledger, two, /previous_operation_hash/)
      for (const operation of [one, signedUpdate(first, add('three')), signedCreate()])
        await ledger.submit(operation)
      await refuses(ledger, two, /previous_operation_hash/)
      expect(await keyIds(ledger)).toEqual(['auth-1', 'master0', 'one', 'three'])
    })

    test('oversized operations are refused, and do not affect the next one', async () => {
      const ledger = await open()
      const many = (count: number, serviceEndpoint: string) => ({
        services: Array.from({ length: count }, (_, i) => ({ id: `s${i}`, type: 'T', serviceEndpoint })),
      })
      const large = signedCreate(many(50, `https://${'x'.repeat(1_400)}`))
      await expect(ledger.submit(large)).rejects.toMatchObject({ type: 'BadRequest' })
      await refuses(ledger, signedCreate(many(51, 'https://example.com/')), /more than 50/)
      await ledger.submit(signedCreate())
      expect(await ledger.getState(suffix)).toEqual(published())
    })
  })

  describe('with delay', () => {
    test('an operation is pending with its due time, and counts afterwards', async () => {
      const { time, ledger } = await openSlow()
      const { operationId: id } = await ledger.submit(signedCreate())
      expect(await ledger.getOperation(id)).toMatchObject({
        operationId: id,
        status: 'pending',
        submittedAt: at.toISOString(),
        confirmsAt: afterSeconds(60),
      })
      expect(await ledger.getState(suffix)).toBeUndefined()
      time.seconds = 59.999
      expect(await ledger.getState(suffix)).toBeUndefined()
      expect(await ledger.getOperation(id)).toMatchObject({ status: 'pending' })
      time.seconds = 60
      expect(await ledger.getOperation(id)).toMatchObject({
        status: 'confirmed',
        confirmsAt: afterSeconds(60),
      })
      expect((await ledger.getState(suffix))!.createdAt).toBe(afterSeconds(60))
    })

    test('reading the state confirms due operations with their due time', async () => {
      const { time, ledger } = await openSlow()
      await ledger.submit(signedCreate())
      time.seconds = 30
      await ledger.submit(signedUpdate(published(), add('key-2')))
      time.seconds = 75
      expect((await ledger.getState(suffix))!.publicKeys).toHaveLength(2)
      time.seconds = 1_000_000
      expect(await ledger.getState(suffix)).toMatchObject({
        createdAt: afterSeconds(60),
        updatedAt: afterSeconds(90),
      })
    })

    test('an operation is checked against the future state: pending ones before it count as confirmed', async () => {
      const { time, ledger } = await openSlow()
      const other = { id: 'master1', secret: secret('master', 1) }
      const rotate = signedUpdate(published(), [
        { action: 'addKey', key: key('master1', 'master', 1) },
        { action: 'removeKey', id: 'master0' },
      ])
      const rotated = apply(published(), rotate, at)
      await refuses(ledger, rotate, /does not exist/)
      await ledger.submit(signedCreate())
      await refuses(ledger, signedUpdate(published(), add('key-2'), other), /no active master key/)
      const ids = [(await ledger.submit(rotate)).operationId]
      await refuses(ledger, signedUpdate(published(), add('key-2')), /previous_operation_hash/)
      await refuses(ledger, signedUpdate(rotated, add('key-2')), /no active master key/)
      ids.push((await ledger.submit(signedUpdate(rotated, add('key-2'), other))).operationId)
      for (const id of ids) expect(await ledger.getOperation(id)).toMatchObject({ status: 'pending' })
      time.seconds = 60
      for (const id of ids) expect(await ledger.getOperation(id)).toMatchObject({ status: 'confirmed' })
      expect(await keyIds(ledger)).toEqual(['auth-1', 'master1', 'key-2'])
    })

    test('the number of pending operations on a DID is limited', async () => {
      const { time, ledger } = await openSlow()
      await ledger.submit(signedCreate())
      let state = published()
      const change = (n: number) =>
        signedUpdate(state, [{ action: 'patchContext', contexts: [`https://example.com/${n}`] }])
      for (let n = 1; n < 20; n++) {
        const next = change(n)
        await ledger.submit(next)
        state = apply(state, next, at)
      }
      await expect(ledger.submit(change(20))).rejects.toMatchObject({
        type: expect.stringMatching(/TooManyRequests|ServiceUnavailable/),
      })
      time.seconds = 60
      await ledger.submit(change(20))
    })
  })
})
