/** Identifiers: UUIDv7 (RFC 9562 §5.7), so that sorting by id is sorting by creation. */
import { randomFillSync } from 'node:crypto'
import { v4, v7 } from 'uuid'

/** Random bytes of one id, and how many ids have theirs fetched at a time: to ask for them takes longer than the rest of an id. */
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

/** Returns a new id, greater than every id this process has returned before: within a millisecond they are counted (RFC 9562 §6.2, method 1). */
export function newId(): string {
  const bytes = nextRandom()
  const now = Date.now()
  if (now > msecs) {
    msecs = now
    // Begins somewhere in the lower half, so that it does not come to its end in that millisecond.
    seq = bytes.readUInt32BE(6) >>> 1
  } else if (++seq > 0xffffffff) {
    // The clock has been set back for long.
    msecs++
    seq = 0
  }
  return v7({ random: bytes, msecs, seq })
}

/** The least of all ids that are made at an instant or later. */
export function firstIdOf(instant: Date): string {
  const time = Math.max(instant.getTime(), 0).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** Returns an id that tells nothing about when it was made, for what other parties see of us (thread ids, nonces). */
export function randomId(): string {
  return v4()
}
