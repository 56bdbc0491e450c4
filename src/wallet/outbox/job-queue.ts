/** The jobs of a wallet in memory, from the commit that adds them to the one that deletes them. */
import type { Selectable } from 'kysely'
import type { Db } from '../../foundation/storage/database.ts'
import { partOf, readWhole, type Part } from '../../foundation/storage/memory.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import type { JobBody } from './job.ts'

/** A row; `parsed` is its body, if this process has written it. */
export type JobRow = Selectable<WalletTables['job']> & { parsed?: JobBody }

/**
 * Most wallets have fewer jobs. One simple query then reads all of them, in a fifth of the time of the query
 * for the first job of each queue, and this process remembers them.
 */
const fewJobs = 32

/** More jobs are not remembered. */
const maxJobs = 250

/** All jobs of a wallet in their order; undefined until they are read. */
export class JobQueue implements Part {
  readonly name = 'jobs'
  rows: readonly JobRow[] | undefined

  /** Adds a job, which a read beside its commit may have found. */
  add(row: JobRow): void {
    this.#change((rows) => [...rows.filter(({ id }) => id !== row.id), row])
  }

  removeWhere(isOver: (row: JobRow) => boolean): void {
    this.#change((rows) => rows.filter((row) => !isOver(row)))
  }

  update(id: string, change: Partial<JobRow>): void {
    this.#change((rows) => rows.map((row) => (row.id === id ? { ...row, ...change } : row)))
  }

  #change(change: (rows: readonly JobRow[]) => readonly JobRow[]): void {
    if (!this.rows) return
    const rows = change(this.rows)
    this.rows = rows.length > maxJobs ? undefined : rows
  }

  forget(): void {
    this.rows = undefined
  }

  async compare(db: Db) {
    const stored = this.rows && (await db.selectFrom('job').selectAll().orderBy('sequence').execute())
    const withBody = ({ parsed, ...row }: JobRow) => [row, parsed ?? JSON.parse(row.body)]
    return { remembered: this.rows?.map(withBody) ?? null, stored: stored?.map(withBody) ?? null }
  }
}

const firstRows = prepared((db: Db) =>
  db
    .selectFrom('job')
    .selectAll()
    .orderBy('sequence')
    .limit(fewJobs + 1),
)

/** The first jobs in their order, and whether these are all jobs. */
export async function firstJobs(db: Db): Promise<{ rows: readonly JobRow[]; isComplete: boolean }> {
  // A transaction may have written what is not remembered yet.
  const queue = db.isTransaction ? undefined : partOf(db, JobQueue)
  if (queue?.rows) return { rows: queue.rows, isComplete: true }
  const read = async () => (await firstRows(db, {})).rows
  const remember = (some: readonly JobRow[]) => {
    if (queue && some.length <= fewJobs) queue.rows = some
  }
  const rows = await readWhole(db, read, remember)
  return { rows, isComplete: rows.length <= fewJobs }
}
