/**
 * What waits in the wallets. To open all of them could take minutes, so it is a bounded number: those with
 * jobs first.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { reasonOf } from '../base/reason.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { findAddresses, type Known } from './connection-addresses.ts'
import { sql } from 'kysely'
import { JobBody } from '../outbox/job.ts'
import { globalWebhookId } from '../events/webhooks.ts'
import type { Db } from '../storage/database.ts'

/** How many there are in a wallet, and one of them: which it is, since when, and why if that is known. */
export type Waiting = { count: number; since: string; walletId: string; what: string; reason?: string }

export type Survey = {
  /** Wallets there are, and those that were looked into. */
  total: number
  seen: number
  unreadable: { walletId: string; reason: string }[]
  /** Names of wallets' files that were set aside as damaged. */
  setAside: string[]
  /** DID operations that the ledger has not judged, in each wallet; `reason` is what stands in the way of the oldest that has one. */
  operations: Waiting[]
  /** Messages that the other side has not taken at least once. */
  messages: Waiting[]
  /** Tasks for a record, such as signing, that have failed at least once. */
  tasks: Waiting[]
  /** Records that wait for somebody's next step, in each wallet; one of them waits for longest. */
  records: Waiting[]
  /** Events that a webhook did not take in the last day; `since` and `reason` are of the last one. */
  deadLetters: Waiting[]
  /** Webhooks, with what came of the last attempt if that was a failure. */
  webhooks: Target[]
  /** Addresses by which the other sides of connections know this agent. */
  addresses: Known[]
  /** When the last event of all was written. */
  newest?: string
}

/** Where events of a wallet go; `waiting` is how many it was not told yet, `reason` why it did not take the last one. */
export type Target = { walletId: string; webhookId: string; url: string; waiting: number; reason?: string }

export type SurveyOptions = { most?: number; timeMs?: number; now?: Date }

const dayMs = 86_400_000
const kinds = ['operations', 'messages', 'tasks', 'records', 'deadLetters'] as const

/** Looks into at most `most` wallets, one after the other, for about `timeMs`; never throws for what a wallet does. */
export async function surveyWallets(
  wallets: Wallets,
  busy: readonly string[],
  options: SurveyOptions = {},
): Promise<Survey> {
  const { most = 100, timeMs = 3_000, now = new Date() } = options
  const ids = await wallets.ids()
  const survey: Survey = {
    total: ids.length,
    seen: 0,
    unreadable: [],
    setAside: wallets.setAside(),
    operations: [],
    messages: [],
    tasks: [],
    records: [],
    deadLetters: [],
    webhooks: [],
    addresses: [],
  }
  const until = performance.now() + timeMs
  const known = new Set(ids)
  const chosen = [...new Set([...busy.filter((id) => known.has(id)), ...ids])].slice(0, most)
  for (const walletId of chosen) {
    if (performance.now() > until) break
    // Of wallets that are open nothing is waited for: all of them at a time would be everybody else's wait.
    await turn()
    survey.seen++
    try {
      const { newest, webhooks, addresses, ...found } = await wallets.use(walletId, ({ db }) =>
        look(db, new Date(now.getTime() - dayMs)),
      )
      survey.addresses.push(...addresses)
      survey.webhooks.push(...webhooks.map((each) => ({ walletId, ...each })))
      if (newest !== undefined && newest > (survey.newest ?? '')) survey.newest = newest
      for (const kind of kinds) if (found[kind]) survey[kind].push({ walletId, ...found[kind] })
    } catch (error) {
      survey.unreadable.push({ walletId, reason: reasonOf(error) })
    }
  }
  return survey
}

/** Reads a wallet; dead letters are those since `after`. */
export async function look(db: Db, after: Date) {
  return {
    operations: await findOperations(db),
    messages: await findFailedJobs(db, 'message'),
    tasks: await findFailedJobs(db, 'task'),
    records: await findRecords(db),
    deadLetters: await findDeadLetters(db, after.toISOString()),
    webhooks: await findWebhooks(db),
    addresses: await findAddresses(db),
    newest: (
      await db.selectFrom('event').select('ts').orderBy('sequence', 'desc').limit(1).executeTakeFirst()
    )?.ts,
  }
}

async function findOperations(db: Db) {
  const rows = await db
    .selectFrom('job')
    .innerJoin('did', (join) => join.on('job.queue', '=', sql<string>`'did:' || did.did`))
    .where('did.pending_operation', 'is not', null)
    .select((eb) => ['did.did', 'did.failure', 'job.created_at', eb.fn.countAll().over().as('count')])
    .orderBy((eb) => eb('did.failure', 'is', null))
    .orderBy('job.created_at')
    .limit(1)
    .execute()
  return rows.map(({ did, failure, created_at, count }) => {
    const reason = failure === null ? undefined : (JSON.parse(failure) as { detail: string }).detail
    return { count: Number(count), since: created_at, what: did, ...(reason !== undefined && { reason }) }
  })[0]
}

/** Jobs that have failed at least once. Tasks of a DID wait for the ledger; they are reported as operations. */
async function findFailedJobs(db: Db, kind: JobBody['kind']) {
  const rows = await db
    .selectFrom('job')
    .where('kind', '=', kind)
    .where('attempts', '>', 0)
    .where('queue', 'not like', 'did:%')
    .select((eb) => ['body', 'created_at', eb.fn.countAll().over().as('count')])
    .orderBy('created_at')
    .limit(1)
    .execute()
  return rows.map(({ body, created_at, count }) => {
    const { protocol, recordId } = JobBody.parse(JSON.parse(body))
    return { count: Number(count), since: created_at, what: `${protocol} ${recordId}` }
  })[0]
}

async function findRecords(db: Db) {
  const rows = await db
    .selectFrom('record')
    .where('waits_since', 'is not', null)
    .select((eb) => ['id', 'protocol', 'state', 'waits_since', eb.fn.countAll().over().as('count')])
    .orderBy('waits_since')
    .limit(1)
    .execute()
  return rows.map(({ id, protocol, state, waits_since, count }) => ({
    count: Number(count),
    since: waits_since!,
    what: `${protocol} ${id} in ${state}`,
  }))[0]
}

/** The wallet's own webhooks; where the global one leads is in the configuration. */
async function findWebhooks(db: Db) {
  const rows = await db
    .selectFrom('webhook')
    .where('id', '!=', globalWebhookId)
    .select((eb) => [
      'id',
      'url',
      eb
        .selectFrom('event')
        .whereRef('event.sequence', '>', 'webhook.cursor')
        .select(eb.fn.countAll().as('count'))
        .as('waiting'),
      eb
        .selectFrom('delivery_attempt')
        .whereRef('delivery_attempt.webhook_id', '=', 'webhook.id')
        .select('error')
        .orderBy('sequence', 'desc')
        .limit(1)
        .as('error'),
    ])
    .execute()
  return rows.map(({ id, url, waiting, error }) => ({
    webhookId: id,
    url,
    waiting: Number(waiting),
    ...(error !== null && { reason: error }),
  }))
}

async function findDeadLetters(db: Db, after: string) {
  const rows = await db
    .selectFrom('dead_letter')
    .innerJoin('delivery_attempt', 'delivery_attempt.sequence', 'dead_letter.attempt')
    .where('attempted_at', '>', after)
    .select((eb) => ['dead_letter.webhook_id', 'error', 'attempted_at', eb.fn.countAll().over().as('count')])
    .orderBy('attempted_at', 'desc')
    .limit(1)
    .execute()
  return rows.map(({ webhook_id, error, attempted_at, count }) => ({
    count: Number(count),
    since: attempted_at,
    what: webhook_id,
    reason: error ?? '',
  }))[0]
}
