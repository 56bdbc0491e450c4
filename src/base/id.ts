/** Identifiers: UUIDv7 (RFC 9562 §5.7), so that sorting by id is sorting by creation. */
import { v4, v7 } from 'uuid'

/** Returns a new id, greater than every id this process has returned before. */
export function newId(): string {
  return v7()
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
