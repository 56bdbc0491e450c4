/**
 * The keys that have let somebody in lately: not every request has to ask the database.
 *
 * None is among them that lets nobody in. So what is asked for a key that was revoked is what is asked for one that never was, and takes as long.
 */
import { LRUCache } from 'lru-cache'
import { atMost } from '../base/at-most.ts'
import { isOver } from '../base/clock.ts'
import { createSight } from '../base/sight.ts'
import type { Admitted } from './api-keys.ts'
import type { AgentDb } from '../storage/database.ts'

/** How many there are; those that were used last. */
const max = 10_000

/** Whom a key lets in, until when (milliseconds since 1970), and when it was used last as far as that is noted. */
export type KnownKey = { admitted: Admitted; endsAt: number | undefined; lastUsedAt: string | null }

export type KnownKeys = {
  /** The key's digest, by which this process knows it. */
  fingerprint(apiKey: string): string
  /** A key in the cache, unless it has expired. */
  peek(fingerprint: string): KnownKey | undefined
  /** Finds a key in the cache, or by `look`, whose result is cached. */
  find(fingerprint: string, look: () => Promise<KnownKey | undefined>): Promise<KnownKey | undefined>
  /** For whoever has changed whom keys let in: all are looked up again. What is being looked up now is not kept. */
  forget(): void
}

export function createKnownKeys(): KnownKeys {
  const keys = new LRUCache<string, KnownKey>(atMost(max))
  let changes = 0
  const peek = (fingerprint: string) => {
    const known = keys.get(fingerprint)
    return known && (known.endsAt === undefined || !isOver(known.endsAt)) ? known : undefined
  }
  return {
    fingerprint: createSight(),
    peek,
    async find(fingerprint, look) {
      const known = peek(fingerprint)
      if (known) return known
      keys.delete(fingerprint)
      const before = changes
      const found = await look()
      if (found && before === changes) keys.set(fingerprint, found)
      return found
    },
    forget() {
      changes++
      keys.clear()
    },
  }
}

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
