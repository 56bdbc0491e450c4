/** Wallet tokens of other agents, which imports add. */
import { expect, onTestFinished, test } from 'vitest'
import { openAgentDb } from '../../src/foundation/storage/database.ts'
import { createWalletTokens } from '../../src/wallet/wallet-tokens.ts'

test('tokens of another agent are found after the first import and after a restart', async () => {
  const db = await openAgentDb(':memory:')
  onTestFinished(() => db.destroy())
  const key = Buffer.alloc(32)
  const tokens = await createWalletTokens(key, db)
  const row = {
    id: 'w',
    number: 1,
    name: 'w',
    wrapped_key: '',
    seed_digest: '',
    created_at: '',
    updated_at: '',
  }
  await db.insertInto('wallet').values(row).execute()
  await db.insertInto('wallet_alias').values({ token: 'token', kind: 'mailbox', wallet_id: 'w' }).execute()
  expect(await tokens.findWalletId('mailbox', 'token')).toBeUndefined()
  tokens.expectAliases()
  for (const each of [tokens, await createWalletTokens(key, db)]) {
    expect(await each.findWalletId('mailbox', 'token')).toBe('w')
    expect(await each.findWalletId('status-list', 'token')).toBeUndefined()
    expect(await each.findWalletId('mailbox', 'x'.repeat(101))).toBeUndefined()
  }
})
