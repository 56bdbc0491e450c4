/** A short round of power losses. */
import { expect, test } from 'vitest'
import { losePower } from './_power.ts'

test('power loss during a commit', { timeout: 300_000 }, async () => {
  const { images, before, after, torn } = await losePower({ images: 30, seed: 1 })
  expect(torn).toEqual([])
  expect(before + after).toBe(images)
  expect(before).toBeGreaterThan(0)
  expect(after).toBeGreaterThan(0)
})
