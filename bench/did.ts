/** DIDs created and published one at a time, with every commit on disk, on the agent's own ledger file. */
import { processJob } from '../src/exchange/engine/process-job.ts'
import { createPrismDid as createDid } from '../src/wallet/did-registrar/prism.ts'
import { composition } from '../src/exchange/all-protocols.ts'
import { getDidRow } from '../src/wallet/did-registrar/dids.ts'
import { publishDid } from '../src/wallet/did-registrar/registrar.ts'
import { dueJobs } from '../src/wallet/outbox/job.ts'
import type { Wallet } from '../src/wallet/wallet.ts'
import { startAgent } from '../test/support/agent.ts'
import type { Suites } from './_harness.ts'

const key = { id: 'key-1', purpose: 'assertionMethod', curve: 'secp256k1' } as const
const template = { documentTemplate: { publicKeys: [key], internalKeys: [], services: [], contexts: [] } }

/** Creates a DID, submits it and stores its confirmation, as the worker does. Returns the short form. */
export async function publishNewDid(wallet: Wallet): Promise<string> {
  const { did } = await getDidRow(wallet.db, await createDid(wallet, template))
  await publishDid(wallet, did)
  const { jobs } = await dueJobs(wallet.db)
  for (const job of jobs) await processJob(wallet, job, composition)
  const { status } = await getDidRow(wallet.db, did)
  if (status !== 'PUBLISHED') throw new Error(`${did} is not published`)
  return did
}

/** An agent whose wallet creates and publishes DIDs. */
export async function openDids(): Promise<Suites> {
  const { agent, ...started } = await startAgent()
  await agent.worker[Symbol.asyncDispose]()
  const [walletId] = await agent.wallets.ids()
  const use = <T>(work: (wallet: Wallet) => Promise<T>) => agent.wallets.use(walletId!, work)
  const did = await use(publishNewDid)
  const suites = {
    'DIDs, one after the other, on the embedded ledger': [
      { name: 'create', once: () => use((wallet) => createDid(wallet, template)) },
      { name: 'create and publish', once: () => use(publishNewDid) },
      { name: 'resolve what is published', once: () => agent.env.resolver.resolve(did) },
    ],
  }
  return { suites, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() }
}
