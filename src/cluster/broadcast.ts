/**
 * Tells the processes of an agent that shared rows have changed, of which they keep copies in memory. For
 * rare changes only.
 *
 * Over PostgreSQL there is one row with a version for each kind of cache, and a notification of each change.
 * The versions are read after each interruption of the notifications, and every half second behind a pooler
 * that delivers none.
 */
import { sql } from 'kysely'
import type { NodeDb } from './lease-table.ts'

/** What is kept in memory. */
export type CacheKind = 'api-keys'

export type Broadcast = {
  /** Call it after the commit. Resolves when the other processes are being told. */
  publish: (kind: CacheKind) => Promise<void>
  /** Calls `listener` when another process has published. */
  subscribe: (kind: CacheKind, listener: () => void) => void
}

/** Of an agent of one process. */
export const noBroadcast: Broadcast = {
  publish: () => Promise.resolve(),
  subscribe: () => undefined,
}

/** The channel of changed caches (`NOTIFY`). */
export const cachesChannel = 'agent_caches'

const pollMs = 500

class CacheListeners {
  readonly #all = new Map<string, (() => void)[]>()

  subscribe: Broadcast['subscribe'] = (kind, listener) => {
    this.#all.set(kind, [...(this.#all.get(kind) ?? []), listener])
  }

  notify = (kind: string): void => {
    for (const listener of this.#all.get(kind) ?? []) listener()
  }
}

export class CacheVersions implements Broadcast {
  readonly #db: NodeDb
  readonly #listeners = new CacheListeners()
  #versions = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: NodeDb) {
    this.#db = db
  }

  publish: Broadcast['publish'] = (kind) =>
    this.#db.transaction().execute(async (tx) => {
      await tx
        .insertInto('cache_version')
        .values({ kind, version: 1 })
        .onConflict((conflict) =>
          conflict.column('kind').doUpdateSet({ version: sql`cache_version.version + 1` }),
        )
        .execute()
      await sql`select pg_notify(${cachesChannel}, ${kind})`.execute(tx)
    })

  subscribe = this.#listeners.subscribe

  /** Another node, or this one, has published. */
  notify = this.#listeners.notify

  /**
   * Reads the versions, and notifies of those that have changed. A failure is ignored: the next call sees the
   * change too.
   */
  async check(): Promise<void> {
    const rows = await this.#db
      .selectFrom('cache_version')
      .selectAll()
      .execute()
      .catch(() => undefined)
    if (!rows) return
    const before = this.#versions
    this.#versions = new Map(rows.map(({ kind, version }) => [kind, version]))
    for (const { kind, version } of rows) if (before.get(kind) !== version) this.notify(kind)
  }

  /** Reads the versions at an interval while no notifications arrive. */
  setDelivery(arrives: boolean): void {
    clearInterval(this.#timer)
    if (!arrives) this.#timer = setInterval(() => void this.check(), pollMs)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
