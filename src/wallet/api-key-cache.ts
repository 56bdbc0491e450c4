/** In-memory state of API keys: a cache of active keys, and the times of their last uses. */
import { LRUCache } from 'lru-cache'
import { isOver } from '../foundation/clock.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import type { ApiKeyGrant } from './api-keys.ts'

const maxCachedKeys = 10_000

/** An active key. `endsAt` is in milliseconds since 1970. */
export type ActiveKey = { grant: ApiKeyGrant; endsAt: number | undefined; lastUsedAt: string | null }

/**
 * The active keys that were used last, by their digests. Unknown and revoked keys are not cached, so that
 * both take the same time.
 */
export type ApiKeyCache = {
  /** A cached key, unless it has expired. */
  peek(digest: string): ActiveKey | undefined
  /** The active key with a digest. Calls `load` if it is not cached. */
  find(digest: string, load: () => Promise<ActiveKey | undefined>): Promise<ActiveKey | undefined>
  /** Call it after keys or entities have changed. The result of a `load` under way is not cached. */
  clear(): void
}

export function createApiKeyCache(): ApiKeyCache {
  const keys = new LRUCache<string, ActiveKey>({ max: maxCachedKeys })
  let generation = 0
  const peek = (digest: string) => {
    const cached = keys.get(digest)
    return cached && (cached.endsAt === undefined || !isOver(cached.endsAt)) ? cached : undefined
  }
  return {
    peek,
    async find(digest, load) {
      const cached = peek(digest)
      if (cached) return cached
      keys.delete(digest)
      const before = generation
      const loaded = await load()
      if (loaded && before === generation) keys.set(digest, loaded)
      return loaded
    },
    clear() {
      generation++
      keys.clear()
    },
  }
}

/** The resolution of `lastUsedAt`. */
const resolutionMs = 60_000
/** How long a use waits, so that several are written together. */
const delayMs = 1_000

/** Writes when keys were used last: after the request, at most once a minute for each key. */
export class LastUses {
  readonly #db: AgentDb
  /** Times that are not written yet, by key id. */
  #pending = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(db: AgentDb) {
    this.#db = db
  }

  /** Notes a use of a key; `last` is its known last use. Returns its last use now. */
  note(id: string, last: string | null): string | null {
    const now = Date.now()
    const pending = this.#pending.get(id)
    if (pending !== undefined) return pending
    if (last !== null && Math.abs(now - Date.parse(last)) < resolutionMs) return last
    const used = new Date(now).toISOString()
    this.#pending.set(id, used)
    this.#timer ??= setTimeout(() => void this.flush(), delayMs).unref()
    return used
  }

  /**
   * Writes the pending times. A failure is ignored: it must not fail a request, and the next use is written
   * again.
   */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const uses = this.#pending
    this.#pending = new Map()
    if (uses.size > 0) this.#writing = this.#writing.then(() => this.#write(uses)).catch(() => undefined)
    return this.#writing
  }

  #write(uses: ReadonlyMap<string, string>): Promise<void> {
    return this.#db.transaction().execute(async (tx) => {
      for (const [id, last_used_at] of uses)
        await tx
          .updateTable('api_key')
          .set({ last_used_at })
          .where('id', '=', id)
          // Another process may have written a later one.
          .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', last_used_at)]))
          .execute()
    })
  }
}
