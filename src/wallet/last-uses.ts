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

  /** Notes that a key is used now; `last` is what is written of it, or noted. Gives back what is now. */
  note(id: string, last: string | null): string | null {
    const now = Date.now()
    const noted = this.#noted.get(id)
    if (noted !== undefined) return noted
    if (last !== null && Math.abs(now - Date.parse(last)) < resolutionMs) return last
    const used = new Date(now).toISOString()
    this.#noted.set(id, used)
    this.#timer ??= setTimeout(() => void this.write(), delayMs).unref()
    return used
  }

  /** Writes what was noted. What cannot be written is let go: nothing else is to fail for it, and the key will be used again. */
  write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const uses = this.#noted
    this.#noted = new Map()
    if (uses.size > 0) this.#writing = this.#writing.then(() => this.#put(uses)).catch(() => undefined)
    return this.#writing
  }

  /** Writes for the last time. */
  close(): Promise<void> {
    return this.write()
  }

  #put(uses: ReadonlyMap<string, string>): Promise<void> {
    return this.#db.transaction().execute(async (tx) => {
      for (const [id, last_used_at] of uses)
        await tx.updateTable('api_key').set({ last_used_at }).where('id', '=', id).execute()
    })
  }
}
