/**
 * A peer that accepts connections and never answers, with two hundred waiting flows: it delays no other
 * peer, and no message is lost.
 */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { enqueue, JobBody } from '../../src/wallet/outbox/job.ts'
import { connect, connectionIn, oobOf, until } from '../support/tenants.ts'
import { openParty } from '../support/party.ts'
import { startPair } from '../support/agent-from-sources.ts'

const flows = 200

test('a dead peer with 200 flows does not delay others, and gets all messages in order after its recovery', async () => {
  await using pair = await startPair()
  const { issuer, holder } = pair
  const unanswered: { response: ServerResponse; count: number }[] = []
  /** The acknowledged envelopes by their index. */
  const taken: number[] = []
  let isDead = true
  const take = ({ response, count }: (typeof unanswered)[number]) => {
    taken.push(count - 1)
    response.end()
  }
  await using peer = await openParty({
    answer: (response, count) =>
      isDead ? void unanswered.push({ response, count }) : take({ response, count }),
  })
  await peer.connect(issuer, 'ConnectionResponsePending')
  const queues = Array.from({ length: flows }, () => `record:${randomUUID()}`)
  const use = pair.agent.agent.wallets.use.bind(pair.agent.agent.wallets)
  await use(issuer.walletId, async (wallet) => {
    const { body } = await wallet.db.selectFrom('job').select('body').executeTakeFirstOrThrow()
    const job = JobBody.parse(JSON.parse(body))
    if (job.kind !== 'message') throw new Error('the first job is not a message')
    const write = (queue: string, part: number) => ({
      ...job,
      message: { ...job.message, body: { queue, part } },
    })
    await wallet.transaction(async (tx) => {
      for (const part of [1, 2]) for (const queue of queues) await enqueue(tx, queue, write(queue, part))
    })
  })
  await until(
    'sixteen requests',
    () => Promise.resolve(unanswered.length),
    (count) => count === 16,
  )

  // Another connection of the same wallet, and unrelated wallets.
  const stranger = await pair.agent.newTenant()
  for (let n = 0; n < 3; n++)
    await Promise.all([connect(issuer, holder), connect(holder, issuer), connect(stranger, holder)])
  expect(unanswered.length).toBeLessThan(32)

  // From here on its connections break, so that it counts as dead; new flows still finish.
  for (const { response } of unanswered.splice(0)) response.destroy()
  await until(
    'a record with the reason',
    async () => (await issuer.call('GET /connections')).contents,
    (records) => records.some(({ metaLastFailure }) => metaLastFailure !== undefined),
  )
  const made = await issuer.call('POST /connections', { body: {} })
  await holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  await connectionIn(holder.call, made.thid, 'ConnectionResponseReceived')
  expect(unanswered.length).toBeLessThan(32)

  isDead = false
  for (const request of unanswered.splice(0)) take(request)
  const pendingJobs = () => use(issuer.walletId, ({ db }) => db.selectFrom('job').select('id').execute())
  while ((await pendingJobs()).length > 0) await sleep(50)

  await peer.open()
  const messages = taken.map((index) => peer.inbox[index]!.message)
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
  const parts = new Map<string, number[]>()
  for (const { body } of messages) {
    const { queue, part } = body as { queue?: string; part?: number }
    if (queue !== undefined) parts.set(queue, [...(parts.get(queue) ?? []), part!])
  }
  expect([...parts.keys()].toSorted()).toEqual(queues.toSorted())
  for (const order of parts.values()) expect(order).toEqual([1, 2])
})
