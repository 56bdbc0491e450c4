/** Properties: random valid and invalid histories have the same verdicts and state as in `_rules.ts`. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create as newMessage, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { fromDer } from '../../../src/foundation/crypto/secp256k1.ts'
import { decodeSigned } from '../../../src/did/prism/decode.ts'
import {
  InvalidOperation,
  type Operation,
  type PrismKey,
  type UpdateAction,
  type Usage,
  usages,
} from '../../../src/did/prism/model.ts'
import { encodeOperation, signOperation } from '../../../src/did/prism/operations.ts'
import { SignedAtalaOperationSchema } from '../../../src/did/prism/prism_pb.ts'
import { apply, type DidState } from '../../../src/did/prism/state.ts'
import { openSqliteLedger } from '../../../src/did/ledger/sqlite-ledger.ts'
import { at, ed25519, key, secret } from './_make.ts'
import { badTexts, type Fact, judge, type Known } from './_rules.ts'

/** The seed is constant, so the histories are too. */
const seed = 20_250_102

// Few names, so that they collide.
const id = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('a', 'b', 'c', 'm0', 'm1') },
  { weight: 1, arbitrary: fc.constantFrom(...badTexts) },
)
const text = (...good: string[]) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...badTexts) },
  )
const contexts: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 8, arbitrary: fc.uniqueArray(fc.constantFrom('c:1', 'c:2', 'c:3'), { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom<string[]>(['c:1', 'c:1'], [''], ['x'.repeat(101)]) },
)
const usage = fc.oneof(fc.constant<Usage>('master'), fc.constantFrom(...(Object.keys(usages) as Usage[])))
const anyKey = fc
  .tuple(id, usage, fc.nat({ max: 2 }), fc.nat({ max: 9 }))
  .map(([name, use, index, n]): PrismKey =>
    n === 0 ? { id: name, usage: use, publicKey: ed25519 } : key(name, use, index),
  )
const service = fc.record({ id, type: text('A', '["A","B"]'), serviceEndpoint: text('x:y', '{"uri":"x:y"}') })

const action: fc.Arbitrary<UpdateAction[]> = fc.oneof(
  { weight: 5, arbitrary: anyKey.map((made): UpdateAction[] => [{ action: 'addKey', key: made }]) },
  { weight: 3, arbitrary: id.map((name): UpdateAction[] => [{ action: 'removeKey', id: name }]) },
  { weight: 3, arbitrary: service.map((made): UpdateAction[] => [{ action: 'addService', service: made }]) },
  { weight: 1, arbitrary: id.map((name): UpdateAction[] => [{ action: 'removeService', id: name }]) },
  {
    weight: 4,
    arbitrary: fc
      .record({
        id: fc.constantFrom('a', 'b', 'c'),
        type: fc.constantFrom('B', '', '', ...badTexts),
        serviceEndpoint: fc.constantFrom('x:z', 'x:z', '', ...badTexts),
      })
      .map((change): UpdateAction[] => [{ action: 'updateService', ...change }]),
  },
  {
    weight: 2,
    arbitrary: contexts.map((list): UpdateAction[] => [{ action: 'patchContext', contexts: list }]),
  },
  // Within a limit, or above it.
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.boolean(), fc.constantFrom(40, 51), fc.nat({ max: 9 }))
      .map(([isKeys, count, batch]) =>
        Array.from({ length: count }, (_, i): UpdateAction => {
          const name = `many-${batch}-${i}`
          if (isKeys) return { action: 'addKey', key: key(name, 'authentication') }
          return { action: 'addService', service: { id: name, type: 'A', serviceEndpoint: 'x:y' } }
        }),
      ),
  },
)
const actions = fc.array(action, { minLength: 0, maxLength: 3 }).map((lists) => lists.flat())

const mostly = <const T>(usual: T, ...others: T[]) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
const move = fc.record({
  kind: fc.oneof(
    { weight: 14, arbitrary: fc.constant('update' as const) },
    { weight: 1, arbitrary: fc.constantFrom('deactivate', 'create', 'replay', 'foreign') },
  ),
  actions,
  previous: mostly('last', 'first', 'none', 'short'),
  // The key id in `signed_with`, and the signing key.
  signedWith: mostly('a master', 'm1', 'a', 'none'),
  signedBy: mostly('that key', 'another key'),
  signature: mostly('as it is', 'raw', 'turned', 'empty'),
})
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never

const history = fc.record({
  // Most of them begin with a valid operation.
  keys: fc
    .array(anyKey, { maxLength: 3 })
    .map((keys) => [...keys.filter(({ id: name }) => name !== 'm0'), key('m0', 'master')]),
  services: fc.uniqueArray(service, { minLength: 1, maxLength: 2, selector: ({ id: name }) => name }),
  contexts,
  isBegun: mostly(true, false),
  moves: fc.array(move, { minLength: 1, maxLength: 10 }),
})
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const secrets = new Map<string, PrivateJwk>(
  (Object.keys(usages) as Usage[]).flatMap((use) =>
    [0, 1, 2].map((index) => [secret(use, index).x, secret(use, index)] as const),
  ),
)

/** A signed operation as bytes, with its description. */
type Attempt = { signed: Uint8Array; fact: Fact }

function toAttempt(
  operation: Operation,
  signedWith: string,
  signer: PrivateJwk,
  signature: Move['signature'],
): Attempt {
  const bytes = encodeOperation(operation)
  const signed = decodeSigned(signOperation(bytes, signedWith, signer))
  const turned = {
    'as it is': signed.signature,
    raw: fromDer(signed.signature),
    turned: spoil(signed.signature),
    empty: new Uint8Array(0),
  }
  const isSpoilt = signature === 'turned' || signature === 'empty'
  return {
    signed: toBinary(
      SignedAtalaOperationSchema,
      newMessage(SignedAtalaOperationSchema, { ...signed, signature: turned[signature] }),
    ),
    fact: { operation, hash: sha256(bytes), signedWith, signedBy: isSpoilt ? undefined : signer.x },
  }
}

function spoil(signature: Uint8Array): Uint8Array {
  return signature.map((byte, i) => (i === signature.length - 1 ? byte ^ 1 : byte))
}

/**
 * Creates the operations of a history one after the other, each based on the state so far, and passes each to
 * `see`.
 */
async function play(
  { keys, services, contexts: first, isBegun, moves }: History,
  see: (attempt: Attempt, known: Known | undefined, isGood: boolean) => Promise<void> | void,
): Promise<void> {
  const begin: Operation = { operation: 'create', publicKeys: keys, services, contexts: first }
  const suffix = sha256(encodeOperation(begin))
  const past: Attempt[] = []
  let known: Known | undefined
  const attempt = async (next: Attempt) => {
    const judged = judge(known, next.fact)
    known = judged ?? known
    past.push(next)
    await see(next, known, judged !== undefined)
  }
  if (isBegun) await attempt(toAttempt(begin, 'm0', secret('master'), 'as it is'))
  for (const { kind, actions: list, previous, signedWith, signedBy, signature } of moves) {
    const master = known?.keys.find(({ usage: use }) => use === 'master') ?? key('m0', 'master')
    const name = signedWith === 'a master' ? master.id : signedWith
    const named = known?.keys.find(({ id: active }) => active === name) ?? master
    const owner = secrets.get(named.publicKey.x) ?? secret('master')
    const signer = signedBy === 'that key' ? owner : secret('revocation', 2)
    const hashes = {
      last: known?.last ?? suffix,
      first: suffix,
      none: '00'.repeat(32),
      short: suffix.slice(2),
    }
    const on = { suffix: kind === 'foreign' ? 'ab'.repeat(32) : suffix, previousHash: hashes[previous] }
    if (kind === 'replay' && past.length > 0) await attempt(past[list.length % past.length]!)
    else if (kind === 'create') await attempt(toAttempt(begin, name, signer, 'raw'))
    else if (kind === 'deactivate')
      await attempt(toAttempt({ operation: 'deactivate', ...on }, name, signer, signature))
    else await attempt(toAttempt({ operation: 'update', ...on, actions: list }, name, signer, signature))
  }
}

function expectSame(state: DidState | undefined, known: Known | undefined): void {
  if (!known) return expect(state).toBeUndefined()
  const ids = (list: readonly { id: string }[]) => list.map(({ id: name }) => name)
  expect({
    suffix: state!.suffix,
    keys: state!.publicKeys,
    services: state!.services,
    contexts: state!.contexts,
    spentKeyIds: new Set([...state!.retiredKeyIds, ...ids(state!.publicKeys)]),
    spentServiceIds: new Set([...state!.retiredServiceIds, ...ids(state!.services)]),
    last: state!.lastOperationHash,
    isOver: state!.deactivated,
  }).toEqual(known)
  const counts = [
    state!.retiredKeyIds.length + state!.publicKeys.length,
    state!.retiredServiceIds.length + state!.services.length,
  ]
  expect(counts).toEqual([known.spentKeyIds.size, known.spentServiceIds.size])
}

/** The reasons that the random histories must cover. */
const everyReason = [
  /the DID exists already/,
  /the DID does not exist/,
  /the DID is deactivated/,
  /previous_operation_hash is not/,
  /signed_with names no active master key/,
  /the signature is not by the key/,
  /a (?:key|service) id is there twice/,
  /the update has no action/,
  /key ".*" exists or existed/,
  /no active key ".*" to remove/,
  /must be on secp256k1/,
  /key id ".*": /,
  /the update leaves no master key/,
  /the update leaves \d+ keys, more than 50/,
  /service ".*" exists or existed/,
  /no active service ".*" to remove/,
  /no active service ".*" to update/,
  /the update of service ".*" changes nothing/,
  /service type: /,
  /service endpoint: /,
  /the update leaves \d+ services, more than 50/,
  /context: /,
  /there is no context to clear/,
]

test('random histories have the states and verdicts of the rules after each operation', async () => {
  const reasons = new Set<string>()
  const done = new Set<string>()
  await fc.assert(
    fc.asyncProperty(history, async (given) => {
      let state: DidState | undefined
      let count = 0
      await play(given, ({ signed, fact }, known, isGood) => {
        const when = new Date(at.getTime() + ++count * 1_000)
        const before = JSON.stringify(state)
        try {
          const next = apply(state, signed, when)
          expect(isGood, 'it is refused by the rules').toBe(true)
          expect(next.updatedAt).toBe(when.toISOString())
          expect(next.createdAt).toBe(state?.createdAt ?? when.toISOString())
          expect(JSON.stringify(state)).toBe(before)
          state = next
          done.add(fact.operation.operation)
        } catch (error) {
          if (!(error instanceof InvalidOperation)) throw error
          expect(isGood, error.message).toBe(false)
          reasons.add(error.message)
          expect(JSON.stringify(state)).toBe(before)
        }
        expectSame(state, known)
      })
    }),
    { seed, numRuns: 300 },
  )
  expect([...done].toSorted()).toEqual(['create', 'deactivate', 'update'])
  expect(everyReason.filter((reason) => ![...reasons].some((message) => reason.test(message)))).toEqual([])
})

test('the ledger in a file has the same, also after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-ledger-'))
  let clock = at.getTime()
  const open = (name: string) => openSqliteLedger(join(folder, name), { now: () => new Date(clock) })
  try {
    let run = 0
    await fc.assert(
      fc.asyncProperty(history, async (given) => {
        const name = `${++run}.sqlite`
        let last: Known | undefined
        let subject = ''
        {
          await using ledger = await open(name)
          const seen = new Set<string>()
          await play(given, async ({ signed, fact }, known, isGood) => {
            clock += 1_000
            const operationId = await ledger.submit(signed).then(
              (submitted) => submitted.operationId,
              (error: unknown) => {
                // An invalid operation is refused and not stored.
                expect({ error, isGood }).toMatchObject({ error: { status: 400 }, isGood: false })
                return undefined
              },
            )
            // The same bytes are the same operation, and its verdict stays.
            if (operationId !== undefined && !seen.has(operationId)) {
              expect(isGood).toBe(true)
              expect(await ledger.getOperation(operationId)).toMatchObject({ status: 'confirmed' })
              seen.add(operationId)
            }
            if (fact.operation.operation === 'create') subject = fact.hash
            expectSame(await ledger.getState(subject), known)
            last = known
          })
        }
        await using again = await open(name)
        expectSame(await again.getState(subject), last)
      }),
      { seed, numRuns: 12 },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
