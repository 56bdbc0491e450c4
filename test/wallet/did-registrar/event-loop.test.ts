/** Deriving a key blocks for milliseconds, so the event loop runs after each key. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPrismDid as createDid } from '../../../src/wallet/did-registrar/prism.ts'
import { CreateManagedDid } from '../../../src/wallet/did-registrar/model.ts'
import { restoreDids } from '../../../src/wallet/did-registrar/restore.ts'
import { createWebDid } from '../../../src/wallet/did-registrar/web.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { startAgent } from '../../support/agent.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())
// A fixed seed: one key in 128 is skipped, and the next one derived.
const { id: walletId } = await agent.admin('POST /wallets', {
  body: { name: 'of one seed', seed: '07'.repeat(64) },
})

/**
 * The order of events during an operation of a wallet: `key` for a derived key, `turn` for an event loop
 * iteration.
 */
async function eventsOf(work: (wallet: Wallet) => Promise<unknown>): Promise<string[]> {
  const events: string[] = []
  await agent.agent.wallets.use(walletId, async (wallet) => {
    const derive: Wallet['deriveKey'] = (path) => (events.push('key'), wallet.deriveKey(path))
    const progress = { isDone: false }
    const done = work(Object.create(wallet, { deriveKey: { value: derive } }) as Wallet).finally(
      () => (progress.isDone = true),
    )
    while (!progress.isDone) {
      await turn()
      events.push('turn')
    }
    await done
  })
  return events
}

/** The maximum of keys derived in one iteration of the event loop. */
function maxKeys(events: string[]): number {
  const between = events.join(' ').split('turn')
  return Math.max(...between.map((keys) => keys.split('key').length - 1))
}

const template = CreateManagedDid.parse({
  documentTemplate: {
    publicKeys: [...'abcdefghijklmnopqrst'].map((id) => ({ id, purpose: 'authentication' })),
  },
})

test.each<[string, (wallet: Wallet) => Promise<unknown>]>([
  ['a did:prism of several keys', (wallet) => createDid(wallet, template)],
  ['a did:web of several keys', (wallet) => createWebDid(wallet, template, agent.agent.db)],
  ['the search for a seed’s DIDs', restoreDids],
  [
    'many did:prism at once',
    (wallet) => Promise.all(Array.from({ length: 8 }, () => createDid(wallet, template))),
  ],
])('%s lets others have a turn after each key', async (_, work) => {
  const events = await eventsOf(work)
  expect(events.filter((event) => event === 'key').length).toBeGreaterThan(15)
  expect(maxKeys(events)).toBeLessThanOrEqual(2)
})

test('concurrent DIDs of several wallets together derive one key per iteration', async () => {
  const events: string[] = []
  // Fixed seeds: none has two keys in sequence that are skipped.
  const makers = [...'123456'].map(async (digit) => {
    const { id } = await agent.admin('POST /wallets', { body: { name: 'another', seed: digit.repeat(128) } })
    return () =>
      agent.agent.wallets.use(id, (wallet) => {
        const derive: Wallet['deriveKey'] = (path) => (events.push('key'), wallet.deriveKey(path))
        return createDid(Object.create(wallet, { deriveKey: { value: derive } }) as Wallet, template)
      })
  })
  const progress = { isDone: false }
  const done = Promise.all((await Promise.all(makers)).map((make) => make())).finally(
    () => (progress.isDone = true),
  )
  while (!progress.isDone) {
    await turn()
    events.push('turn')
  }
  await done
  expect(maxKeys(events)).toBeLessThanOrEqual(2)
})

test('concurrent creations in one wallet do not repeat work', async () => {
  const derivations = async (count: number) => {
    const events = await eventsOf((wallet) =>
      Promise.all(Array.from({ length: count }, () => createDid(wallet, template))),
    )
    return events.filter((event) => event === 'key').length
  }
  // 20 keys and the master key, and sometimes one more, because a key that begins with a zero byte is
  // skipped.
  expect(await derivations(8)).toBeLessThan(8 * 21 + 21)
})
