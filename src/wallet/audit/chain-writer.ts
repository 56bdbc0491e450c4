/**
 * Writes the chain of the audit log, one transaction after the other. Other processes may add entries in
 * between: a transaction, which begins with the lock of the database, continues from the newest entry.
 */
import PQueue from 'p-queue'
import { across } from '../../foundation/probe.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import type { AuditDb, AuditTx } from '../../foundation/storage/database.ts'
import { deleteBegun, insertBegun, type Draft } from './begun.ts'
import { emptyHead, entryAfter, isGenuine, prune, type ChainHead } from './chain.ts'
import { toRow, type Act } from './entry.ts'

/** A write throws a `Problem`: 507 when the disk is full, otherwise 503. */
export class ChainWriter {
  readonly #db: AuditDb
  readonly #key: Uint8Array
  readonly #process: string
  readonly #writes = new PQueue({ concurrency: 1 })
  /** Undefined before `readHead`, and after a failed write. */
  #head: ChainHead | undefined

  /** `process` is the name of this process. */
  constructor(db: AuditDb, key: Uint8Array, process: string) {
    this.#db = db
    this.#key = key
    this.#process = process
  }

  /** The newest entry that this process has read or committed. */
  get head(): ChainHead {
    return this.#head ?? emptyHead
  }

  /** Reads the head from the newest entry. Returns false if that entry was altered. */
  async readHead(): Promise<boolean> {
    const newest = await findNewest(this.#db)
    this.#head = headOf(newest)
    return !newest || isGenuine(this.#key, newest)
  }

  async begin(act: Act): Promise<string> {
    let id = ''
    await this.#write(async (tx) => {
      id = await insertBegun(tx, this.#key, this.#process, act)
    })
    return id
  }

  /** Adds entries, and removes the rows of their acts from `begun`. */
  async append(drafts: readonly Draft[]): Promise<void> {
    await this.#write((tx) => this.#insert(tx, drafts))
  }

  /** Removes some of the entries from before an instant. Returns false if there are none. */
  async prune(before: string): Promise<boolean> {
    const head = await this.#write(async (tx) => {
      const act = await prune(tx, this.#key, before)
      return act && this.#insert(tx, [{ act, result: { outcome: 'succeeded' } }])
    })
    return head !== undefined
  }

  /** Waits for the transactions under way. */
  flush(): Promise<void> {
    return this.#writes.onIdle()
  }

  async #insert(tx: AuditTx, drafts: readonly Draft[]): Promise<ChainHead> {
    const newest = headOf(await findNewest(tx))
    // If the newest entries were removed, the entry after them shows it.
    let head = this.#head && this.#head.sequence >= newest.sequence ? this.#head : newest
    for (const { act, result, begun } of drafts) {
      // An earlier attempt has added the entry, although it was reported as failed.
      if (begun !== undefined && !(await deleteBegun(tx, begun))) continue
      const entry = entryAfter(this.#key, head, act, result)
      await tx.insertInto('entry').values(toRow(entry)).execute()
      head = headOf(entry)
    }
    return head
  }

  /** `work` returns the new head if it adds entries. */
  #write(work: (tx: AuditTx) => Promise<ChainHead | void>): Promise<ChainHead | void> {
    return this.#writes.add(async () => {
      try {
        const head = await across('audit', {}, () => this.#db.transaction().execute(work))
        if (head) this.#head = head
        return head
      } catch (error) {
        this.#head = undefined
        if (isTemporary(error)) throw error
        throw new Problem(
          'error:ServiceUnavailable',
          'The audit log cannot be written, and nothing is changed without it. The log of the agent has the reason.',
          { cause: error },
        )
      }
    })
  }
}

function findNewest(db: AuditDb) {
  return db.selectFrom('entry').selectAll().orderBy('sequence', 'desc').limit(1).executeTakeFirst()
}

function headOf({ sequence, digest }: ChainHead = emptyHead): ChainHead {
  return { sequence, digest }
}
