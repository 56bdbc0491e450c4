/** Bits that have changed in wallet files: never a wrong answer. `npm run test:security -- --flips 500` does it more often. */
import { expect, test } from 'vitest'
import { flipBits } from './_flips.ts'

test('of sixty wallet files with one bit changed, none gives a wrong answer, and nobody else is touched', async () => {
  const { wrong, starts, named, counts } = await flipBits({ flips: 60, seed: 20_261_122 })
  expect(wrong).toEqual([])
  expect({ starts, named }).toEqual({ starts: 3, named: expect.toSatisfy((number: number) => number > 0) })
  // Every bit of what is at rest counts, but for pages that the log has anew, and for what can be made again. In an open log, pages are hit that no newer one has replaced.
  expect(counts).toMatchObject({
    'closed .db': { same: 0 },
    'closed .db.sum': { refused: 0 },
    'crashed .db-wal': { same: 0 },
    'crashed .db-shm': { refused: 0 },
    'open .db': { refused: expect.any(Number) },
    'open .db-wal': { same: 0 },
  })
  expect(counts['crashed .db']!.refused).toBeGreaterThan(0)
}, 120_000)
