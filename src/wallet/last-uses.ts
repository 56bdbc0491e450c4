/** When keys were used last: noted by the request, written after it, at most once a minute for each. */
import type { AgentDb } from '../storage/database.ts'

/** How fine the times are that are kept. */
const resolutionMs = 60_000

/** How long a use waits for others to be written with. */
const delayMs = 1_000

export class LastUses {
  readonly #db: AgentDb
  /** By the key's id, what is not written yet. */
  #noted = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(db: AgentDb) {
    this.#db = db
  }

  /** Notes that a key is used now; `last` is what is written of it. */
  note(id: string, last: string | null): void {
    const now = Date.now()
    if (this.#noted.has(id) || (last !== null && Math.abs(now - Date.parse(last)) < resolutionMs)) return
    this.#noted.set(id, new Date(now).toISOString())
    this.#timer ??= setTimeout(() => void this.write().catch(() => undefined), delayMs).unref()
  }

  /** Writes what was noted. Where it cannot be written, it is noted again by the next use. */
  write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const uses = this.#noted
    this.#noted = new Map()
    if (uses.size > 0)
      this.#writing = this.#writing
        .catch(() => undefined)
        .then(() =>
          this.#db.transaction().execute(async (tx) => {
            for (const [id, last_used_at] of uses) await tx.updateTable('api_key').set({ last_used_at }).where('id', '=', id).execute()
          }),
        )
    return this.#writing
  }

  /** Writes for the last time. */
  close(): Promise<void> {
    return this.write()
  }
}
