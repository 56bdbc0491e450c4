/**
 * Seeded networks that repeat, reorder, delay and lose messages: both sides emit the same events as on a
 * reliable one.
 *
 * The seed of a schedule determines the fate of every message, so a failed schedule can be run again.
 */
import { request, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventsAfter } from '../../src/wallet/events/event.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { newDid, oobOf, type Tenant } from '../support/tenants.ts'
import { createRandom } from '../support/random.mjs'
import { startServer, withBody } from '../support/server.ts'
import { acceptOfferWith, prove } from './_steps.ts'

/** The number of schedules. `SCHEDULES=500` is the long run. */
const schedules = Number(process.env['SCHEDULES'] ?? 30)
const atOnce = 50

/** A network in front of a DIDComm endpoint. */
async function openNetwork() {
  const random = createRandom(20_261_120)
  const fates = { good: 0, twice: 0, 'twice at once': 0, late: 0, lost: 0, 'lost on the way back': 0 }
  /** The agent's responses to repeated messages. */
  const repeated = new Set<number>()
  let target = ''
  const server = await startServer(
    // Messages in transit are lost when the agent has stopped.
    withBody((body, { url }, outgoing) => void carry(url!, outgoing, body).catch(() => outgoing.destroy())),
  )

  const deliver = (path: string, body: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        'content-type': 'application/didcomm-encrypted+json',
        'content-length': Buffer.byteLength(body),
      }
      const onward = request(target + path, { method: 'POST', headers }, (response) =>
        response.resume().on('end', () => resolve(response.statusCode!)),
      )
      onward.on('error', reject).end(body)
    })

  async function carry(url: string, outgoing: ServerResponse, body: string): Promise<void> {
    const fate = random()
    if (fate < 0.05) return void (fates.lost++, outgoing.destroy())
    if (fate < 0.4) await sleep((fates.late++, random() * 40))
    const isTwiceAtOnce = fate > 0.6 && fate <= 0.7
    const [status, again] = await Promise.all([
      deliver(url, body),
      isTwiceAtOnce ? deliver(url, body) : undefined,
    ])
    if (again !== undefined) repeated.add(again)
    if (fate > 0.95) return void (fates['lost on the way back']++, outgoing.destroy())
    if (isTwiceAtOnce) fates['twice at once']++
    else if (fate <= 0.7) fates.good++
    else fates.twice++
    outgoing.writeHead(status).end()
    if (fate <= 0.7) return
    await sleep(random() * 20)
    repeated.add(await deliver(url, body))
  }

  return { ...server, fates, repeated, leadTo: (url: string) => (target = url) }
}

/** Follows the event log of a tenant. */
function watch({ agent }: TestAgent, { walletId }: Tenant) {
  const stories = new Map<string, string>()
  const records = new Map<string, Record<string, string>>()
  const waiting = new Map<string, (record: Record<string, string>) => void>()
  let cursor = 0
  const closing = new AbortController()
  const look = async () => {
    while (!closing.signal.aborted) {
      const events = await agent.wallets.use(walletId, (wallet) =>
        eventsAfter(wallet.db, walletId, cursor, 1_000),
      )
      for (const { sequence, event } of events) {
        cursor = sequence
        const data = event.data as Record<string, string>
        if (data.thid === undefined) continue
        const key = `${data.thid} ${data.state ?? data.protocolState ?? data.status}`
        stories.set(data.thid, `${stories.get(data.thid) ?? ''}${key.slice(data.thid.length)}`)
        records.set(key, data)
        waiting.get(key)?.(data)
      }
      await sleep(20)
    }
  }
  const looking = look()
  return {
    stories,
    /** Waits for the event of a thread in a state. Returns the record. */
    reached: (thid: string, state: string) =>
      new Promise<Record<string, string>>((resolve) => {
        const key = `${thid} ${state}`
        const known = records.get(key)
        if (known) resolve(known)
        else waiting.set(key, resolve)
      }),
    async close() {
      closing.abort()
      await looking
    },
  }
}
type Watch = ReturnType<typeof watch>
type Side = Tenant & Watch

/** Connects, issues and presents. Returns the three threads. */
async function mainJob(issuer: Side, holder: Side, issuingDID: string, subjectId: string): Promise<string[]> {
  const made = await issuer.call('POST /connections', { body: {} })
  await holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  await holder.reached(made.thid, 'ConnectionResponseReceived')
  await issuer.reached(made.thid, 'ConnectionResponseSent')
  const { connectionId } = made
  const offer = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: { a: 1 }, automaticIssuance: true },
  })
  const { recordId } = await holder.reached(offer.thid, 'OfferReceived')
  await acceptOfferWith(holder, recordId!, { subjectId })
  await holder.reached(offer.thid, 'CredentialReceived')
  const proof = await issuer.call('POST /present-proof/presentations', { body: { connectionId } })
  const { presentationId } = await holder.reached(proof.thid, 'RequestReceived')
  await prove(holder, presentationId!, recordId!)
  await issuer.reached(proof.thid, 'PresentationVerified')
  await issuer.reached(offer.thid, 'CredentialSent')
  await holder.reached(proof.thid, 'PresentationSent')
  return [made.thid, offer.thid, proof.thid]
}

test(
  `${schedules} flows over a network that repeats, reorders, delays and loses end as on a good one`,
  { timeout: 240_000 },
  async () => {
    await using network = await openNetwork()
    await using agent = await startAgent({ DIDCOMM_SERVICE_URL: network.url })
    network.leadTo(agent.didcommUrl)
    const tenants = [await agent.newTenant('issuer'), await agent.newTenant('holder')] as const
    const [issuer, holder] = tenants.map((tenant) => ({ ...tenant, ...watch(agent, tenant) })) as [Side, Side]
    const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
    const { did: subjectId } = await newDid(holder, 'authentication')

    const threads: string[][] = []
    let begun = 0
    const worker = async () => {
      while (begun++ < schedules) threads.push(await mainJob(issuer, holder, issuingDID, subjectId))
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    await Promise.all([issuer.close(), holder.close()])

    const statesAt = (stories: Map<string, string>, position: number) => [
      ...new Set(threads.map((thids) => stories.get(thids[position]!))),
    ]
    expect(threads).toHaveLength(schedules)
    expect([0, 1, 2].map((position) => statesAt(issuer.stories, position))).toEqual([
      [' InvitationGenerated ConnectionRequestReceived ConnectionResponsePending ConnectionResponseSent'],
      [' OfferPending OfferSent RequestReceived CredentialPending CredentialGenerated CredentialSent'],
      [' RequestPending RequestSent PresentationVerified'],
    ])
    expect([0, 1, 2].map((position) => statesAt(holder.stories, position))).toEqual([
      [' InvitationReceived ConnectionRequestPending ConnectionRequestSent ConnectionResponseReceived'],
      [' OfferReceived RequestPending RequestSent CredentialReceived'],
      [' RequestReceived PresentationPending PresentationGenerated PresentationSent'],
    ])
    expect([...network.repeated]).toEqual([200])
    // The network did repeat, reorder, delay and lose messages.
    for (const count of Object.values(network.fates)) expect(count).toBeGreaterThan(0)
  },
)
