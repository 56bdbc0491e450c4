/** A start after a crash: wallets with pending jobs continue, and other wallets are opened once. */
import { expect, test } from 'vitest'
import { openLog } from '../../../src/foundation/log.ts'
import { createWorker } from '../../../src/exchange/create-worker.ts'
import { appendEvent } from '../../../src/wallet/events/event.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import type { Wallets } from '../../../src/wallet/wallets.ts'
import { until } from '../../support/tenants.ts'
import { openReceiver } from '../../support/receiver.ts'
import { startAgent } from '../../support/agent-from-sources.ts'

test('of thirty wallets the three with pending jobs process them, and each of the others is opened once', async () => {
  await using agent = await startAgent({ AGENT_OPEN_WALLETS: '2', DEFAULT_WALLET_ENABLED: 'false' })
  await using receiver = await openReceiver()
  const { wallets, worker: earlier } = agent.agent
  // A job without a notification, as after a crash.
  await earlier[Symbol.asyncDispose]()
  const ids: string[] = []
  for (let n = 0; n < 27; n++) ids.push((await wallets.create({ name: `wallet ${n}` })).id)
  const owing: string[] = []
  for (let n = 0; n < 3; n++) {
    const { walletId, call } = await agent.newTenant()
    await call('POST /events/webhooks', { body: { url: receiver.url } })
    const event = { type: 'ConnectionUpdated' as const, subject: 'a thread', data: { state: 'step' } }
    await wallets.use(walletId, (wallet) => wallet.transaction((tx) => appendEvent(tx, event)))
    owing.push(walletId)
  }

  const uses = new Map<string, number>()
  const counting = {
    ids: () => wallets.ids(),
    use<T>(id: string, work: (wallet: Wallet) => Promise<T>) {
      uses.set(id, (uses.get(id) ?? 0) + 1)
      return wallets.use(id, work)
    },
  } as unknown as Wallets
  await using worker = createWorker(agent.agent.config, counting, openLog('silent'))
  await worker.resume()
  await until(
    'the poll of every wallet',
    () => Promise.resolve([uses.size, receiver.bodies.length]),
    ([used, delivered]) => used === 30 && delivered === 3,
  )
  const events = receiver.bodies.map((body) => (JSON.parse(body) as { walletId: string }).walletId)
  expect(events.toSorted()).toEqual(owing.toSorted())
  expect(ids.map((id) => uses.get(id))).toEqual(Array(27).fill(1))
})
