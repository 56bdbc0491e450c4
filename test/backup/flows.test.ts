/** Agents that are restored go on where they were at the instant of the backup. */
import { expect, test } from 'vitest'
import { backUpUnderLoad } from './_load.ts'
import { newPlace } from './_backup.ts'

// More of them: npm run test:backups -- --backups 100
test(
  'backups are made while credentials are issued; restored, nothing acknowledged is lost, and every flow comes to its end',
  { timeout: 120_000 },
  async () => {
    const outcome = await backUpUnderLoad(await newPlace(), { backups: 2 })
    expect(outcome).toMatchObject({ backups: 4, lost: [], faults: [] })
    expect(outcome.known).toBeGreaterThan(0)
  },
)
