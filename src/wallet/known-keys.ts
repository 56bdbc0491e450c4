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

/** How many there are; those that were used last. */
const max = 10_000

/** Whom a key lets in, until when (milliseconds since 1970), and when it was used last as far as that is noted. */
export type KnownKey = { admitted: Admitted; endsAt: number | undefined; lastUsedAt: string | null }

export type KnownKeys = {
  /** Finds a key, by `look` where it is not known; what that finds is known from then on. */
  find(apiKey: string, look: () => Promise<KnownKey | undefined>): Promise<KnownKey | undefined>
  /** For whoever has changed whom keys let in: all are looked up again. What is being looked up now is not kept. */
  forget(): void
}

export function createKnownKeys(): KnownKeys {
  const sightOf = createSight()
  const keys = new LRUCache<string, KnownKey>(atMost(max))
  let changes = 0
  return {
    async find(apiKey, look) {
      const sight = sightOf(apiKey)
      const known = keys.get(sight)
      if (known && (known.endsAt === undefined || !isOver(known.endsAt))) return known
      keys.delete(sight)
      const before = changes
      const found = await look()
      if (found && before === changes) keys.set(sight, found)
      return found
    },
    forget() {
      changes++
      keys.clear()
    },
  }
}
