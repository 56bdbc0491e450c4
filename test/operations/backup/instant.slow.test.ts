/** A backup of a working agent has every file as it was at one instant. */
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sharedAgent, type TestAgent } from '../../support/agent.ts'
import { backUp, settingIn, verify } from './_backup.ts'
import { newFolder } from '../../support/folder.ts'

/** Writes a setting of a wallet through the write barrier. */
function put({ agent }: TestAgent, walletId: string, name: string, value: string): Promise<unknown> {
  return agent.wallets.use(walletId, (wallet) =>
    wallet.transaction((tx) =>
      tx
        .insertInto('setting')
        .values({ name, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute(),
    ),
  )
}

/**
 * Moves messages from one wallet to another until stopped: each is stored by the receiver, acknowledged, and
 * then deleted by the sender.
 */
async function carry(agent: TestAgent, from: string, to: string, isOver: () => boolean): Promise<number> {
  let sent = 0
  while (!isOver()) {
    sent++
    await put(agent, to, `from-${from}`, String(sent))
    await put(agent, from, `to-${to}`, String(sent))
    await nextTick()
  }
  return sent
}

test('a message that its sender has deleted is in its receiver’s file: many wallets, few of them open, one of them large', async () => {
  const agent = await sharedAgent({ AGENT_OPEN_WALLETS: '3' })
  const root = newFolder()
  const ids: string[] = []
  for (let n = 0; n < 8; n++)
    ids.push((await agent.admin('POST /wallets', { body: { name: `wallet ${n}` } })).id)
  for (let n = 0; n < 4; n++) await put(agent, ids[2]!, `filler-${n}`, 'x'.repeat(3_000_000))
  let isOver = false
  const routes = ids.map((from, index) => ({ from, to: ids[(index + 1) % ids.length]! }))
  const carrying = routes.map(({ from, to }) => carry(agent, from, to, () => isOver))
  const seen: number[] = []
  for (const name of ['first', 'second']) {
    const folder = join(root, name)
    expect(await backUp(agent, folder)).toMatchObject({ wallets: 9, missing: [] })
    expect(await verify(folder, agent.dataDir)).toMatchObject({ masterKey: 'opens', faults: [] })
    for (const { from, to } of routes) {
      const [deleted, received] = [
        settingIn(folder, from, `to-${to}`) ?? 0,
        settingIn(folder, to, `from-${from}`) ?? 0,
      ].map(Number)
      expect([deleted, deleted! + 1], `${name}: ${from} to ${to}`).toContain(received)
      seen.push(received!)
    }
  }
  isOver = true
  const sent = await Promise.all(carrying)
  // Work continues between the backups.
  expect(Math.max(...seen)).toBeGreaterThan(3)
  for (const [index, { from, to }] of routes.entries()) {
    const last = await agent.agent.wallets.use(to, ({ db }) =>
      db.selectFrom('setting').selectAll().where('name', '=', `from-${from}`).execute(),
    )
    expect(last[0]!.value).toBe(String(sent[index]))
  }
})
