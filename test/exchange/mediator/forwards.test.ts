/** Many forwards at once: they share commits, limits hold, and none is answered before it is on the disk. */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { openMediatorDb } from '../../../src/foundation/storage/database.ts'
import { watchStatements } from '../../security/_statements.ts'
import {
  deliveredIn,
  forwardOf,
  newWallet,
  packFor,
  pickup,
  startMediator,
  type TestMediator,
  type TestWallet,
} from './_mediator.ts'

const envelopeFor = (mediator: TestMediator, did: string, content = 'x') =>
  packFor(mediator.did, forwardOf(did, packFor(did, { type: 'x:y', body: { content } })))

/** Sends forwards at once. Returns how often each outcome occurred. */
async function outcomesOf(mediator: TestMediator, envelopes: readonly string[]) {
  const counts: Record<string, number> = {}
  const settled = await Promise.allSettled(envelopes.map((envelope) => mediator.take(envelope)))
  for (const outcome of settled) {
    const name = outcome.status === 'fulfilled' ? 'accepted' : (outcome.reason as { type: string }).type
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

const many = (mediator: TestMediator, count: number, did: string, content?: string) =>
  Array.from({ length: count }, () => envelopeFor(mediator, did, content))

const full = 'error:MediatorError:QueueFull'

async function waitingIds(mediator: TestMediator, wallet: TestWallet): Promise<string[]> {
  const delivery = await mediator.ask(wallet, `${pickup}/delivery-request`, { limit: 100 })
  return deliveredIn(delivery).map(({ id }) => id)
}

test('of many forwards at once, a DID gets as many as MEDIATOR_QUEUE_LIMIT, and no other loses room', async () => {
  await using mediator = await startMediator({ MEDIATOR_QUEUE_LIMIT: 7 })
  const [wallet, other] = [await mediator.enrolled(), await mediator.enrolled()]
  const envelopes = [...many(mediator, 30, wallet.did), ...many(mediator, 7, other.did)]
  expect(await outcomesOf(mediator, envelopes)).toEqual({ accepted: 14, [full]: 23 })
  const ids = await waitingIds(mediator, wallet)
  expect(ids).toHaveLength(7)
  // What is picked up between them makes room, and not for more.
  const acknowledged = mediator.acknowledge(wallet, ids.slice(0, 3))
  const more = outcomesOf(mediator, many(mediator, 20, wallet.did))
  await acknowledged
  const { accepted = 0 } = await more
  expect(accepted).toBeLessThanOrEqual(3)
  await outcomesOf(mediator, many(mediator, 20, wallet.did))
  expect(await waitingIds(mediator, wallet)).toHaveLength(7)
})

test('of many forwards at once, an account gets no more bytes than MEDIATOR_QUEUE_BYTES over its DIDs', async () => {
  await using mediator = await startMediator({ MEDIATOR_QUEUE_BYTES: 20_000 })
  const [wallet, alias] = [await mediator.enrolled(), newWallet().did]
  await mediator.register(wallet, alias)
  const content = 'x'.repeat(2_000)
  const envelopes = [wallet.did, alias].flatMap((did) => many(mediator, 15, did, content))
  const { accepted = 0 } = await outcomesOf(mediator, envelopes)
  const status = await mediator.ask(wallet, `${pickup}/status-request`)
  expect(status!.body).toMatchObject({ message_count: accepted })
  const bytes = status!.body['total_bytes'] as number
  expect(bytes).toBeLessThanOrEqual(20_000)
  expect(bytes).toBeGreaterThan(20_000 - bytes / accepted)
})

test('of one envelope many times at once, one is accepted', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const envelope = envelopeFor(mediator, wallet.did)
  const outcomes = await outcomesOf(mediator, Array<string>(20).fill(envelope))
  expect(outcomes).toEqual({ accepted: 1, 'error:MediatorError:MessageReplayed': 19 })
  expect(await waitingIds(mediator, wallet)).toHaveLength(1)
})

test('a message in two forwards waits once, also if the queue is full', async () => {
  await using mediator = await startMediator({ MEDIATOR_QUEUE_LIMIT: 1 })
  const wallet = await mediator.enrolled()
  const message = packFor(wallet.did, { type: 'x:y' })
  const forwards = [1, 2, 3].map(() => packFor(mediator.did, forwardOf(wallet.did, message)))
  expect(await outcomesOf(mediator, forwards)).toEqual({ accepted: 3 })
  expect(await waitingIds(mediator, wallet)).toHaveLength(1)
})

test('a forward that is refused takes none of those at the same time with it', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const envelopes = Array.from({ length: 20 }, (_, n) =>
    envelopeFor(mediator, n % 2 === 0 ? newWallet().did : wallet.did),
  )
  expect(await outcomesOf(mediator, envelopes)).toEqual({
    accepted: 10,
    'error:MediatorError:NotEnrolled': 10,
  })
  expect(await waitingIds(mediator, wallet)).toHaveLength(10)
})

test('a forward is answered when it is on the disk', async () => {
  let isHeld = false
  const flushes: (() => void)[] = []
  await using mediator = await startMediator({
    wrap: (contents) => ({
      ...contents,
      async flush() {
        if (isHeld) await new Promise<void>((resolve) => flushes.push(resolve))
        await contents.flush()
      },
    }),
  })
  const wallet = await mediator.enrolled()
  isHeld = true
  let isAnswered = false
  const answered = mediator.take(envelopeFor(mediator, wallet.did)).then(() => (isAnswered = true))
  await expect.poll(() => flushes.length).toBe(1)
  expect(isAnswered).toBe(false)
  isHeld = false
  flushes[0]!()
  await answered
  expect(await waitingIds(mediator, wallet)).toHaveLength(1)
})

test('a forward is three statements, and those at the same time share commits', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  await mediator.take(envelopeFor(mediator, wallet.did))
  const envelopes = many(mediator, 64, wallet.did)
  const counts = { commit: 0, savepoint: 0, other: 0 }
  const check = Symbol.for('identity-agent.check-memory')
  const shared = globalThis as Record<symbol, unknown>
  delete shared[check]
  const see = ({ source }: { source: string }) => {
    if (source.startsWith('commit')) counts.commit++
    else if (/^(?:savepoint|release)/.test(source)) counts.savepoint++
    else if (!source.startsWith('begin')) counts.other++
  }
  await watchStatements(see, () => outcomesOf(mediator, envelopes)).finally(() => (shared[check] = true))
  expect(counts.other).toBe(3 * envelopes.length)
  expect(counts.savepoint).toBeLessThanOrEqual(2 * envelopes.length)
  expect(counts.commit).toBeLessThan(envelopes.length / 2)
})

test('after another process has had the role, sizes of queues are read again', async () => {
  let epoch = 1
  await using mediator = await startMediator({
    MEDIATOR_QUEUE_LIMIT: 2,
    wrap: (contents) => ({ ...contents, enter: () => Promise.resolve(epoch) }),
  })
  const wallet = await mediator.enrolled()
  expect(await outcomesOf(mediator, many(mediator, 3, wallet.did))).toEqual({ accepted: 2, [full]: 1 })
  const other = await openMediatorDb(`${mediator.path}/mediator.db`)
  await sql`delete from message`.execute(other)
  await other.destroy()
  epoch = 2
  expect(await outcomesOf(mediator, many(mediator, 3, wallet.did))).toEqual({ accepted: 2, [full]: 1 })
})

test('the digests of the newest envelopes are kept, and older ones are deleted some at a time', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const first = envelopeFor(mediator, wallet.did)
  await mediator.take(first)
  const other = await openMediatorDb(`${mediator.path}/mediator.db`)
  await sql`insert into seen (sequence, digest) values (200498, 'x')`.execute(other)
  await mediator.take(envelopeFor(mediator, wallet.did))
  expect(await outcomesOf(mediator, [first])).toEqual({ 'error:MediatorError:MessageReplayed': 1 })
  await mediator.take(envelopeFor(mediator, wallet.did))
  const { rows } = await sql<{ sequence: number }>`select sequence from seen order by sequence`.execute(other)
  await other.destroy()
  expect(rows.map(({ sequence }) => sequence)).toEqual([200_498, 200_499, 200_500])
})
