/** What becomes of a publication (service §3.4): announced when the ledger has confirmed it, and only then. */
import { expect, test } from 'vitest'
import { createDid, getDidRow } from '../../src/did-registrar/dids.ts'
import { publishDid, publishWork } from '../../src/did-registrar/publish.ts'
import type { LedgerOperation } from '../../src/vdr/ledger.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { LaterError } from '../../src/wallet/work.ts'
import { startAgent } from '../_agent.ts'

const template = { documentTemplate: { publicKeys: [], internalKeys: [], services: [], contexts: [] } }

/** The same wallet before a ledger that says this of every operation. */
function before(wallet: Wallet, status: LedgerOperation['status'], confirmsAt?: string): Wallet {
  const operation = { operationId: 'ab', status, submittedAt: '', ...(confirmsAt && { confirmsAt }) } as LedgerOperation
  const ledger = {
    ...wallet.env.ledger,
    submit: () => Promise.resolve({ operationId: 'ab', transactionId: 'ab' }),
    getOperation: () => Promise.resolve(operation),
  }
  return { ...wallet, env: { ...wallet.env, ledger } }
}

test('a confirmed DID is announced once, a rejected one is free again without a word', async () => {
  await using agent = await startAgent()
  const { wallets, courier } = agent.agent
  await courier[Symbol.asyncDispose]()
  const { walletId } = await agent.newTenant()
  await wallets.use(walletId, async (wallet) => {
    const did = (await getDidRow(wallet.db, await createDid(wallet, template))).did
    const status = async () => (await getDidRow(wallet.db, did)).status
    const events = async () => (await wallet.db.selectFrom('event').selectAll().execute()).map(({ type, data }) => [type, JSON.parse(data)])

    await publishDid(wallet, did)
    expect(await status()).toBe('PUBLICATION_PENDING')
    await wallet.transaction(await publishWork(before(wallet, 'rejected'), did))
    expect([await status(), await events()]).toEqual(['CREATED', []])

    await publishDid(wallet, did)
    const confirmsAt = new Date(Date.now() + 60_000).toISOString()
    const later: unknown = await publishWork(before(wallet, 'pending', confirmsAt), did).catch((error: unknown) => error)
    expect(later).toBeInstanceOf(LaterError)
    expect((later as LaterError).at.toISOString()).toBe(confirmsAt)

    for (let times = 0; times < 2; times++) await wallet.transaction(await publishWork(before(wallet, 'confirmed'), did))
    expect([await status(), await events()]).toEqual(['PUBLISHED', [['DIDStatusUpdated', { did, status: 'PUBLISHED' }]]])
  })
})
