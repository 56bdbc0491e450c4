/** Like `killed-at-random.slow.test.ts`, at each probe point. */
import { expect, test } from 'vitest'
import { faultless, faultsOf, killAtPoints } from './_kills.ts'

test(
  'killed before and after a commit, a message, a webhook and the fetching of a schema',
  { timeout: 300_000 },
  async () => {
    const at = (first: string, second: string, nth: number) =>
      [
        { point: first, nth },
        { point: second, nth },
      ] as const
    // Only the first daemon, the issuer, fetches schemas.
    const pairs = [
      at('schema:before', 'commit:after', 1),
      at('schema:after', 'message:before', 1),
      at('commit:before', 'message:after', 4),
      at('webhook:after', 'webhook:before', 3),
    ]
    const outcome = await killAtPoints(pairs, { concurrency: 2 })
    expect(faultsOf(outcome)).toEqual(faultless)
    expect(outcome.kills).toBe(8)
  },
)
