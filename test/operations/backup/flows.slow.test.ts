/** Restored agents continue from the instant of the backup. */
import { expect, test } from 'vitest'
import { backUpUnderLoad } from './_load.ts'
import { newFolder } from '../../support/folder.ts'

// For more: npm run test:backups -- --backups 100
test('backups of agents that issue credentials, once restored, lose nothing acknowledged, and every flow completes', async () => {
  const outcome = await backUpUnderLoad(newFolder(), { backups: 2 })
  expect(outcome).toMatchObject({ backups: 4, lost: [], faults: [] })
  expect(outcome.known).toBeGreaterThan(0)
})
