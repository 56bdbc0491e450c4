/**
 * What waits in the wallets. To open all of them could take minutes, so it is a bounded number: those that the courier still owes
 * something first, since whatever waits waits there.
 */
import { sql } from 'kysely'
import { reasonOf } from '../base/reason.ts'
import { Debt } from '../outbox/outbox.ts'
import type { Db } from '../storage/database.ts'
import type { Wallets } from '../wallet/wallets.ts'

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
  /** Events that a webhook did not take in the last day; `since` and `reason` are of the last one. */
  deadLetters: Waiting[]
}

export type SurveyOptions = { most?: number; timeMs?: number; now?: Date }

const dayMs = 86_400_000

/** Looks into at most `most` wallets, one after the other, for about `timeMs`; never throws for what a wallet does. */
export async function surveyWallets(wallets: Wallets, owing: readonly string[], options: SurveyOptions = {}): Promise<Survey> {
  const { most = 100, timeMs = 3_000, now = new Date() } = options
  const ids = await wallets.ids()
  const survey: Survey = {
    total: ids.length,
    seen: 0,
    unreadable: [],
    setAside: wallets.setAside(),
    operations: [],
    messages: [],
    deadLetters: [],
  }
  const until = performance.now() + timeMs
  const known = new Set(ids)
  const chosen = [...new Set([...owing.filter((id) => known.has(id)), ...ids])].slice(0, most)
  for (const walletId of chosen) {
    if (performance.now() > until) break
    survey.seen++
    try {
      const { operations, messages, deadLetters } = await wallets.use(walletId, ({ db }) => look(db, now))
      if (operations) survey.operations.push({ walletId, ...operations })
      if (messages) survey.messages.push({ walletId, ...messages })
      if (deadLetters) survey.deadLetters.push({ walletId, ...deadLetters })
    } catch (error) {
      survey.unreadable.push({ walletId, reason: reasonOf(error) })
    }
  }
  return survey
}

async function look(db: Db, now: Date) {
  return {
    operations: await findOperations(db),
    messages: await findMessages(db),
    deadLetters: await findDeadLetters(db, new Date(now.getTime() - dayMs).toISOString()),
  }
}

async function findOperations(db: Db) {
  const rows = await db
    .selectFrom('outbox')
    .innerJoin('did', (join) => join.on('outbox.lane', '=', sql<string>`'did:' || did.did`))
    .where('did.pending_operation', 'is not', null)
    .select((eb) => ['did.did', 'did.failure', 'outbox.created_at', eb.fn.countAll().over().as('count')])
    .orderBy((eb) => eb('did.failure', 'is', null))
    .orderBy('outbox.created_at')
    .limit(1)
    .execute()
  return rows.map(({ did, failure, created_at, count }) => {
    const reason = failure === null ? undefined : (JSON.parse(failure) as { detail: string }).detail
    return { count: Number(count), since: created_at, what: did, ...(reason !== undefined && { reason }) }
  })[0]
}

async function findMessages(db: Db) {
  const rows = await db
    .selectFrom('outbox')
    .where('kind', '=', 'message')
    .where('attempts', '>', 0)
    .select((eb) => ['body', 'created_at', eb.fn.countAll().over().as('count')])
    .orderBy('created_at')
    .limit(1)
    .execute()
  return rows.map(({ body, created_at, count }) => {
    const { protocol, recordId } = Debt.parse(JSON.parse(body))
    return { count: Number(count), since: created_at, what: `${protocol} ${recordId}` }
  })[0]
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
