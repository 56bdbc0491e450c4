/**
 * `npm run test:nodes -- --flows 300`: three nodes over one PostgreSQL run flows through all nodes, while nodes are killed, paused for 30 s, and cut off
 * from the database, and the database is restarted. Prints what was lost, doubled and out of order, and the longest time in which a request got no answer. Exits
 * with 1 if anything was.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import PQueue from 'p-queue'
import { createClient, type Client } from '../../daemon/client/client.ts'
import { Webhook } from '../_webhook.ts'
import { connectionIn, credentialIn, newDid, oobOf } from '../_tenants.ts'
import { openBalancer } from './_balancer.ts'
import { startNodes } from './_nodes.ts'

const { values } = parseArgs({
  options: { flows: { type: 'string', default: '100' }, concurrency: { type: 'string', default: '6' } },
})
const flows = Number(values.flows)

const names = ['a', 'b', 'c']
await using webhook = await Webhook.open()
await using balancer = await openBalancer()
await using nodes = await startNodes(
  names,
  {
    DIDCOMM_SERVICE_URL: balancer.url,
    GLOBAL_WEBHOOK_URL: webhook.url,
    AGENT_LEASE_SECONDS: '5',
  },
  { hasLinks: true },
)
balancer.serve(() => nodes.daemons.map(({ didcommUrl }) => didcommUrl))

/** The longest time until a request was answered, with its repetitions, in milliseconds. */
let longestMs = 0
let turn = 0

/** A client that repeats what a node has not done: what it could not send, and what got 503. */
function persistent(apikey: string): Client {
  const call = async (...given: Parameters<Client>) => {
    const begun = performance.now()
    for (;;) {
      const { url } = nodes.daemons[turn++ % nodes.daemons.length]!
      try {
        const answer = await createClient(url, { apikey }, { timeoutMs: 20_000 })(...given)
        longestMs = Math.max(longestMs, performance.now() - begun)
        return answer
      } catch (error) {
        const { problem } = error as { problem?: { status: number } }
        if (problem && problem.status !== 503) throw error
        if (performance.now() - begun > 120_000) throw error
        await sleep(100)
      }
    }
  }
  return call as Client
}

const newTenant = async (name: string) => {
  const tenant = await nodes.newTenant(name)
  return { ...tenant, call: persistent(tenant.apiKey) }
}

const pairs = await Promise.all(
  Array.from({ length: 8 }, async () => {
    const [issuer, holder] = [await newTenant('issuer'), await newTenant('holder')]
    const { did } = await newDid(issuer, 'assertionMethod')
    const { longFormDid } = await newDid(holder, 'authentication')
    return { issuer, holder, did, subjectId: longFormDid }
  }),
)

/** The threads of offers that were acknowledged, with their holders. */
const offered: { thid: string; holder: Client }[] = []

async function runFlow(index: number): Promise<void> {
  const { issuer, holder, did, subjectId } = pairs[index % pairs.length]!
  const made = await issuer.call('POST /connections', { body: { label: `flow ${index}` } })
  await holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } }).catch(ignoreUsed)
  await connectionIn(issuer.call, made.thid, 'ConnectionResponseSent')
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId: made.connectionId, issuingDID: did, claims: { index }, automaticIssuance: true },
    headers: { 'idempotency-key': `offer-${index}` },
  })
  offered.push({ thid, holder: holder.call })
  const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived').catch(() => ({ recordId: '' }))
  await holder
    .call('POST /issue-credentials/records/{recordId}/accept-offer', {
      path: { recordId },
      body: { subjectId },
    })
    .catch(ignoreUsed)
  await credentialIn(holder.call, thid, 'CredentialReceived')
}

/** A repeated request finds that the first one was done. */
function ignoreUsed(error: unknown): void {
  const { problem } = error as { problem?: { status: number } }
  if (!problem || ![400, 409, 410, 422].includes(problem.status)) throw error
}

const ending = new AbortController()
const faults = { killed: 0, paused: 0, restarted: 0, cutOff: 0 }

async function breakThings(): Promise<void> {
  for (let round = 0; !ending.signal.aborted; round++) {
    const index = round % nodes.daemons.length
    const daemon = nodes.daemons[index]!
    await sleep(4_000)
    if (round % 4 === 0) {
      faults.killed++
      await daemon.stop('SIGKILL')
      await sleep(3_000)
      await daemon.start()
    } else if (round % 4 === 1) {
      faults.paused++
      process.kill(daemon.pid, 'SIGSTOP')
      await sleep(30_000)
      process.kill(daemon.pid, 'SIGCONT')
    } else if (round % 4 === 2) {
      faults.cutOff++
      nodes.links[index]!.cut()
      await sleep(10_000)
      nodes.links[index]!.mend()
    } else {
      faults.restarted++
      await nodes.server.kill()
      await sleep(1_000)
      await nodes.server.start()
    }
  }
}

const begun = performance.now()
const breaking = breakThings()
const queue = new PQueue({ concurrency: Number(values.concurrency) })
const failed: unknown[] = []
await Promise.all(
  Array.from({ length: flows }, (_, index) =>
    queue.add(() => runFlow(index).catch((error: unknown) => void failed.push(error))),
  ),
)
ending.abort()
await breaking
const seconds = (performance.now() - begun) / 1_000

const events = await nodes.read<{ id: string; subject: string }>(
  `select id, wallet_id || ' ' || subject as subject from event order by sequence`,
)
for (let tries = 0; tries < 600 && webhook.events.length < events.length; tries++) await sleep(100)

const arrived = new Map(webhook.events.map(({ id }, index) => [id, index]))
const lostEvents = events.filter(({ id }) => !arrived.has(id)).length
const subjects = [...new Set(events.map(({ subject }) => subject))]
const disordered = subjects
  .map((subject) => events.filter((event) => event.subject === subject))
  .filter((own) => {
    const places = own.map(({ id }) => arrived.get(id) ?? 0)
    return places.some((place, index) => index > 0 && place < places[index - 1]!)
  }).length
let lost = 0
let doubled = 0
for (const { thid, holder } of offered) {
  const { contents } = await holder('GET /issue-credentials/records', { query: { thid } })
  const received = contents.filter(({ protocolState }) => protocolState === 'CredentialReceived').length
  if (received === 0) lost++
  if (received > 1) doubled++
}
const result = {
  flows,
  seconds,
  ...faults,
  failed: failed.length,
  lost,
  doubled,
  events: events.length,
  lostEvents,
  changedEvents: webhook.changed.length,
  disordered,
  longestMs: Math.round(longestMs),
}
console.log(result)
for (const error of failed.slice(0, 5)) console.error(error)
process.exitCode =
  failed.length + lost + doubled + lostEvents + webhook.changed.length + disordered > 0 ? 1 : 0
