/**
 * Reads what is waiting in the wallets. Opening all of them could take minutes, so only some are read, those
 * with jobs first.
 */
import { setImmediate as tick } from 'node:timers/promises'
import { reasonOf } from '../../foundation/reason.ts'
import type { Wallets } from '../../wallet/wallets.ts'
import { readAddresses, type AddressCount } from './connection-addresses.ts'
import { sql } from 'kysely'
import { JobBody } from '../../wallet/outbox/job.ts'
import { globalWebhookId } from '../../wallet/events/webhooks.ts'
import { type EarliestEnd, findEarliestEnd } from '../../wallet/issuer-certificates/expiry.ts'
import { findOverdueList, type OverdueList } from '../../wallet/trust-anchors/vical.ts'
import type { Db } from '../../foundation/storage/database.ts'

/**
 * The number of waiting items in a wallet, and the oldest of them: its name, since when it waits, and the
 * last error.
 */
export type Waiting = { count: number; since: string; walletId: string; what: string; reason?: string }

export type Survey = {
  /** The number of wallets of this process, and of those that were read. */
  total: number
  read: number
  /** Wallets of other nodes. */
  elsewhere: number
  system: Wallets['store']['system']
  /** `name` is that of the file or the rows. */
  unreadable: { walletId: string; name: string; reason: string }[]
  /** Names of wallet files that were set aside as damaged. */
  setAside: string[]
  /** DID operations without a result of the ledger; `reason` is the last error. */
  operations: Waiting[]
  /** Messages with at least one failed attempt. */
  messages: Waiting[]
  /** Tasks, such as signing, with at least one failed attempt. */
  tasks: Waiting[]
  /** Records that wait for the next step of a person or another agent. */
  records: Waiting[]
  /** Dead letters of the last day; `since` and `reason` are those of the newest. */
  deadLetters: Waiting[]
  webhooks: Receiver[]
  /** The issuer certificate of each wallet that ends first. */
  certificates: (EarliestEnd & { walletId: string })[]
  /** The list of authorities of each wallet that has been overdue for longest. */
  overdueLists: (OverdueList & { walletId: string })[]
  /** The addresses of this agent in the peer DIDs of connections. */
  addresses: AddressCount[]
  newest?: string
}

/** A webhook; `waiting` counts its undelivered events, `reason` is the error of its last attempt. */
export type Receiver = { walletId: string; webhookId: string; url: string; waiting: number; reason?: string }

type SurveyOptions = { maxWallets?: number; timeMs?: number; now?: Date }

const dayMs = 86_400_000
const waitingKinds = ['operations', 'messages', 'tasks', 'records', 'deadLetters'] as const

/**
 * Reads at most `maxWallets` wallets, one after the other, for about `timeMs`. An unreadable wallet is a
 * result, not an error.
 */
export async function surveyWallets(
  wallets: Wallets,
  busy: readonly string[],
  options: SurveyOptions = {},
): Promise<Survey> {
  const { maxWallets = 100, timeMs = 3_000, now = new Date() } = options
  const ids = await wallets.ids()
  const survey: Survey = {
    total: ids.length,
    read: 0,
    elsewhere: (await wallets.countAll()) - ids.length,
    system: wallets.store.system,
    unreadable: [],
    setAside: wallets.folder.setAsideFiles(),
    operations: [],
    messages: [],
    tasks: [],
    records: [],
    deadLetters: [],
    webhooks: [],
    certificates: [],
    overdueLists: [],
    addresses: [],
  }
  const until = performance.now() + timeMs
  const known = new Set(ids)
  const chosen = [...new Set([...busy.filter((id) => known.has(id)), ...ids])].slice(0, maxWallets)
  for (const walletId of chosen) {
    if (performance.now() > until) break
    // Reading an open wallet never waits for I/O, so yield to the event loop between wallets.
    await tick()
    survey.read++
    try {
      const { newest, webhooks, addresses, certificate, overdueList, ...found } = await wallets.use(
        walletId,
        ({ db }) => readWallet(db, now),
      )
      survey.addresses.push(...addresses)
      if (certificate) survey.certificates.push({ walletId, ...certificate })
      if (overdueList) survey.overdueLists.push({ walletId, ...overdueList })
      survey.webhooks.push(...webhooks.map((each) => ({ walletId, ...each })))
      if (newest !== undefined && newest > (survey.newest ?? '')) survey.newest = newest
      for (const kind of waitingKinds) if (found[kind]) survey[kind].push({ walletId, ...found[kind] })
    } catch (error) {
      survey.unreadable.push({ walletId, name: wallets.store.nameOf(walletId), reason: reasonOf(error) })
    }
  }
  return survey
}

/** Reads one wallet, with its dead letters of the last day. */
async function readWallet(db: Db, now: Date) {
  const after = new Date(now.getTime() - dayMs)
  return {
    operations: await findOperations(db),
    messages: await findFailedJobs(db, 'message'),
    tasks: await findFailedJobs(db, 'task'),
    records: await findRecords(db),
    deadLetters: await findDeadLetters(db, after.toISOString()),
    webhooks: await findWebhooks(db),
    addresses: await readAddresses(db),
    certificate: await findEarliestEnd(db),
    overdueList: await findOverdueList(db, now),
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

/** The webhooks of the tenant. The global webhook is in the configuration. */
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
        .where(sql<boolean>`webhook.types is null or webhook.types like '%,' || event.type || ',%'`)
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
