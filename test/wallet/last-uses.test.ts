/** Recording the last use of keys never makes another operation fail. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAgentDb } from '../../src/storage/database.ts'
import { LastUses } from '../../src/wallet/api-key-cache.ts'

test('a use that cannot be written is dropped', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'last-uses-'))
  try {
    const db = await openAgentDb(join(folder, 'agent.db'))
    const uses = new LastUses(db)
    await db.destroy()
    uses.note('a-key', null)
    await expect(uses.flush()).resolves.toBeUndefined()
    await expect(uses.flush()).resolves.toBeUndefined()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
