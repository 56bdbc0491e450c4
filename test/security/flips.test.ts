/** Wallet files with a changed bit. `npm run test:security -- --flips 500` changes more of them. */
import { expect, test } from 'vitest'
import { flipBits } from './_flips.ts'

test('sixty wallet files with one changed bit disturb no other tenant and no start', async () => {
  const { wrong, starts, counts } = await flipBits({ flips: 60, seed: 20_261_122 })
  expect(wrong).toEqual([])
  expect(starts).toBe(3)
  // SQLite rebuilds the index of the log after a crash.
  expect(counts['crashed .db-shm']).toMatchObject({ altered: 0, refused: 0 })
}, 120_000)
