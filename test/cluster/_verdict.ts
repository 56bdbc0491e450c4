/** Compares what was acknowledged with the records, and the log of events with what the webhook has got. */
import PQueue from 'p-queue'
import { until } from '../support/tenants.ts'
import type { Webhook } from '../support/webhook.ts'
import type { Offered } from './_flow.ts'
import type { Nodes } from './_nodes.ts'

/**
 * All numbers are 0 if nothing went wrong, but `events` and `repeatedEvents`: an event may be sent again with
 * its id.
 */
export type Verdict = {
  lost: number
  doubled: number
  events: number
  lostEvents: number
  doubledEvents: number
  changedEvents: number
  disordered: number
  repeatedEvents: number
}

export async function judge(nodes: Nodes, webhook: Webhook, offered: readonly Offered[]): Promise<Verdict> {
  const { lost, doubled } = await countRecords(offered)
  const events = await readEvents(nodes, webhook)
  const arrivals = new Map(webhook.events.map(({ id }, index) => [id, index]))
  const bySubject = new Map<string, LogEvent[]>()
  for (const event of events) {
    const own = bySubject.get(event.subject)
    if (own) own.push(event)
    else bySubject.set(event.subject, [event])
  }
  const logs = [...bySubject.values()]
  return {
    lost,
    doubled,
    events: events.length,
    lostEvents: events.filter(({ id }) => !arrivals.has(id)).length,
    doubledEvents: logs.map((own) => own.length - new Set(own.map(({ state }) => state)).size).reduce(add, 0),
    changedEvents: webhook.changed.length,
    disordered: logs.filter((own) => !isInOrder(own.map(({ id }) => arrivals.get(id) ?? 0))).length,
    repeatedEvents: webhook.deliveries.length - webhook.events.length,
  }
}

export function isFaultless(verdict: Verdict): boolean {
  const counted = new Set(['events', 'repeatedEvents'])
  return Object.entries(verdict).every(([name, number]) => number === 0 || counted.has(name))
}

type LogEvent = { id: string; subject: string; state: string }

/** The log, when its last event has arrived or does not arrive within a minute. */
async function readEvents(nodes: Nodes, webhook: Webhook): Promise<LogEvent[]> {
  const read = () =>
    nodes.read<LogEvent>(
      `select id, wallet_id || ' ' || subject as subject,
        type || ' ' || coalesce(data::json->>'protocolState', data::json->>'status', data::json->>'state', '') as state
      from event order by wallet_id, sequence`,
    )
  const isComplete = (events: LogEvent[]) => {
    const arrived = new Set(webhook.events.map(({ id }) => id))
    return events.every(({ id }) => arrived.has(id))
  }
  return until('all events', read, isComplete).catch(read)
}

/** Of each thread, the issuer and the holder have one credential, and one connection each. */
async function countRecords(offered: readonly Offered[]): Promise<{ lost: number; doubled: number }> {
  const counts: number[] = []
  const queue = new PQueue({ concurrency: 6 })
  const count = async ({ issuer, holder, thid, connectionThid }: Offered) => {
    for (const [{ call }, state] of [
      [issuer, 'CredentialSent'],
      [holder, 'CredentialReceived'],
    ] as const) {
      const records = await call('GET /issue-credentials/records', { query: { thid } })
      counts.push(records.contents.filter(({ protocolState }) => protocolState === state).length)
      const connections = await call('GET /connections', { query: { thid: connectionThid } })
      counts.push(connections.contents.length)
    }
  }
  await Promise.all(offered.map((each) => queue.add(() => count(each))))
  return {
    lost: counts.filter((found) => found === 0).length,
    doubled: counts.filter((found) => found > 1).length,
  }
}

function isInOrder(places: readonly number[]): boolean {
  return places.every((place, index) => index === 0 || place > places[index - 1]!)
}

const add = (first: number, second: number) => first + second
