/**
 * A wallet that is transferred while it is written to: acknowledged writes are in the export, others were
 * refused. And back again.
 */
import { randomUUID } from 'node:crypto'
import { setImmediate as tick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { openParty, typesOf } from '../../support/party.ts'
import { refusal, until } from '../../support/tenants.ts'
import { exportFrom, importInto } from './_transfer.ts'

const note = (wallet: Wallet) =>
  wallet.transaction((tx) =>
    tx
      .insertInto('setting')
      .values({ name: `note ${randomUUID()}`, value: '' })
      .execute(),
  )
const notes = ({ agent }: TestAgent, walletId: string) =>
  agent.wallets.use(
    walletId,
    async ({ db }) =>
      (await db.selectFrom('setting').where('name', 'like', 'note %').selectAll().execute()).length,
  )

/**
 * Writes as fast as possible, alternating short and long uses of the wallet, until writes are refused.
 * Returns the number of acknowledged writes.
 */
async function writeUntilRefused(
  { agent }: TestAgent,
  walletId: string,
  onWritten: () => void,
): Promise<number> {
  let acknowledged = 0
  const write = async (once: () => Promise<unknown>) => {
    for (;;) {
      await once()
      acknowledged++
      onWritten()
      // Yields, because writing does not wait for anything.
      await tick()
    }
  }
  const writers = [
    write(() => agent.wallets.use(walletId, note)),
    agent.wallets.use(walletId, (wallet) => write(() => note(wallet))),
  ]
  for (const { reason } of (await Promise.allSettled(writers)) as PromiseRejectedResult[])
    expect(reason).toMatchObject({ type: 'error:WalletManagementServiceError:WalletMoved' })
  return acknowledged
}

test('acknowledged writes are not lost, there and back again', async () => {
  const first = await sharedAgent()
  await using second = await startAgent()
  const alice = await first.newTenant('alice')
  const { walletId } = alice
  let acknowledged = 0
  const move = async (from: TestAgent, to: TestAgent) => {
    let writing: Promise<number> | undefined
    await new Promise<void>((resolve) => (writing = writeUntilRefused(from, walletId, resolve)))
    const bytes = await exportFrom(from, walletId, { move: true })
    acknowledged += await writing!
    await importInto(to, bytes)
    expect(await notes(to, walletId)).toBe(acknowledged)
  }
  await move(first, second)
  expect(acknowledged).toBeGreaterThan(0)
  expect(
    await refusal(
      alice.call('POST /presentation-exchange/presentation-definitions', { body: { input_descriptors: [] } }),
    ),
  ).toMatchObject({ type: 'error:WalletManagementServiceError:WalletMoved' })
  expect(await first.agent.wallets.ids()).not.toContain(walletId)
  await move(second, first)
  expect((await alice.call('GET /connections')).contents).toEqual([])
  expect((await first.admin('GET /wallets/{walletId}', { path: { walletId } })).movedAt).toBeUndefined()
})

test('messages to a suspended wallet are refused temporarily, and accepted when it is active again', async () => {
  const agent = await sharedAgent()
  const alice = await agent.newTenant('alice')
  await using party = await openParty()
  const { thid, invitation } = await alice.call('POST /connections', { body: {} })
  const request = { type: typesOf.connectionRequest, thid, pthid: thid }
  await agent.agent.wallets.suspend(alice.walletId)
  expect(await party.send(invitation.from, request)).toMatchObject({
    status: 503,
    detail: expect.not.stringContaining(alice.walletId),
  })
  await agent.admin('POST /wallets/{walletId}/resumption', { path: { walletId: alice.walletId } })
  expect(await party.send(invitation.from, request)).toMatchObject({ status: 200 })
  await until(
    'the connection',
    () => alice.call('GET /connections', { query: { thid } }),
    ({ contents }) => contents[0]?.state === 'ConnectionResponseSent',
  )
  expect(
    await refusal(agent.admin('POST /wallets/{walletId}/resumption', { path: { walletId: randomUUID() } })),
  ).toMatchObject({ status: 404 })
})
