/** The wallet's link secret: one, sealed, and the same after a restart. */
import { expect, test } from 'vitest'
import { getLinkSecret } from '../../../src/credentials/anoncreds/holder.ts'
import { sharedAgent } from '../../support/agent.ts'

test('is created at first use, sealed, and constant; each wallet has its own', async () => {
  const agent = await sharedAgent()
  const { wallets } = agent.agent
  const [one, other] = [(await agent.newTenant()).walletId, (await agent.newTenant()).walletId]
  const secretOf = (id: string) => wallets.use(id, (wallet) => getLinkSecret(wallet))
  const [first, second] = await Promise.all([secretOf(one), secretOf(one)])
  expect(first).toMatch(/^\d{70,}$/)
  expect([second, await secretOf(one)]).toEqual([first, first])
  expect(await secretOf(other)).not.toBe(first)
  const row = await wallets.use(one, ({ db }) =>
    db.selectFrom('setting').select('value').where('name', '=', 'link-secret').executeTakeFirstOrThrow(),
  )
  expect(row.value).not.toContain(first)
  const moved = wallets.use(other, async (wallet) => wallet.unseal(`link-secret:${other}`, row.value))
  await expect(moved).rejects.toThrow()
})
