/**
 * Backups of two connected agents that issue credentials to each other, and the state of both after a
 * restoration. One agent has an issuer and a holder, the other a second holder. The addresses in their DIDs
 * are those of a proxy in front of each agent; the restored agent takes its place behind the proxy.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Client } from '../../../daemon/client/client.ts'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { openProxy, type Proxy } from '../../support/proxy.ts'
import { connect, newDid, until, type Tenant } from '../../support/tenants.ts'
import { restore, verify } from './_backup.ts'

async function startBehind(
  door: Proxy,
  variables: Record<string, string>,
  dataDir: string,
): Promise<TestAgent> {
  const agent = await startAgent(
    { DIDCOMM_SERVICE_URL: door.url, AGENT_ALLOW_PRIVATE_NETWORK: 'true', ...variables },
    { dataDir },
  )
  door.leadTo(agent.didcommUrl)
  return agent
}

const most = 1_000

/** Returns all records, over all pages. */
async function recordsOf(call: Client) {
  const records = []
  for (let offset = 0; ; offset += most) {
    const { contents } = await call('GET /issue-credentials/records', { query: { offset, limit: most } })
    records.push(...contents)
    if (contents.length < most) return records
  }
}

const threadsIn = async (call: Client, state: string) =>
  new Set((await recordsOf(call)).filter((each) => each.protocolState === state).map(({ thid }) => thid))

export type Outcome = {
  backups: number
  /**
   * Acknowledged offers in total, and of these the offers to the holder at the same agent before a backup was
   * requested.
   */
  offers: number
  known: number
  /** Offers that a restored agent did not have or did not complete. */
  lost: string[]
  /** Offers to the holder at the other agent between the two snapshots. */
  between: number
  faults: string[]
  heldMs: number[]
  /** The longest pause of other work during backups, in milliseconds. */
  stallMs: number
  /** The same before the backups, with the same load. */
  calmStallMs: number
}

/** Makes pairs of backups in `root` while offers are made, then restores each pair. */
export async function backUpUnderLoad(
  root: string,
  { backups, offersAtOnce = 4 }: { backups: number; offersAtOnce?: number },
): Promise<Outcome> {
  const doors = [await openProxy(), await openProxy()] as const
  const ledger = { VDR_URL: `sqlite:${join(root, 'vdr.db')}` }
  const folders = ['first', 'second'].map((name) => join(root, name)) as [string, string]
  const outcome: Outcome = {
    backups: 0,
    offers: 0,
    known: 0,
    lost: [],
    between: 0,
    faults: [],
    heldMs: [],
    stallMs: 0,
    calmStallMs: 0,
  }
  const toFar = new Set<string>()
  const made: { known: string[]; folders: [string, string] }[] = []
  let tenants: {
    issuer: Tenant
    near: Tenant
    far: Tenant
    toNear: string
    toFar: string
    issuingDID: string
  }

  const offer = async (call: Client, connectionId: string): Promise<string> => {
    const body = {
      connectionId,
      issuingDID: tenants.issuingDID,
      claims: { name: 'x' },
      automaticIssuance: true,
    }
    return (await call('POST /issue-credentials/credential-offers', { body })).thid
  }

  /** Runs both agents until `work` is done, then stops them. */
  async function run(
    dataDirs: [string, string],
    work: (agents: [TestAgent, TestAgent]) => Promise<void>,
  ): Promise<void> {
    await using first = await startBehind(doors[0], ledger, dataDirs[0])
    await using second = await startBehind(doors[1], ledger, dataDirs[1])
    await work([first, second])
  }

  for (const folder of folders) await mkdir(folder)
  await run(folders, async (agents) => {
    const [issuer, near, far] = [
      await agents[0].newTenant(),
      await agents[0].newTenant(),
      await agents[1].newTenant(),
    ]
    const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
    const accept = async (holder: Tenant) => {
      const { inviterConnectionId, inviteeConnectionId: connectionId } = await connect(issuer, holder)
      const { longFormDid: subjectId } = await newDid(holder, 'authentication')
      const automaticAcceptance = { credentialOffers: true, subjectId }
      await holder.call('PATCH /connections/{connectionId}', {
        path: { connectionId },
        body: { automaticAcceptance },
      })
      return inviterConnectionId
    }
    tenants = { issuer, near, far, issuingDID, toNear: await accept(near), toFar: await accept(far) }
    const acknowledged: string[] = []
    const load = { isOver: false }
    const workers = Array.from({ length: offersAtOnce }, async (_, index) => {
      while (!load.isOver) {
        const isNear = index % 2 === 0
        const thid = await offer(issuer.call, isNear ? tenants.toNear : tenants.toFar)
        outcome.offers++
        if (isNear) acknowledged.push(thid)
        else toFar.add(thid)
        await sleep(20)
      }
    })
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    await sleep(backups * 200)
    outcome.calmStallMs = Math.round(delay.max / 1e6)
    delay.reset()
    for (let n = 0; n < backups; n++) {
      const known = [...acknowledged]
      const copies = [join(root, `backup-${n}-first`), join(root, `backup-${n}-second`)] as [string, string]
      const answers = await Promise.all(
        copies.map((folder, at) =>
          agents[at]!.admin('POST /_system/backups', { body: { folder, includesMasterKey: true } }),
        ),
      )
      outcome.heldMs.push(...answers.map(({ heldMs }) => heldMs))
      made.push({ known, folders: copies })
    }
    delay.disable()
    outcome.stallMs = Math.round(delay.max / 1e6)
    load.isOver = true
    await Promise.all(workers)
  })

  for (const { known, folders: copies } of made) {
    const restored = copies.map((folder) => `${folder}-restored`) as [string, string]
    for (const [at, folder] of copies.entries()) {
      const { faults } = await verify(folder, folders[at]!)
      const { masterKey } = await restore(folder, restored[at]!)
      outcome.faults.push(...faults.map(({ path, reason }) => `${folder}: ${path} ${reason}`))
      if (masterKey !== 'opens') outcome.faults.push(`${folder}: the master key ${masterKey}`)
    }
    await run(restored, async (agents) => {
      const as = ({ apiKey }: Tenant, agent: TestAgent) => createClient(agent.url, { apikey: apiKey })
      const [issuer, near, far] = [
        as(tenants.issuer, agents[0]),
        as(tenants.near, agents[0]),
        as(tenants.far, agents[1]),
      ]
      const all = (await recordsOf(issuer)).map(({ thid }) => thid).filter((thid) => !toFar.has(thid))
      outcome.known += known.length
      outcome.lost.push(...known.filter((thid) => !all.includes(thid)).map((thid) => `${thid} is not there`))
      const ended = until(
        'the end of all flows',
        async () => [await threadsIn(issuer, 'CredentialSent'), await threadsIn(near, 'CredentialReceived')],
        (sides) => sides.every((side) => all.every((thid) => side.has(thid))),
      )
      await ended.catch((error: Error) => outcome.lost.push(error.message.slice(0, 200)))
      // The agents continue with each other: a new flow completes.
      const next = await offer(issuer, tenants.toFar)
      toFar.add(next)
      await until(
        'a flow between both',
        () => threadsIn(far, 'CredentialReceived'),
        (threads) => threads.has(next),
      )
      const sent = await threadsIn(issuer, 'OfferSent')
      outcome.between += sent.size
    })
    outcome.backups += 2
    for (const path of [...copies, ...restored]) await rm(path, { recursive: true })
  }
  for (const door of doors) await door[Symbol.asyncDispose]()
  return outcome
}
