/**
 * Deletes old rows (extension): proofs by `PROOF_RETENTION`, records of flows that failed by
 * `FAILED_RECORD_RETENTION`, and basic messages by `MESSAGE_RETENTION`, each only if the operator sets it;
 * and what is old in logs by `EVENT_RETENTION`.
 */
import { setImmediate as tick } from 'node:timers/promises'
import { sql } from 'kysely'
import { isOver, timeAgo } from '../foundation/clock.ts'
import type { Config } from '../foundation/config/config.ts'
import type { Log } from '../foundation/log.ts'
import { Problem } from '../foundation/problem.ts'
import type { Db } from '../foundation/storage/database.ts'
import { isElsewhere } from '../foundation/storage/transferred.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { invitationExpiryOf } from './protocols/connection/flow.ts'
import { connection } from './protocols/connection/model.ts'
import type { Protocol } from './engine/protocol.ts'
import { removeRecord } from './engine/remove.ts'
import { issueCredential } from './issuance/model.ts'
import { presentProof } from './presentation/model.ts'
import { removeOldLogs } from './old-logs.ts'
import { removeCredentialRecord } from './remove-credential.ts'

/** Rows of one kind that are deleted together: the records of a batch share a commit. */
const batchSize = 50

/** The longest and the shortest time between two searches. A search opens every wallet. */
const [longestMs, shortestMs] = [86_400_000, 60_000]

/** The time before the first search: the agent is ready by then. */
const firstMs = 2_000

export type Retention = {
  /** Deletes what is too old now, in all wallets. */
  apply(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Searches all wallets soon after the start and then at intervals: a tenth of the shortest time, at least a
 * minute and at most a day.
 */
export function createRetention(
  config: Pick<
    Config,
    | 'EVENT_RETENTION'
    | 'PROOF_RETENTION'
    | 'FAILED_RECORD_RETENTION'
    | 'MESSAGE_RETENTION'
    | 'CONNECT_INVITATION_EXPIRY'
  >,
  wallets: Pick<Wallets, 'ids' | 'use'>,
  log: Log,
): Retention {
  const { PROOF_RETENTION: proofs, FAILED_RECORD_RETENTION: failed, MESSAGE_RETENTION: messages } = config
  const { EVENT_RETENTION: events } = config
  const set = [events, proofs, failed, messages].filter((seconds) => seconds !== undefined)
  const intervalMs = Math.max(shortestMs, Math.min(longestMs, Math.min(...set) * 100))
  let isStopped = false
  let running: Promise<void> = Promise.resolve()

  const complain = (error: unknown, about: { walletId?: string }) => {
    if (!isElsewhere(error))
      log.error({ err: error, ...about }, 'old records and events could not be deleted')
  }

  async function apply(): Promise<void> {
    for (const id of await wallets.ids()) {
      if (isStopped) return
      // Wallets of tenants that make requests come first.
      await tick()
      await wallets
        .use(id, (wallet) => applyTo(wallet))
        .catch((error: unknown) => complain(error, { walletId: id }))
    }
  }

  /** An invitation that can still be answered stays. */
  const removeConnection: Remove = (wallet, id) =>
    removeRecord(wallet, connection, id, async (_, record) => {
      if (record.state === 'InvitationGenerated' && !isOver(invitationExpiryOf(record, config)))
        throw new Problem('Not Allowed', 'The invitation can still be answered.')
    })
  const removeProof: Remove = (wallet, id) => removeRecord(wallet, presentProof, id)

  async function applyTo(wallet: Wallet): Promise<void> {
    if (proofs !== undefined) await removeOld(wallet, presentProof, { seconds: proofs }, removeProof)
    if (failed !== undefined) {
      const ended = { seconds: failed, onlyFailed: true }
      await removeOld(wallet, connection, ended, removeConnection)
      // A credential that is valid, and so may still be revoked, keeps its record.
      await removeOld(wallet, issueCredential, ended, removeCredentialRecord)
      await removeOld(wallet, presentProof, ended, removeProof)
    }
    if (messages !== undefined) await removeOldMessages(wallet, messages)
    await removeOldLogs(wallet, events)
  }

  function search(): void {
    running = apply()
      .catch((error: unknown) => complain(error, {}))
      .finally(() => {
        if (!isStopped) timer = setTimeout(search, intervalMs).unref()
      })
  }

  let timer = setTimeout(search, firstMs).unref()
  return {
    apply,
    async [Symbol.asyncDispose]() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Removes a record, unless it throws a {@link Problem}: then the record stays. */
type Remove = (wallet: Wallet, id: string) => Promise<void>

/** Removes the records whose flow ended so many seconds ago, or only those whose flow failed. */
async function removeOld(
  wallet: Wallet,
  protocol: Protocol,
  { seconds, onlyFailed = false }: { seconds: number; onlyFailed?: boolean },
  remove: Remove,
): Promise<void> {
  const before = timeAgo(seconds)
  let after = { created_at: '', id: '' }
  for (;;) {
    const rows = await findEnded(wallet.db, protocol, { before, after, onlyFailed })
    await Promise.all(rows.map(({ id }) => remove(wallet, id).catch(throwFault)))
    if (rows.length < batchSize) return
    after = rows.at(-1)!
  }
}

type Search = { before: string; after: { created_at: string; id: string }; onlyFailed: boolean }

async function findEnded(db: Db, protocol: Protocol, { before, after, onlyFailed }: Search) {
  let query = db
    .selectFrom('record')
    .select(['created_at', 'id'])
    .where('protocol', '=', protocol.name)
    .where('created_at', '<', before)
    .where(sql<boolean>`(created_at, id) > (${after.created_at}, ${after.id})`)
    .where('waits_since', 'is', null)
    .where((where) => where.or([where('updated_at', 'is', null), where('updated_at', '<', before)]))
  if (onlyFailed) query = query.where('state', 'in', failuresOf(protocol))
  return query.orderBy('created_at').orderBy('id').limit(batchSize).execute()
}

/**
 * The states of flows that failed. A connection that was established once stays, because records refer to it:
 * only unanswered invitations and expired requests are removed.
 */
function failuresOf({ name, states }: Protocol): string[] {
  if (name === connection.name) return ['InvitationGenerated', 'ProblemReportSent']
  return Object.keys(states).filter((state) => (states[state]!.ends ?? 0) > 0)
}

/** Throws an error unless it is a refusal. */
function throwFault(error: unknown): void {
  if (!(error instanceof Problem) || error.status >= 500) throw error
}

async function removeOldMessages(wallet: Wallet, retentionSeconds: number): Promise<void> {
  const before = timeAgo(retentionSeconds)
  for (;;) {
    const oldest = await wallet.db
      .selectFrom('message')
      .select(['sequence', 'created_at'])
      .orderBy('sequence')
      .limit(batchSize)
      .execute()
    const old = oldest.filter(({ created_at }) => created_at < before).map(({ sequence }) => sequence)
    if (old.length === 0) return
    await wallet.transaction((tx) => tx.deleteFrom('message').where('sequence', 'in', old).execute())
  }
}
