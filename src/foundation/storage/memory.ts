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
    for (const [type, part] of this.#parts) {
      const { remembered, stored } = await part.compare(db)
      const [one, other] = [remembered, stored].map((value) => JSON.stringify(value))
      if (!isDeepStrictEqual(JSON.parse(one!), JSON.parse(other!)))
        throw new Error(`${type.name} remembers ${one}, and the database has ${other}`)
    }
  }
}

/** Whether a test has asked for a comparison with the database at the begin of each transaction. */
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

type Entry = { owner: RowsByKey<object>; key: string; value: object }

/** The rows of all databases, because a few wallets are busy, and others are not. */
const rows = new LRUCache<string, Entry>({
  max: maxRows,
  dispose: ({ owner, key }, _, reason) => reason === 'evict' && owner.dropped(key),
})

let owners = 0

/** Single rows by their keys. The least recently used rows of all databases are forgotten first. */
export abstract class RowsByKey<Value extends object> implements Part {
  readonly #owner = `${++owners} `
  readonly #keys = new Set<string>()

  /** The rows with these keys, as the database has them. */
  protected abstract read(db: Kysely<any>, keys: readonly string[]): Promise<ReadonlyMap<string, Value>>

  recall(db: Kysely<any>, key: string): Value | undefined {
    const noted = notedValue(db, this, key)
    return (noted ? noted.value : rows.get(this.#owner + key)?.value) as Value | undefined
  }

  /** Notes a row that was written, or without a value that it must be read again. */
  note(tx: Transaction<any>, key: string, value: Value | undefined): void {
    noteValue(tx, this, key, value, () => this.#set(key, value))
  }

  /** Notes a row that was read. */
  async recallOrRead(
    db: Kysely<any>,
    key: string,
    read: () => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    const known = this.recall(db, key)
    if (known) return known
    const value = await readWhole(db, read, (found) => this.#set(key, found))
    if (value && db.isTransaction) this.note(db as Transaction<any>, key, value)
    return value
  }

  #set(key: string, value: Value | undefined): void {
    if (value) {
      rows.set(this.#owner + key, { owner: this, key, value })
      this.#keys.add(key)
    } else {
      rows.delete(this.#owner + key)
      this.#keys.delete(key)
    }
  }

  /** Another row has taken the place of this one. */
  dropped(key: string): void {
    this.#keys.delete(key)
  }

  forget(): void {
    for (const key of this.#keys) rows.delete(this.#owner + key)
    this.#keys.clear()
  }

  async compare(db: Kysely<any>) {
    const keys = [...this.#keys].toSorted()
    const stored = await this.read(db, keys)
    return {
      remembered: keys.map((key) => [key, rows.peek(this.#owner + key)?.value]),
      stored: keys.map((key) => [key, stored.get(key)]),
    }
  }
}
