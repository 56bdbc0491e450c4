/** Interrupted first starts: the next start completes the default wallet and duplicates nothing. */
import { expect, test } from 'vitest'
import { StartError } from '../../src/foundation/start-error.ts'
import { readConfig } from '../../src/foundation/config/config.ts'
import { listWebhooks, openHeaders } from '../../src/wallet/events/webhooks.ts'
import { provideDefaultWallet } from '../../src/wallet/default-wallet.ts'
import { defaultId } from '../../src/wallet/tenants.ts'
import { startAgent } from '../support/agent-from-sources.ts'

const audited = (_action: string, work: () => Promise<unknown>) => work()
const variables = {
  DEFAULT_WALLET_WEBHOOK_URL: 'http://127.0.0.1:1/events',
  DEFAULT_WALLET_WEBHOOK_API_KEY: 'a-token',
}

test('a start that is repeated after it failed before the entity registers one webhook', async () => {
  await using agent = await startAgent({ DEFAULT_WALLET_ENABLED: 'false' })
  const { wallets, tenants } = agent.agent
  const config = readConfig(variables)
  const interrupted = Object.assign(Object.create(tenants) as typeof tenants, {
    get: (id: string) => tenants.get(id),
    create: () => Promise.reject(new Error('killed here')),
  })
  await expect(provideDefaultWallet(config, wallets, interrupted, audited)).rejects.toThrow('killed here')
  const key = await provideDefaultWallet(config, wallets, tenants, audited)
  const webhooks = await wallets.use(defaultId, async (wallet) => {
    const rows = await wallet.db.selectFrom('webhook').selectAll().execute()
    return rows.map(({ id, url, headers }) => [url, openHeaders(wallet, id, headers)])
  })
  expect(webhooks).toEqual([['http://127.0.0.1:1/events', { Authorization: 'Bearer a-token' }]])
  expect((await tenants.keys.find(key!.reveal()))?.entityId).toBe(defaultId)
})

test('the webhook of the environment is used only when the wallet is created', async () => {
  await using agent = await startAgent(variables)
  const { wallets, tenants } = agent.agent
  await provideDefaultWallet(
    readConfig({ DEFAULT_WALLET_WEBHOOK_URL: 'http://127.0.0.1:1/another' }),
    wallets,
    tenants,
    audited,
  )
  const webhooks = await wallets.use(defaultId, (wallet) => listWebhooks(wallet.db, wallet))
  expect(webhooks.map(({ url }) => url)).toEqual(['http://127.0.0.1:1/events'])
})

test('a configured key has 16 to 128 characters, unless the default tenant already has it', async () => {
  await using agent = await startAgent()
  const { wallets, tenants } = agent.agent
  const start = (key: string) =>
    provideDefaultWallet(readConfig({ DEFAULT_WALLET_AUTH_API_KEY: key }), wallets, tenants, audited)
  const problem = await start('short').catch((error: unknown) => error)
  expect(problem).toBeInstanceOf(StartError)
  expect((problem as StartError).message).toMatch(
    /^DEFAULT_WALLET_AUTH_API_KEY: must have 16 to 128 characters/,
  )
  await tenants.keys.register({ entityId: defaultId, apiKey: 'short' })
  expect((await start('short'))?.reveal()).toBe('short')
  expect((await start('a-key-of-16-char'))?.reveal()).toBe('a-key-of-16-char')
})

test('a configured key that the default tenant cannot have is reported in one sentence, without the key', async () => {
  await using agent = await startAgent()
  const { wallets, tenants } = agent.agent
  const apiKey = 'a-key-that-was-removed'
  await tenants.keys.register({ entityId: defaultId, apiKey })
  await tenants.keys.remove({ entityId: defaultId, apiKey })
  const error: unknown = await provideDefaultWallet(
    readConfig({ DEFAULT_WALLET_AUTH_API_KEY: apiKey }),
    wallets,
    tenants,
    audited,
  ).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StartError)
  expect((error as StartError).message).toMatch(/^DEFAULT_WALLET_AUTH_API_KEY: The apiKey was removed before/)
  expect((error as StartError).message).not.toContain(apiKey)
})
