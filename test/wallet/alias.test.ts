/** Tokens of other agents: nothing is asked of the database for them before there are any. */
import { expect, onTestFinished, test } from 'vitest'
import { openAgentDb } from '../../src/storage/database.ts'
import { openAliases } from '../../src/wallet/wallet-tokens.ts'

test('a token is looked for from the first import on, also after a start', async () => {
  const db = await openAgentDb(':memory:')
  onTestFinished(() => db.destroy())
  const aliases = await openAliases(db)
  const row = { id: 'w', name: 'w', wrapped_key: '', seed_digest: '', created_at: '', updated_at: '' }
  await db.insertInto('wallet').values(row).execute()
  await db.insertInto('wallet_alias').values({ token: 'token', kind: 'mailbox', wallet_id: 'w' }).execute()
  expect(await aliases.find('mailbox', 'token')).toBeUndefined()
  for (const known of [await openAliases(db), (aliases.expect(), aliases)]) {
    expect(await known.find('mailbox', 'token')).toBe('w')
    expect(await known.find('status-list', 'token')).toBeUndefined()
    expect(await known.find('mailbox', 'x'.repeat(101))).toBeUndefined()
  }
})
