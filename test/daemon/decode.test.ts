import { expect, test } from 'vitest'
import { readWait } from '../../daemon/http/decode.ts'

test.each([
  [undefined, 25_000],
  ['', 25_000],
  ['return=minimal', 25_000],
  ['respond-async', 0],
  ['Respond-Async; a=b', 0],
  ['wait=5', 5_000],
  ['respond-async, wait=10', 10_000],
  ['wait = "3"', 3_000],
  ['wait=100', 25_000],
  ['wait=soon', 25_000],
])('with Prefer: %s, an answer may take %i ms (RFC 7240)', (prefer, wait) => {
  expect(readWait(prefer, 25_000)).toBe(wait)
})
