/**
 * The audit log: `audit.db` in the data folder, a chain of entries that only the agent's key can make (`chain.ts`).
 *
 * What changes something is on the disk before it is done, as begun, and gets its entry before anybody is answered. So a change without a
 * trace there is not, whenever the daemon is killed; and where nothing can be written, nothing is done.
 */
import PQueue from 'p-queue'
import { steadyNow } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { across } from '../base/probe.ts'
import { isTemporary, Problem } from '../base/problem.ts'
import { StartError } from '../base/start-error.ts'
import { DamagedFileError } from '../storage/file-errors.ts'
import { openAuditDb, type AuditDb, type AuditTx } from '../storage/database.ts'
import type { Paging } from '../storage/list-query.ts'
import { leftBegun, putBegun, takeBegun, type Draft } from './begun.ts'
import { beginning, entryAfter, isGenuine, type Place } from './chain.ts'
import { toRow, type Act, type AuditEntry, type Result } from './entry.ts'
import { list, type Filter } from './list.ts'
import { prune } from './prune.ts'
import { Refusals } from './refusals.ts'
import { verify, type AuditVerification } from './verify.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

export type AuditOptions = {
  /** 32 bytes. */
  key: Uint8Array
  log: Log
  retentionSeconds: number
  /** Refusals of one address that get an entry of their own, a minute. */
  refusalsPerMinute: number
}

/** Writes down that an act begins, with what is known of it by now; what would be done is not, when this fails. @throws {Problem} 503, 507 */
export type Begin = (more?: Partial<Act>) => Promise<void>

export class AuditLog {
  readonly #db: AuditDb
  readonly #options: AuditOptions
  readonly #refusals: Refusals
  readonly #turns = new PQueue({ concurrency: 1 })
  readonly #daily: NodeJS.Timeout
  #minute: NodeJS.Timeout | undefined
  /** The newest entry; not known at first, nor after a failure. */
  #head: Place | undefined
  /** What was done and could not be entered. */
  #late: Draft[] = []
  #readers = 0

  private constructor(db: AuditDb, options: AuditOptions) {
    this.#db = db
    this.#options = options
    this.#refusals = new Refusals(options.refusalsPerMinute)
    this.#daily = setInterval(
      () => void this.#prune().catch((error: unknown) => this.#complain(error)),
      dayMs,
    ).unref()
  }

  /** Opens the log at a path, made if absent, and enters what an earlier daemon had begun and did not end. @throws {NewerFileError} {StartError} when it is damaged */
  static async open(path: string, options: AuditOptions): Promise<AuditLog> {
    const db = await openAuditDb(path).catch((error: unknown) => {
      if (!(error instanceof DamagedFileError)) throw error
      const wayOut =
        'Put a copy of it back, or move it away: then another one is begun, which does not hold what was in it.'
      throw new StartError(`${error.message}. ${wayOut}`, 1, { cause: error })
    })
    const log = new AuditLog(db, options)
    // A start is not for want of room on the disk: nothing that must be written is done without.
    await log.#takeUp().catch((error: unknown) => log.#complain(error))
    return log
  }

  /**
   * Does an act: `work` says when it begins (or never, when it has come to nothing before), and `describe` what more is known of it when it
   * has succeeded. Returns and throws what `work` does.
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
      await this.#write(async (tx) => void (draft.begun = await putBegun(tx, this.#options.key, draft.act)))
    }
    try {
      const done = await work(begin)
      const { status, outcome = 'succeeded', ...more } = describe(done)
      draft.act = { ...draft.act, ...more }
      draft.result = { outcome, ...(status !== undefined && { status }) }
      return done
    } catch (error) {
      draft.result = failure(error)
      throw error
    } finally {
      await this.#enter([draft])
    }
  }

  /** Does what the agent does by itself. */
  byItself<T>(action: string, work: () => Promise<T>): Promise<T> {
    return this.during({ actor: 'agent', action }, async (begin) => {
      await begin()
      return work()
    })
  }

  /** Notes that somebody was refused; where many are, some of them as a count. Never throws: the refusal stands. */
  async refused(act: Act, error: Problem): Promise<void> {
    this.#minute ??= setTimeout(() => void this.countRefusals(), minuteMs).unref()
    if (!this.#refusals.admits(act.address ?? '', Date.now())) return
    await this.#enter([
      { act: { ...act, at: new Date().toISOString() }, result: { ...failure(error), outcome: 'refused' } },
    ])
  }

  /** Ends the minute in which refusals are counted. */
  async countRefusals(): Promise<void> {
    clearTimeout(this.#minute)
    this.#minute = undefined
    const at = new Date().toISOString()
    const tallies = this.#refusals.take().map(({ address, count }): Draft => ({
      act: { at, actor: 'anonymous', action: 'refusals', ...(address !== undefined && { address }) },
      result: { outcome: 'refused', count },
    }))
    if (tallies.length > 0) await this.#enter(tallies)
  }

  /** Entries, newest first. */
  list(filter: Filter, paging: Paging): Promise<AuditEntry[]> {
    return list(this.#db, filter, paging)
  }

  /** Reads the whole chain. With `noted`, the head of an earlier time, it is looked for too. */
  async verify(noted?: Place): Promise<AuditVerification> {
    // What takes entries away waits meanwhile.
    this.#readers++
    try {
      return await verify(this.#db, this.#options.key, { expected: this.#head ?? beginning, noted })
    } finally {
      this.#readers--
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#daily)
    await this.countRefusals()
    if (this.#late.length > 0) await this.#enter([])
    await this.#turns.onIdle()
    await this.#db.destroy()
    this.#options.key.fill(0)
  }

  async #takeUp(): Promise<void> {
    const last = await this.#db
      .selectFrom('entry')
      .selectAll()
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (last && !isGenuine(this.#options.key, last))
      this.#options.log.error('the audit log was altered: `agent audit verify` says where')
    this.#head = last ? { sequence: last.sequence, digest: last.digest } : beginning
    const drafts = await leftBegun(this.#db, this.#options.key)
    if (drafts.length > 0) await this.#append(drafts)
    await this.#prune()
  }

  /** As `#append`; what cannot be written is kept for the next time, since it has happened. */
  async #enter(drafts: Draft[]): Promise<void> {
    try {
      await this.#append(drafts)
    } catch (error) {
      this.#late.push(...drafts.filter(({ begun }) => begun !== undefined))
      this.#complain(error, drafts[0]?.act.requestId)
    }
  }

  async #append(drafts: readonly Draft[]): Promise<void> {
    const late = this.#late
    await this.#write((tx) => this.#put(tx, [...late, ...drafts]))
    this.#late = this.#late.filter((draft) => !late.includes(draft))
  }

  /** Returns the newest entry afterwards. */
  async #put(tx: AuditTx, drafts: readonly Draft[]): Promise<Place> {
    let head = this.#head ?? (await readHead(tx))
    for (const { act, result, begun } of drafts) {
      // Entered already, by an attempt that was told that it had failed.
      if (begun !== undefined && !(await takeBegun(tx, begun))) continue
      const entry = entryAfter(this.#options.key, head, act, result)
      await tx.insertInto('entry').values(toRow(entry)).execute()
      head = { sequence: entry.sequence, digest: entry.digest }
    }
    return head
  }

  async #prune(): Promise<void> {
    // Neither clock alone may make entries old.
    const before = new Date(
      Math.min(Date.now(), steadyNow()) - this.#options.retentionSeconds * 1_000,
    ).toISOString()
    while (this.#readers === 0 && (await this.#pruneSome(before)));
  }

  /** Returns whether there were any. */
  async #pruneSome(before: string): Promise<boolean> {
    let act: Draft['act'] | undefined
    await this.#write(async (tx) => {
      act = await prune(tx, this.#options.key, before)
      return act && this.#put(tx, [{ act, result: { outcome: 'succeeded' } }])
    })
    return act !== undefined
  }

  /** One transaction after the other; `work` returns the newest entry, where it makes one. @throws {Problem} 507 when the disk is full, 503 for anything else */
  #write(work: (tx: AuditTx) => Promise<Place | undefined | void>): Promise<void> {
    return this.#turns.add(async () => {
      try {
        this.#head = (await across('audit', {}, () => this.#db.transaction().execute(work))) ?? this.#head
      } catch (error) {
        this.#head = undefined
        if (isTemporary(error)) throw error
        throw new Problem(
          'error:ServiceUnavailable',
          'The audit log cannot be written, and nothing is changed without it. The log of the agent says why.',
          {
            cause: error,
          },
        )
      }
    })
  }

  #complain(error: unknown, requestId?: string): void {
    this.#options.log.error({ err: error, requestId }, 'the audit log cannot be written')
  }
}

function failure(error: unknown): Result {
  if (error instanceof Problem) return { outcome: 'failed', status: error.status, problemType: error.type }
  return { outcome: 'failed', status: 500, problemType: 'error:InternalServerError' }
}

async function readHead(db: AuditDb): Promise<Place> {
  const row = await db
    .selectFrom('entry')
    .select(['sequence', 'digest'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ?? beginning
}
