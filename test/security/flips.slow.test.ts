/** Wallet files with a flipped bit. `npm run test:security -- --flips 500` runs more. */
import { expect, test } from 'vitest'
import { flipBits } from './_flips.ts'

test('sixty wallet files with a flipped bit affect no other tenant and no start', async () => {
  const { wrong, starts, counts } = await flipBits({ flips: 60, seed: 20_261_122 })
  expect(wrong).toEqual([])
  expect(starts).toBe(3)
  // SQLite rebuilds the index of the log after a crash.
  expect(counts['crashed .db-shm']).toMatchObject({ altered: 0, refused: 0 })
})
