/** The default wallet and its tenant, which the first start creates. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../foundation/config/config.ts'
import { Problem } from '../foundation/problem.ts'
import { newApiKey } from '../foundation/api-key.ts'
import { Secret } from '../foundation/secret.ts'
import { StartError } from '../foundation/start-error.ts'
import { createWebhook, listWebhooks } from './events/webhooks.ts'
import { NotOwnerError } from '../foundation/storage/not-owner-error.ts'
import { RegisteredKey } from './model.ts'
import { defaultId, type Tenants } from './tenants.ts'
import type { Wallets } from './wallets.ts'

/** How often a process looks whether the owner has made the default wallet. */
const lookMs = 50

/** Runs a change and writes it to the audit log. */
type Audited = (action: string, work: () => Promise<unknown>) => Promise<unknown>

/**
 * Creates the default wallet, its entity, API key and webhook, each if it is missing. So a start completes an
 * earlier one that was interrupted.
 *
 * Returns the API key of the tenant: the configured one, the remembered one if it is still active, or a new
 * one. Undefined without a default wallet.
 */
export async function provideDefaultWallet(
  config: Config,
  wallets: Wallets,
  tenants: Tenants,
  audited: Audited,
  remembered?: string,
): Promise<Secret | undefined> {
  if (!config.DEFAULT_WALLET_ENABLED) return undefined
  // The process that owns the wallet makes it, at the first start of several.
  while (!(await isComplete(tenants)))
    await makeWallet(config, wallets, tenants, audited).catch(async (error: unknown) => {
      if (!(error instanceof NotOwnerError)) throw error
      await sleep(lookMs)
    })
  const configured = config.DEFAULT_WALLET_AUTH_API_KEY?.reveal()
  const apiKey =
    configured ??
    (remembered !== undefined && (await tenants.keys.find(remembered))?.entityId === defaultId
      ? remembered
      : newApiKey())
  const register = () => tenants.keys.register({ entityId: defaultId, apiKey }, 'default')
  // A stored key is accepted even if it is shorter than the current minimum: `register` then changes nothing.
  const isKnown = await tenants.keys.isKnown(apiKey)
  const fault = isKnown ? undefined : RegisteredKey.safeParse(apiKey).error?.issues[0]?.message
  if (fault !== undefined)
    throw new StartError(`DEFAULT_WALLET_AUTH_API_KEY: ${fault}. Unset it to get a random key.`, 2)
  await (isKnown ? register() : audited('default tenant’s key made', register)).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error
    throw new StartError(`DEFAULT_WALLET_AUTH_API_KEY: ${error.message}`, 2, { cause: error })
  })
  return new Secret(apiKey)
}

async function isComplete(tenants: Tenants): Promise<boolean> {
  return (await tenants.get(defaultId).catch(() => undefined)) !== undefined
}

/** @throws {NotOwnerError} */
async function makeWallet(
  config: Config,
  wallets: Wallets,
  tenants: Tenants,
  audited: Audited,
): Promise<void> {
  wallets.assertOwned(defaultId)
  if (!(await wallets.find(defaultId))) {
    const seed = config.DEFAULT_WALLET_SEED?.reveal()
    await audited('default wallet made', () => wallets.create({ id: defaultId, name: 'default', seed }))
  }
  // The entity is written last: its existence marks that the webhook exists too.
  await addWebhook(config, wallets)
  await audited('default tenant made', () =>
    tenants.create({ id: defaultId, name: 'default', walletId: defaultId }),
  )
}

async function addWebhook(config: Config, wallets: Wallets): Promise<void> {
  const {
    DEFAULT_WALLET_WEBHOOK_URL: url,
    DEFAULT_WALLET_WEBHOOK_API_KEY: bearer,
    WEBHOOKS_PER_WALLET: limit,
  } = config
  if (url === undefined) return
  const customHeaders: Record<string, string> = bearer ? { Authorization: `Bearer ${bearer.reveal()}` } : {}
  await wallets.use(defaultId, (wallet) =>
    wallet.transaction(async (tx) => {
      // A start that was interrupted before the entity was created has written the webhook already.
      if ((await listWebhooks(tx, wallet)).length === 0)
        await createWebhook(tx, wallet, { url, customHeaders }, limit)
    }),
  )
}
