/** Identifiers: UUIDv7 (RFC 9562 §5.7), whose order is the order of creation. */
import { randomFillSync } from 'node:crypto'
import { v4, v7 } from 'uuid'

/** The random bytes of one id, and the ids for which they are generated at once, which is much faster. */
const idBytes = 16
const fetchedIds = 256

const random = Buffer.alloc(idBytes * fetchedIds)
let used = random.length
let [msecs, seq] = [0, 0]

function nextRandom(): Buffer {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  return random.subarray(used, (used += idBytes))
}

/** Returns an id that is greater than all earlier ids of this process (RFC 9562 §6.2, method 1). */
export function newId(): string {
  const bytes = nextRandom()
  const now = Date.now()
  if (now > msecs) {
    msecs = now
    // Start in the lower half, so that the counter does not overflow within the millisecond.
    seq = bytes.readUInt32BE(6) >>> 1
  } else if (++seq > 0xffffffff) {
    // The clock was set back for a long time.
    msecs++
    seq = 0
  }
  return v7({ random: bytes, msecs, seq })
}

/** The lowest id of a point in time. */
export function firstIdOf(instant: Date): string {
  const time = Math.max(instant.getTime(), 0).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** Returns a random id, without a timestamp, for ids that other parties see (thread ids, nonces). */
export function randomId(): string {
  return v4()
}
