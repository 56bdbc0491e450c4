/** Recording the last use of keys never makes another operation fail. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAgentDb } from '../../src/foundation/storage/database.ts'
import { LastUses } from '../../src/wallet/api-key-cache.ts'
import { newFolder } from '../support/folder.ts'

test('a use that cannot be written is dropped', async () => {
  const db = await openAgentDb(join(newFolder(), 'agent.db'))
  const uses = new LastUses(db)
  await db.destroy()
  uses.note('a-key', null)
  await expect(uses.flush()).resolves.toBeUndefined()
  await expect(uses.flush()).resolves.toBeUndefined()
})
