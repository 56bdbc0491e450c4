/** What waits in one wallet: how many there are, and the one that waits for longest. */
import { sql } from 'kysely'
import { JobBody } from '../outbox/job.ts'
import { globalWebhookId } from '../events/webhooks.ts'
import type { Db } from '../storage/database.ts'
import { findAddresses } from './addresses.ts'

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
