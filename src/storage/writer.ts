/**
 * Writes to one database in groups: what is asked for at about the same time goes into one transaction, each write in a savepoint of its own, and is
 * on disk together. The disk is waited for once for all of them, which otherwise takes longer than the writing.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { plain } from './prepared.ts'

/** `full`: on disk when it is done. `normal`: it outlives the process, and is on disk with the next write that is `full`. */
export type WriteOptions = { synchronous?: 'full' | 'normal' }

type Unit<Tables> = {
  write: (tx: Transaction<Tables>) => Promise<unknown>
  synchronous: 'full' | 'normal'
  resolve: (result: any) => void
  reject: (error: unknown) => void
}

/**
 * What happens to every group: `before` belongs to its transaction; `mark` is asked before each of several writes, and what it returns is called when
 * that one is taken back; `sync` has all that was committed on the disk, and is asked when somebody waits for
 * that; `after` comes in the end.
 */
type Around<Tables> = {
  before: (tx: Transaction<Tables>) => Promise<void>
  mark: (tx: Transaction<Tables>) => () => void
  sync: () => Promise<void>
  after: (tx: Transaction<Tables>) => void
}

/** How long a group takes in more writes: nobody else gets a turn meanwhile. */
const usualGroupMs = 5

const savepoint = plain('savepoint one')
const release = plain('release one')
const rollback = plain('rollback to one')
const leaveDiskToUs = plain('pragma synchronous = normal')

export class Writer<Tables> {
  readonly #db: Kysely<Tables>
  readonly #around: Around<Tables>
  readonly #groupMs: number
  readonly #waiting: Unit<Tables>[] = []
  #isWriting = false
  #isOurs = false

  /** Writes to a database whose commits SQLite has on the disk so far, which is left to `around` from the first write on. After `groupMs` milliseconds a group takes nothing more in. */
  constructor(db: Kysely<Tables>, around: Around<Tables>, groupMs = usualGroupMs) {
    this.#db = db
    this.#groupMs = groupMs
    this.#around = around
  }

  /** Writes, after what was asked for before: all of it or nothing. Resolves when it is committed. @throws what `write` throws, or the commit. */
  write<T>(write: (tx: Transaction<Tables>) => Promise<T>, { synchronous = 'full' }: WriteOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, synchronous, resolve, reject })
      if (!this.#isWriting) void this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Whoever has something to write in this turn of the event loop is waited for.
    for (await turn(); this.#waiting.length > 0; await turn()) await this.#writeGroup()
    this.#isWriting = false
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
        for (const end = performance.now() + this.#groupMs; unit; unit = performance.now() < end ? this.#waiting.shift() : undefined) {
          if (unit !== group[0]) group.push(unit)
          await this.#writeOne(tx, unit, settled)
        }
        await this.#around.before(tx)
        return tx
      })
      if (group.some(({ synchronous }) => synchronous === 'full')) await this.#around.sync()
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    this.#around.after(tx)
    for (const settle of settled) settle()
  }

  /** Writes one of a group. @throws when the whole transaction is lost by it. */
  async #writeOne(tx: Transaction<Tables>, { write, resolve, reject }: Unit<Tables>, settled: (() => void)[]): Promise<void> {
    const isAlone = settled.length === 0 && this.#waiting.length === 0
    if (!isAlone) await savepoint(tx)
    const forget = this.#around.mark(tx)
    let result: unknown
    try {
      result = await write(tx)
    } catch (error) {
      if (isAlone) throw error
      forget()
      await rollback(tx)
      await release(tx)
      return reject(error)
    }
    if (!isAlone) await release(tx)
    settled.push(() => resolve(result))
  }
}
