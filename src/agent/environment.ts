/** Builds the environment of the wallets: HTTP clients, ledger, DID resolver, schemas and AnonCreds. */
import { createAnonCreds } from '../credentials/anoncreds/environment.ts'
import type { Config } from '../foundation/config/config.ts'
import { across } from '../foundation/probe.ts'
import type { DidDocument } from '../did/document.ts'
import { createResolver } from '../did/resolver.ts'
import { createDestinations } from '../foundation/net/destinations.ts'
import { createHttpClient } from '../foundation/net/http-client.ts'
import { findOwnServers } from '../foundation/net/https.ts'
import { callLimitsOf } from '../foundation/net/reach.ts'
import { dereference, dereferenceSchema, type SchemaSources } from '../credentials/schemas/dereference.ts'
import { findSchema } from '../credentials/schemas/registry.ts'
import type { ResourceSources } from '../credentials/schemas/resource.ts'
import type { Store } from './store.ts'
import { createEntryMemory } from '../did/ledger/entry-memory.ts'
import { createHttpLedger } from '../did/ledger/http-ledger.ts'
import { openSqliteLedger, type EmbeddedLedger } from '../did/ledger/sqlite-ledger.ts'
import type { Environment } from '../wallet/environment.ts'
import { createOfferLimit, createOpenLimit, createRenewalLimit, createReplyLimit } from '../wallet/quotas.ts'
import { createWriteBarrier } from '../wallet/write-barrier.ts'

type Given = Pick<Environment, 'config' | 'log' | 'metrics' | 'urls' | 'db' | 'tokens' | 'shortLinks'> &
  // These use the wallets, which are created with the environment.
  Pick<Environment, 'getStatusList' | 'retrieve' | 'onCommit'> & {
    /** The document of a DID of which this agent is the host. */
    findHostedDocument: (did: string) => Promise<DidDocument | undefined>
    store: Store
  }

/**
 * `closers` gets what must be closed, in reverse order. `embeddedLedger` is the ledger if it is a file of
 * this agent.
 */
export async function createEnvironment(
  { findHostedDocument, store, ...given }: Given,
  closers: (() => unknown)[],
): Promise<{ env: Environment; embeddedLedger: EmbeddedLedger | undefined }> {
  const { config, urls, db } = given
  const callLimits = callLimitsOf(config)
  const own = findOwnServers(config, urls)
  const http = createHttpClient({ ...callLimits, own }, given.metrics)
  closers.push(() => http.close())
  const operatorHttp = createHttpClient({ allow: 'any', own }, given.metrics)
  closers.push(() => operatorHttp.close())

  const embeddedLedger = await openEmbeddedLedger(config, store)
  const ledger = embeddedLedger ?? createHttpLedger(config.VDR_URL!, operatorHttp)
  closers.push(() => ledger.close())

  const lifetimeMs = config.DID_CACHE_LIFETIME * 1_000
  const resolver = createResolver({
    getState: (suffix) => ledger.getState(suffix),
    hosts: { http, allowsLoopback: callLimits.allow !== 'public' },
    findHosted: findHostedDocument,
    documentLifetimeMs: lifetimeMs,
    // Other processes may write to the file of an embedded ledger, so its states are not cached.
    ...(!embeddedLedger && { stateLifetimeMs: lifetimeMs }),
  })

  const resources: ResourceSources = {
    http,
    resolve: resolver.document,
    baseUrls: ['', '/cloud-agent', '/prism-agent'].map((prefix) => urls.rest + prefix),
  }
  const schemaSources: SchemaSources = { ...resources, findSchema: (guid) => findSchema(db, guid) }
  const readSchema = (url: string) => across('schema', { url }, () => dereference(url, schemaSources))
  const anonCreds = createAnonCreds(db, resources, readSchema)
  closers.push(() => anonCreds.anoncreds.close())

  const env: Environment = {
    ...anonCreds,
    ...given,
    ownership: store.ownership,
    ledger,
    entryMemory: config.VDR_MEMORY_DRIVER_ENABLED ? createEntryMemory() : undefined,
    http,
    operatorHttp,
    resolver,
    getSchema: (url) => across('schema', { url }, () => dereferenceSchema(url, schemaSources)),
    readSchema,
    destinations: createDestinations(),
    limitReplies: createReplyLimit(config.INVITATION_REPLIES_PER_MINUTE),
    limitOffers: createOfferLimit(),
    limitOpen: createOpenLimit(),
    limitRenewals: createRenewalLimit(),
    writeBarrier: createWriteBarrier(),
  }
  return { env, embeddedLedger }
}

async function openEmbeddedLedger(config: Config, store: Store): Promise<EmbeddedLedger | undefined> {
  const { VDR_URL: url, VDR_CONFIRM_AFTER: confirmAfterSeconds } = config
  if (url === undefined) return store.openLedger({ confirmAfterSeconds })
  if (!url.startsWith('sqlite:')) return undefined
  return openSqliteLedger(url.slice('sqlite:'.length), { confirmAfterSeconds })
}
