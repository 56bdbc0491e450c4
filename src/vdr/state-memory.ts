/** States of a ledger file, kept for as long as nobody writes to it: a look into memory costs a tenth of one into the file. */
import { LRUCache } from 'lru-cache'
import { atMost } from '../base/at-most.ts'
import type { DidState } from '../did/prism/state.ts'

/** What is known of a DID, or where to keep what is found out; that is not kept when the file has changed meanwhile. */
export type Recalled = { state: DidState | undefined } | { keep: (state: DidState | undefined) => void }

export type StateMemory = {
  recall(suffix: string): Recalled
  /** Forgets everything: to be called before and after each write of our own, which `dataVersion` does not tell of. */
  forget(): void
}

/** DIDs that are kept, those that are not there among them. */
const max = 10_000

/** `dataVersion` is another value whenever somebody else has written to the file. */
export function createStateMemory(dataVersion: () => unknown): StateMemory {
  const states = new LRUCache<string, { state: DidState | undefined }>(atMost(max))
  let version = dataVersion()
  let writes = 0

  return {
    recall(suffix) {
      const now = dataVersion()
      if (now !== version) states.clear()
      version = now
      const known = states.get(suffix)
      if (known) return known
      const writesBefore = writes
      return {
        keep(state) {
          if (writes === writesBefore && dataVersion() === now) states.set(suffix, { state })
        },
      }
    },
    forget() {
      writes++
      states.clear()
    },
  }
}
