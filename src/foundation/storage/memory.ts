/**
 * What this process has written to a database or read from it, so that it need not be read again. Only for a
 * database with one writer, such as that of a wallet.
 *
 * A transaction sees what its own writes have noted; others see it from the commit on. The notes of a write
 * that fails are dropped with it, and all of it is dropped after a commit with an unknown end. After a crash,
 * the rows decide.
 */
import type { Kysely, Transaction } from 'kysely'
import { LRUCache } from 'lru-cache'
import { isDeepStrictEqual } from 'node:util'
import { noteAtCommit, noteValue, notedValue } from './tx-context.ts'

/** The memory of one kind of rows. */
export interface Part {
  readonly name: string
  forget(): void
  /** The rows that it remembers, beside what the database has. For tests. */
  compare(db: Kysely<any>): Promise<{ remembered: unknown; stored: unknown }>
}

export class Memory {
  readonly #parts = new Map<new () => Part, Part>()
  #isOff = false
  #commits = 0

  /** Changes with each commit, so that a read that overlaps one is not remembered. */
  get commits(): number {
    return this.#commits
  }

  /** The memory of one kind of rows; undefined after `end`. */
  of<P extends Part>(type: new () => P): P | undefined {
    if (this.#isOff) return undefined
    let part = this.#parts.get(type)
    if (!part) this.#parts.set(type, (part = new type()))
    return part as P
  }

  /** Takes over what the writes of a transaction have noted. */
  committed(apply: Iterable<() => void>): void {
    this.#commits++
    for (const each of apply) each()
  }

  forget(): void {
    this.#commits++
    for (const part of this.#parts.values()) part.forget()
  }

  /** Remembers nothing any more, because another process may write. */
  end(): void {
    this.forget()
    this.#isOff = true
  }

  /** @throws {Error} when a part remembers what the database does not have */
  async check(db: Kysely<any>): Promise<void> {
    for (const part of this.#parts.values()) {
      const { remembered, stored } = await part.compare(db)
      const [one, other] = [remembered, stored].map((value) => JSON.stringify(value))
      if (!isDeepStrictEqual(JSON.parse(one!), JSON.parse(other!)))
        throw new Error(`the memory has the ${part.name} ${one}, and the database ${other}`)
    }
  }
}

/** Whether a test has asked for a comparison with the database at the start of each transaction. */
export const isChecked = () => Symbol.for('identity-agent.check-memory') in globalThis

const memories = new WeakMap<Kysely<any>, Memory>()

/** Gives a database, or one of its transactions, a memory. */
export function attachMemory(db: Kysely<any>, memory: Memory): void {
  memories.set(db, memory)
}

/** Undefined if nothing is remembered of the database. */
export function partOf<P extends Part>(db: Kysely<any>, type: new () => P): P | undefined {
  return memories.get(db)?.of(type)
}

/** Notes a change of a part, which the commit makes. */
export function changeAtCommit<P extends Part>(
  tx: Transaction<any>,
  type: new () => P,
  change: (part: P) => void,
): void {
  const part = partOf(tx, type)
  if (part) noteAtCommit(tx, () => change(part))
}

/**
 * Reads what a part remembers in one piece. The result is remembered unless a commit or another transaction
 * may have changed it meanwhile.
 */
export async function readWhole<Result>(
  db: Kysely<any>,
  read: () => Promise<Result>,
  remember: (result: Result) => void,
): Promise<Result> {
  const memory = memories.get(db)
  const commits = memory?.commits
  const result = await read()
  if (!db.isTransaction && memory?.commits === commits) remember(result)
  return result
}

/** Rows that a process remembers, of all wallets together: some 15 MB. */
const maxRows = 10_000

type Entry = { keys: Set<string>; key: string; value: object }

/** The bounded place of remembered rows. */
export type Entries = LRUCache<string, Entry>

export const newEntries = (max: number): Entries =>
  new LRUCache({ max, dispose: ({ keys, key }, _, reason) => reason === 'evict' && keys.delete(key) })

/** The rows of all wallets, because a few wallets are busy, and others are not. */
const entriesOfWallets = newEntries(maxRows)

let parts = 0

export type RememberedRows<Value extends object> = {
  /** The row, if it is remembered. */
  recall(db: Kysely<any>, key: string): Value | undefined
  /** The row, remembered or read. */
  find(db: Kysely<any>, key: string, read?: () => Promise<Value | undefined>): Promise<Value | undefined>
  /** Notes a row that was written, or without a value that it must be read again. */
  note(tx: Transaction<any>, key: string, value?: Value): void
}

/**
 * Single rows by their keys. `read` reads one from the database. The least recently used rows of all that
 * share the `entries` are forgotten first.
 */
export function rememberRows<Value extends object>(
  name: string,
  read: (db: Kysely<any>, key: string) => Promise<Value | undefined>,
  entries = entriesOfWallets,
): RememberedRows<Value> {
  class Rows implements Part {
    readonly name = name
    readonly #keys = new Set<string>()
    readonly #prefix = `${++parts} `

    get(key: string): Value | undefined {
      return entries.get(this.#prefix + key)?.value as Value | undefined
    }

    set(key: string, value: Value | undefined): void {
      if (value) {
        entries.set(this.#prefix + key, { keys: this.#keys, key, value })
        this.#keys.add(key)
      } else {
        entries.delete(this.#prefix + key)
        this.#keys.delete(key)
      }
    }

    forget(): void {
      for (const key of this.#keys) this.set(key, undefined)
    }

    async compare(db: Kysely<any>) {
      const keys = [...this.#keys]
      return {
        remembered: keys.map((key) => entries.peek(this.#prefix + key)?.value),
        stored: await Promise.all(keys.map((key) => read(db, key))),
      }
    }
  }

  const recall = (db: Kysely<any>, key: string) => {
    const part = partOf(db, Rows)
    const noted = part && notedValue(db, part, key)
    return noted ? (noted.value as Value | undefined) : part?.get(key)
  }
  const note = (tx: Transaction<any>, key: string, value?: Value) => {
    const part = partOf(tx, Rows)
    if (part) noteValue(tx, part, key, value, () => part.set(key, value))
  }
  return {
    recall,
    note,
    async find(db, key, readOne = () => read(db, key)) {
      const known = recall(db, key)
      if (known) return known
      const value = await readWhole(db, readOne, (found) => partOf(db, Rows)?.set(key, found))
      if (value && db.isTransaction) note(db as Transaction<any>, key, value)
      return value
    },
  }
}
