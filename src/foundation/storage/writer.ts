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
 * covers it. A write that `isBounded` is needed for security, and limited otherwise, so that no quota forbids
 * it (`src/wallet/quotas.ts`).
 */
export type WriteOptions = { canWait?: boolean; isBounded?: boolean }

type Request<Tables> = {
  write: (tx: Transaction<Tables>) => Promise<unknown>
  /** Whether the transaction starts now, and whether the write is on the disk before it resolves. */
  isUrgent: boolean
  isDurable: boolean
  resolve: (result: any) => void
  reject: (error: unknown) => void
}

/**
 * Hooks of a group of writes: `before` is the last part of its transaction; `sync` flushes the commit to the
 * disk when a write of the group is durable; `timed` gets the time of both, and the number of writes; `after`
 * runs after the callers of the group have continued, so that a response is sent before the work that it
 * causes; `unknown` runs when the commit failed because the database was away, which may have committed it.
 */
type Hooks<Tables> = {
  before: (tx: Transaction<Tables>) => Promise<void>
  sync: () => Promise<void>
  timed?: (group: { seconds: number; writes: number; isCommitted: boolean }) => void
  after: (tx: Transaction<Tables>) => void
  unknown?: () => void
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
    { canWait = false }: WriteOptions = {},
  ): Promise<T> {
    return this.#request(write, { isUrgent: !canWait, isDurable: !canWait })
  }

  /** Resolves when reads see all earlier writes, also those that can wait. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    await this.#request(() => Promise.resolve(), { isUrgent: true, isDurable: false }).catch(() => undefined)
  }

  #request<T>(
    write: (tx: Transaction<Tables>) => Promise<T>,
    { isUrgent, isDurable }: Pick<Request<Tables>, 'isUrgent' | 'isDurable'>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, isUrgent, isDurable, resolve, reject })
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
    if (this.#waiting.length > 0) this.#writeLater()
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
        do {
          const request = this.#waiting.shift()!
          group.push(request)
          await this.#writeOne(tx, request, resolvers)
        } while (this.#waiting.length > 0 && performance.now() < end)
        await this.#hooks.before(tx)
        isCommitting = true
        return tx
      })
      if (group.some(({ isDurable }) => isDurable)) await this.#hooks.sync()
    } catch (error) {
      // Without a transaction the first request would wait for ever.
      if (group.length === 0) group.push(this.#waiting.shift()!)
      for (const { reject } of group) reject(error)
      timed(false)
      if (isCommitting && isAway(error)) this.#hooks.unknown?.()
      this.#refuseWaiting(error)
      return
    }
    timed(true)
    for (const resolve of resolvers) resolve()
    setImmediate(() => this.#hooks.after(tx))
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
    if (isAway(error)) for (const { reject } of this.#waiting.splice(0)) reject(error)
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
