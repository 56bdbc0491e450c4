/**
 * Writes to one database in groups: what is asked for at about the same time goes into one transaction, each write in a savepoint of its own, and is
 * on disk together. The disk is waited for once for all of them, which otherwise takes longer than the writing.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { plain } from './prepared.ts'

/** What `canWait` is written with the next write that cannot, or soon by itself; then it outlives the process, and is on disk with the next one that cannot wait. */
export type WriteOptions = { canWait?: boolean }

type Unit<Tables> = {
  write: (tx: Transaction<Tables>) => Promise<unknown>
  /** Whether it is written now, and whether it is on disk before it is done. */
  isPressing: boolean
  isLasting: boolean
  resolve: (result: any) => void
  reject: (error: unknown) => void
}

/**
 * Hooks of a group of writes: `before` is the last part of its transaction; `sync` flushes the commit to the disk and runs when a write of the group
 * must outlive the machine; `after` runs once the callers of the group have gone on, so that a reply leaves before the work that it causes begins.
 */
type Around<Tables> = {
  before: (tx: Transaction<Tables>) => Promise<void>
  sync: () => Promise<void>
  after: (tx: Transaction<Tables>) => void
}

/**
 * Milliseconds: how long a group takes in more writes, while nobody else gets a turn; how long others are waited for at most before it is begun; and how
 * long what can wait does so.
 */
type Limits = { groupMs: number; companyMs: number; waitMs: number }
const usual: Limits = { groupMs: 5, companyMs: 8, waitMs: 50 }

/** How short a turn of the event loop is in which nothing else was done. */
const idleTurnMs = 0.1

const savepoint = plain('savepoint one')
const release = plain('release one')
const rollback = plain('rollback to one')
const leaveDiskToUs = plain('pragma synchronous = normal')

export class Writer<Tables> {
  readonly #db: Kysely<Tables>
  readonly #around: Around<Tables>
  readonly #limits: Limits
  readonly #waiting: Unit<Tables>[] = []
  #isWriting = false
  #timer: NodeJS.Timeout | undefined
  #isOurs = false

  /** Writes to a database whose commits SQLite has on the disk so far, which is left to `around` from the first write on. */
  constructor(db: Kysely<Tables>, around: Around<Tables>, limits = usual) {
    this.#db = db
    this.#limits = limits
    this.#around = around
  }

  /** Writes, after what was asked for before: all of it or nothing. Resolves when it is committed. @throws what `write` throws, or the commit. */
  write<T>(
    write: (tx: Transaction<Tables>) => Promise<T>,
    { canWait = false }: WriteOptions = {},
  ): Promise<T> {
    return this.#ask(write, { isPressing: !canWait, isLasting: !canWait })
  }

  /** Resolves when whoever reads finds all that was asked for before: nothing of it waits any more. */
  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    await this.#ask(() => Promise.resolve(), { isPressing: true, isLasting: false }).catch(() => undefined)
  }

  #ask<T>(
    write: (tx: Transaction<Tables>) => Promise<T>,
    { isPressing, isLasting }: Pick<Unit<Tables>, 'isPressing' | 'isLasting'>,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, isPressing, isLasting, resolve, reject })
      if (this.#isWriting) return
      if (isPressing) void this.#writeAll()
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
      await company(this.#limits)
      await this.#writeGroup()
      await turn()
    } while (this.#waiting.some(({ isPressing }) => isPressing))
    this.#isWriting = false
    if (this.#waiting.length > 0) this.#writeLater()
  }

  async #writeGroup(): Promise<void> {
    let unit = this.#waiting.shift()
    const group = unit ? [unit] : []
    const settled: (() => void)[] = []
    let tx: Transaction<Tables>
    try {
      if (!this.#isOurs) await leaveDiskToUs(this.#db)
      this.#isOurs = true
      tx = await this.#db.transaction().execute(async (tx) => {
        for (
          const end = performance.now() + this.#limits.groupMs;
          unit;
          unit = performance.now() < end ? this.#waiting.shift() : undefined
        ) {
          if (unit !== group[0]) group.push(unit)
          await this.#writeOne(tx, unit, settled)
        }
        await this.#around.before(tx)
        return tx
      })
      if (group.some(({ isLasting }) => isLasting)) await this.#around.sync()
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    for (const settle of settled) settle()
    setImmediate(() => this.#around.after(tx))
  }

  /** Writes one of a group. @throws when the whole transaction is lost by it. */
  async #writeOne(
    tx: Transaction<Tables>,
    { write, resolve, reject }: Unit<Tables>,
    settled: (() => void)[],
  ): Promise<void> {
    const isAlone = settled.length === 0 && this.#waiting.length === 0
    if (!isAlone) await savepoint(tx)
    let result: unknown
    try {
      result = await write(tx)
    } catch (error) {
      if (isAlone) throw error
      await rollback(tx)
      await release(tx)
      return reject(error)
    }
    if (!isAlone) await release(tx)
    settled.push(() => resolve(result))
  }
}

/**
 * Waits for whoever has something to write in this turn of the event loop; and as long as it has other work, which may lead to more to write. Who is
 * alone is not kept waiting.
 */
async function company({ companyMs }: Limits): Promise<void> {
  await turn()
  const start = performance.now()
  for (let before = start; before - start < companyMs;) {
    await turn()
    const now = performance.now()
    if (now - before < idleTurnMs) return
    before = now
  }
}
