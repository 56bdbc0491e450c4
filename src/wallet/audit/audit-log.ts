/**
 * The audit log: `audit.db` in the data folder, a chain of entries that only the agent's key can make
 * (`chain.ts`).
 *
 * An act is stored before it changes anything, and gets its entry before the response. A change thus leaves a
 * trace whenever the daemon is killed. An act that cannot be stored is not done.
 */
import { timeAgo } from '../../foundation/clock.ts'
import type { Log } from '../../foundation/log.ts'
import { Problem } from '../../foundation/problem.ts'
import { StartError } from '../../foundation/start-error.ts'
import { DamagedFileError } from '../../foundation/storage/file-errors.ts'
import type { Ownership } from '../../cluster/ownership.ts'
import type { AuditDb } from '../../foundation/storage/database.ts'
import type { Paging } from '../../foundation/storage/list-query.ts'
import { listUnfinished, type Draft } from './begun.ts'
import type { ChainHead } from './chain.ts'
import { ChainWriter } from './chain-writer.ts'
import { findOldest, listEntries, type Act, type AuditEntry, type Filter, type Result } from './entry.ts'
import { Refusals } from './refusals.ts'
import { verify, type AuditVerification } from './verify.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

export type AuditOptions = {
  /** 32 bytes. Filled with zeros when the log closes. */
  key: Uint8Array
  log: Log
  retentionSeconds: number
  /** Entries for refusals of one address per minute. */
  refusalsPerMinute: number
  /** The processes that write to the log. */
  processes: Pick<Ownership, 'name' | 'listRunning' | 'onGain'>
}

/**
 * Stores that an act begins, with what is known of it by now.
 *
 * @throws {Problem} 503, 507: the act must not be done
 */
export type Begin = (more?: Partial<Act>) => Promise<void>

export class AuditLog {
  readonly #db: AuditDb
  readonly #options: AuditOptions
  readonly #refusals: Refusals
  readonly #chain: ChainWriter
  readonly #daily: NodeJS.Timeout
  #minute: NodeJS.Timeout | undefined
  /** Acts that were done and whose entries could not be written. */
  #unwritten: Draft[] = []
  #readers = 0

  private constructor(db: AuditDb, options: AuditOptions) {
    this.#db = db
    this.#options = options
    this.#chain = new ChainWriter(db, options.key, options.processes.name)
    this.#refusals = new Refusals(options.refusalsPerMinute)
    this.#daily = setInterval(
      () => void this.#prune().catch((error: unknown) => this.#complain(error)),
      dayMs,
    ).unref()
  }

  /**
   * Opens the log, and adds entries for acts that an earlier daemon did not finish.
   *
   * @throws {NewerFileError} {StartError} when it is damaged
   */
  static async open(openDb: () => Promise<AuditDb>, options: AuditOptions): Promise<AuditLog> {
    const db = await openDb().catch((error: unknown) => {
      if (!(error instanceof DamagedFileError)) throw error
      const remedy = 'Restore it from a backup, or move it away: the daemon then begins a new, empty one.'
      throw new StartError(`${error.message}. ${remedy}`, 1, { cause: error })
    })
    const log = new AuditLog(db, options)
    // The daemon starts even with a full disk, because each audited act checks that it can be stored.
    await log.#start().catch((error: unknown) => log.#complain(error))
    // Then the shards of a process that has ended are taken over.
    options.processes.onGain(
      () => void log.#enterUnfinished().catch((error: unknown) => log.#complain(error)),
    )
    return log
  }

  /**
   * Does an act and adds its entry. `work` calls `begin` before it changes anything. `describe` adds to the
   * entry when the act has succeeded. Returns and throws what `work` does.
   */
  async during<T>(
    act: Act,
    work: (begin: Begin) => Promise<T>,
    describe: (done: T) => Partial<Act & Result> = () => ({}),
  ): Promise<T> {
    const draft: Draft = {
      act: { ...act, at: act.at ?? new Date().toISOString() },
      result: { outcome: 'succeeded' },
    }
    const begin: Begin = async (more = {}) => {
      draft.act = { ...draft.act, ...more }
      draft.begun = await this.#chain.begin(draft.act)
    }
    try {
      const done = await work(begin)
      const { status, outcome = 'succeeded', ...more } = describe(done)
      draft.act = { ...draft.act, ...more }
      draft.result = { outcome, ...(status !== undefined && { status }) }
      return done
    } catch (error) {
      draft.result = failureOf(error)
      throw error
    } finally {
      await this.#enter([draft])
    }
  }

  /** Does an act of the agent itself. */
  byItself<T>(action: string, work: () => Promise<T>): Promise<T> {
    return this.during({ actor: 'agent', action }, async (begin) => {
      await begin()
      return work()
    })
  }

  /** Logs a refusal; above a limit, as a part of a count. Never throws. */
  async refused(act: Act, error: Problem): Promise<void> {
    this.#minute ??= setTimeout(() => void this.countRefusals(), minuteMs).unref()
    if (!this.#refusals.admits(act.address ?? '', Date.now())) return
    await this.#enter([
      { act: { ...act, at: new Date().toISOString() }, result: { ...failureOf(error), outcome: 'refused' } },
    ])
  }

  /** Adds entries for the refusals that were counted in the last minute. */
  async countRefusals(): Promise<void> {
    clearTimeout(this.#minute)
    this.#minute = undefined
    const at = new Date().toISOString()
    const drafts = this.#refusals.endMinute().map(({ address, count }): Draft => ({
      act: { at, actor: 'anonymous', action: 'refusals', ...(address !== undefined && { address }) },
      result: { outcome: 'refused', count },
    }))
    if (drafts.length > 0) await this.#enter(drafts)
  }

  list(filter: Filter, paging: Paging): Promise<AuditEntry[]> {
    return listEntries(this.#db, filter, paging)
  }

  /** Verifies the whole chain. Searches it for `noted`, the head of an earlier time. */
  async verify(noted?: ChainHead): Promise<AuditVerification> {
    // Pruning waits meanwhile.
    this.#readers++
    try {
      for (;;) {
        const oldest = await findOldest(this.#db)
        const result = await verify(this.#db, this.#options.key, { expected: this.#chain.head, noted })
        // Another process may have pruned the log meanwhile.
        if (result.isIntact || (await findOldest(this.#db)) === oldest) return result
      }
    } finally {
      this.#readers--
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#daily)
    await this.countRefusals()
    if (this.#unwritten.length > 0) await this.#enter([])
    await this.#chain.flush()
    await this.#db.destroy()
    this.#options.key.fill(0)
  }

  async #start(): Promise<void> {
    const isGenuine = await this.#chain.readHead()
    if (!isGenuine) this.#options.log.error('the audit log was altered: `agent audit verify` finds the entry')
    await this.#enterUnfinished({ isFirst: true })
    await this.#prune()
  }

  /**
   * Adds entries for acts that processes did not finish before they ended. Before its first act, this process
   * has none under way.
   */
  async #enterUnfinished({ isFirst = false } = {}): Promise<void> {
    const { name, listRunning } = this.#options.processes
    const running = new Set(await listRunning()).add(name)
    if (isFirst) running.delete(name)
    const drafts = await listUnfinished(this.#db, this.#options.key, (process) => !running.has(process))
    if (drafts.length > 0) await this.#append(drafts)
  }

  /**
   * As `#append`. Entries for acts that cannot be written are kept for the next write, because the acts are
   * done.
   */
  async #enter(drafts: Draft[]): Promise<void> {
    try {
      await this.#append(drafts)
    } catch (error) {
      this.#unwritten.push(...drafts.filter(({ begun }) => begun !== undefined))
      this.#complain(error, drafts[0]?.act.requestId)
    }
  }

  async #append(drafts: readonly Draft[]): Promise<void> {
    const unwritten = this.#unwritten
    await this.#chain.append([...unwritten, ...drafts])
    this.#unwritten = this.#unwritten.filter((draft) => !unwritten.includes(draft))
  }

  async #prune(): Promise<void> {
    const before = timeAgo(this.#options.retentionSeconds)
    while (this.#readers === 0 && (await this.#chain.prune(before)));
  }

  #complain(error: unknown, requestId?: string): void {
    this.#options.log.error({ err: error, requestId }, 'the audit log cannot be written')
  }
}

function failureOf(error: unknown): Result {
  if (error instanceof Problem) return { outcome: 'failed', status: error.status, problemType: error.type }
  return { outcome: 'failed', status: 500, problemType: 'error:InternalServerError' }
}
