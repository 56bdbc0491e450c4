/**
 * Group commit: writes to one database that are requested at about the same time share a transaction, each in
 * its own savepoint, and one flush of the disk, which usually takes longer than the writes.
 */
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { isTemporary } from '../problem.ts'
import { plain } from './prepared.ts'

/**
 * A write that `canWait` joins the next urgent write, or is committed soon; the flush of a later urgent write
 * covers it. One that also `isLast` joins no transaction before `waitMs`, and fails only with its whole
 * group: it runs after the others, without a savepoint. A write that `isBounded` is needed for security, and
 * limited otherwise, so that no quota forbids it (`src/wallet/quotas.ts`).
 */
export type WriteOptions = { canWait?: boolean; isLast?: boolean; isBounded?: boolean }

type Request<Tables> = {
  write: (tx: Transaction<Tables>) => Promise<unknown>
  /** Whether the transaction starts now, and whether the write is on the disk before it resolves. */
  isUrgent: boolean
  isDurable: boolean
  resolve: (result: any) => void
  reject: (error: unknown) => void
}

/**
 * Hooks of a group of writes: `begin` is the first and `before` the last part of its transaction; `committed`
 * runs right after the commit; `sync` flushes the commit to the disk when a write of the group is durable;
 * `timed` gets the time of both, and the number of writes; `after` runs after the callers of the group have
 * continued, so that a response is sent before the work that it causes; `failed` runs when the commit
 * failed, which the database may have done nevertheless if it `isUnknown`.
 */
type Hooks<Tables> = {
  begin?: (tx: Transaction<Tables>) => Promise<void> | undefined
  before: (tx: Transaction<Tables>) => Promise<void>
  committed?: (tx: Transaction<Tables>) => void
  sync: () => Promise<void>
  timed?: (group: { seconds: number; writes: number; isCommitted: boolean }) => void
  after: (tx: Transaction<Tables>) => void
  failed?: (commit: { isUnknown: boolean }) => void
}

/**
 * `joinMs`: the longest wait for more writes before a transaction. `groupMs`: how long a transaction accepts
 * more writes. `waitMs`: how long a write that can wait does so.
 */
type Limits = { joinMs: number; groupMs: number; waitMs: number }
const defaultLimits: Limits = { joinMs: 8, groupMs: 5, waitMs: 50 }

/** A shorter tick of the event loop did no other work. */
const idleTickMs = 0.1

const savepoint = plain('savepoint one')
const release = plain('release one')
const rollback = plain('rollback to one')

export class Writer<Tables> {
  readonly #db: Kysely<Tables>
  readonly #hooks: Hooks<Tables>
  readonly #limits: Limits
  readonly #waiting: Request<Tables>[] = []
  readonly #last: Request<Tables>[] = []
  /** When the first of `#last` is due. */
  #lastAt = 0
  #isWriting = false
  #timer: NodeJS.Timeout | undefined

  /** Writes to a database that was opened with `synchronous=NORMAL`. */
  constructor(db: Kysely<Tables>, hooks: Hooks<Tables>, limits = defaultLimits) {
    this.#db = db
    this.#hooks = hooks
    this.#limits = limits
  }

  /**
   * Runs a write after all earlier ones, entirely or not at all. Resolves after the commit.
   *
   * @throws the error of `write` or of the commit
   */
  write<T>(
    write: (tx: Transaction<Tables>) => Promise<T>,
    { canWait = false, isLast = false }: WriteOptions = {},
  ): Promise<T> {
    return this.#request(write, { isUrgent: !canWait, isDurable: !canWait, isLast: canWait && isLast })
  }

  /** Resolves when reads see all earlier writes, also those that can wait. */
  async flush(): Promise<void> {
    if (!this.#isWanted) return
    this.#lastAt = 0
    const request = { isUrgent: true, isDurable: false, isLast: false }
    await this.#request(() => Promise.resolve(), request).catch(() => undefined)
  }

  get #isWanted(): boolean {
    return this.#waiting.length + this.#last.length > 0
  }

  #request<T>(
    write: (tx: Transaction<Tables>) => Promise<T>,
    { isLast, ...options }: Pick<Request<Tables>, 'isUrgent' | 'isDurable'> & { isLast: boolean },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const { isUrgent } = options
      // A timer may fire up to a millisecond early.
      if (isLast && this.#last.length === 0) this.#lastAt = performance.now() + this.#limits.waitMs - 1
      ;(isLast ? this.#last : this.#waiting).push({ write, ...options, resolve, reject })
      if (this.#isWriting) return
      if (isUrgent) void this.#writeAll()
      else this.#writeLater()
    })
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => void this.#writeAll(), this.#limits.waitMs)
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    do {
      await untilIdle(this.#limits.joinMs)
      await this.#writeGroup()
    } while (this.#waiting.some(({ isUrgent }) => isUrgent))
    this.#isWriting = false
    if (this.#isWanted) this.#writeLater()
  }

  async #writeGroup(): Promise<void> {
    const group: Request<Tables>[] = []
    const resolvers: (() => void)[] = []
    let tx: Transaction<Tables>
    let isCommitting = false
    const start = performance.now()
    const timed = (isCommitted: boolean) =>
      this.#hooks.timed?.({ seconds: (performance.now() - start) / 1_000, writes: group.length, isCommitted })
    try {
      tx = await this.#db.transaction().execute(async (tx) => {
        const end = performance.now() + this.#limits.groupMs
        await this.#hooks.begin?.(tx)
        for (let now = end; this.#waiting.length > 0 && now <= end; now = performance.now()) {
          const request = this.#waiting.shift()!
          group.push(request)
          await this.#writeOne(tx, request, resolvers)
        }
        for (const request of this.#takeLast()) {
          group.push(request)
          const result = await request.write(tx)
          resolvers.push(() => request.resolve(result))
        }
        await this.#hooks.before(tx)
        isCommitting = true
        return tx
      })
      this.#hooks.committed?.(tx)
      if (group.some(({ isDurable }) => isDurable)) await this.#hooks.sync()
    } catch (error) {
      // Without a transaction the first request would wait for ever.
      if (group.length === 0) group.push((this.#waiting.shift() ?? this.#last.shift())!)
      for (const { reject } of group) reject(error)
      timed(false)
      if (isCommitting) this.#hooks.failed?.({ isUnknown: isAway(error) })
      this.#refuseWaiting(error)
      return
    }
    timed(true)
    for (const resolve of resolvers) resolve()
    setImmediate(() => this.#hooks.after(tx))
  }

  #takeLast(): Request<Tables>[] {
    return performance.now() < this.#lastAt ? [] : this.#last.splice(0)
  }

  /** Runs one write of a group. @throws when the whole transaction is lost */
  async #writeOne(
    tx: Transaction<Tables>,
    { write, resolve, reject }: Request<Tables>,
    resolvers: (() => void)[],
  ): Promise<void> {
    // If the first write fails, the transaction ends, and the others begin a new one.
    const isFirst = resolvers.length === 0
    if (!isFirst) await savepoint(tx)
    let result: unknown
    try {
      result = await write(tx)
    } catch (error) {
      if (isFirst) throw error
      await rollback(tx)
      await release(tx)
      reject(error)
      return this.#refuseWaiting(error)
    }
    if (!isFirst) await release(tx)
    resolvers.push(() => resolve(result))
  }

  /** While the database is away, each write would wait for it in its turn, and the last one for minutes. */
  #refuseWaiting(error: unknown): void {
    if (!isAway(error)) return
    for (const { reject } of [...this.#waiting.splice(0), ...this.#last.splice(0)]) reject(error)
  }
}

function isAway(error: unknown): boolean {
  return isTemporary(error) && error.status === 503
}

/**
 * Waits for the end of the tick, and then until the event loop has no other work, which may lead to more
 * writes. A lone write is hardly delayed; at 16 concurrent flows, the larger groups save an eighth of the CPU
 * time.
 */
async function untilIdle(limitMs: number): Promise<void> {
  await nextTick()
  const start = performance.now()
  for (let before = start; before - start < limitMs;) {
    await nextTick()
    const now = performance.now()
    if (now - before < idleTickMs) return
    before = now
  }
}
