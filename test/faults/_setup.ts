/** Two daemon processes with a shared ledger, an issuer and a holder, and a record of their webhook events. */
import { setTimeout } from 'node:timers/promises'
import { assemble } from '../support/assemble.ts'
import type { Answer, Daemon } from '../support/daemon.ts'
import { withProbe } from '../support/kill-points.ts'
import { newDid, publishSchema, startDaemonPair, type Tenant } from '../support/tenants.ts'
import { Webhook } from '../support/webhook.ts'

/** The time limit for repeated requests to a daemon. */
const patienceMs = 60_000

export type Faults = { rate?: number; seed?: number }

/** A kill point: the nth pass of a probe point. */
export type Kill = { point: string; nth: number }

export type DaemonTenant = Tenant & { daemon: Daemon }

export type Setup = Awaited<ReturnType<typeof openSetup>>

/** The environment variable with faults. Without faults, the next start has none. */
export function setFaults(daemon: Daemon, faults?: Faults): void {
  delete daemon.env['NODE_OPTIONS']
  delete daemon.env['FAULTS']
  if (faults) Object.assign(daemon.env, withProbe, { FAULTS: JSON.stringify(faults) })
}

/** The environment of daemons that support `killAt`. */
export const awaitingKills = { ...withProbe, FAULTS: JSON.stringify({ awaits: true }) }

/** Sets or clears the kill point of a running daemon. @throws when it was killed. */
export const killAt = (daemon: Daemon, kill?: Kill) =>
  daemon.exchange({ type: 'kill', ...(kill && { kill }) })

/** Starts both daemons. `env` adds to their environment variables. */
export function openSetup(env: Record<string, string> = {}) {
  return assemble(async (use) => {
    const webhook = use(await Webhook.open())
    const pair = use(await startDaemonPair({ AGENT_LOG_LEVEL: 'error', ...env }))
    const daemons = [pair.acme, pair.alice] as const
    const [issuer, holder] = [
      { daemon: pair.acme, ...pair.issuer },
      { daemon: pair.alice, ...pair.holder },
    ]
    const webhooks = await Promise.all(
      [issuer, holder].map((tenant) => ask(tenant, 'POST /events/webhooks', { url: webhook.url })),
    )
    /** Replays the events that failed three deliveries. */
    const replay = () =>
      Promise.all(
        [issuer, holder].map((tenant, n) =>
          ask(tenant, `POST /events/webhooks/${webhooks[n].id}/replay`, { failed: true }),
        ),
      )
    const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
    const { longFormDid: subjectId } = await newDid(holder, 'authentication')
    const schemaId = await publishSchema(issuer, issuingDID, {
      properties: { flow: { type: 'string' } },
      required: ['flow'],
    })
    return { webhook, replay, flows: 0, daemons, issuer, holder, issuingDID, subjectId, schemaId }
  })
}

/** Repeats a request until it succeeds. @throws for a 4xx, and after the time limit. */
export async function ask({ daemon, apiKey }: DaemonTenant, key: string, body?: unknown): Promise<any> {
  const { status, body: answer } = await persist(key, () =>
    daemon.call(key, { apiKey, ...(body !== undefined && { body }) }),
  )
  if (status >= 300) throw new Error(`${key} was answered ${status}: ${JSON.stringify(answer)}`)
  return answer
}

/** Creates a resource exactly once although answers may be lost: searches for it before each retry. */
export async function makeOnce<T>(
  tenant: DaemonTenant,
  find: () => Promise<T | undefined>,
  key: string,
  body: unknown,
): Promise<T> {
  let made: T | undefined
  let attempts = 0
  await persist(key, async () => {
    if (attempts++ > 0) made = await find()
    if (made !== undefined) return { status: 200, body: made }
    const answer = await tenant.daemon.call(key, { apiKey: tenant.apiKey, body })
    if (answer.status < 300) made = answer.body as T
    else if (answer.status < 500)
      throw new Refused(`${key} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  })
  return made!
}

class Refused extends Error {}

async function persist(what: string, attempt: () => Promise<Answer>): Promise<Answer> {
  const end = performance.now() + patienceMs
  for (;;) {
    let trouble: unknown
    try {
      const answer = await attempt()
      if (answer.status < 500) return answer
      trouble = `${answer.status} ${JSON.stringify(answer.body)}`
    } catch (error) {
      if (error instanceof Refused) throw error
      trouble = error
    }
    if (performance.now() > end)
      throw new Error(`${what} was not answered for ${patienceMs} ms: ${String(trouble)}`)
    await setTimeout(50)
  }
}

/** Creates a tenant. */
export async function newDaemonTenant(daemon: Daemon, name: string): Promise<DaemonTenant> {
  return { daemon, ...(await daemon.newTenant(name)) }
}
