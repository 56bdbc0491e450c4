/** The composition root: builds every part once, in order, and takes all of it down again. */
import { join } from 'node:path'
import { createAnonCreds, createDefinitions } from './anoncreds/environment.ts'
import type { Generator } from './anoncreds/generator.ts'
import type { AuditLog } from './audit/audit-log.ts'
import { openAudited } from './open-audited.ts'
import { createBackups, type Backups } from './backup/create.ts'
import type { Config } from './base/config.ts'
import type { Log } from './base/log.ts'
import { across } from './base/probe.ts'
import { deriveSealKey } from './base/seal.ts'
import type { Secret } from './base/secret.ts'
import { createTurns, turnLimits, type Turns } from './base/turns.ts'
import { createTokenCheck } from './base/token-check.ts'
import {
  newListId,
  openListId,
  openAliases,
  createMailboxOpener,
  newMailbox,
} from './wallet/wallet-tokens.ts'
import { createListReader } from './credential-status/read.ts'
import { findWebDocument } from './did-registrar/web.ts'
import { createResolver } from './did/resolver.ts'
import { createWebResolver } from './did/web.ts'
import { createEnterprise, type Enterprise } from './enterprise/enterprise.ts'
import { EventBus } from './events/bus.ts'
import { createWorker } from './protocols/create-worker.ts'
import type { Worker } from './outbox/worker.ts'
import { limitsOf } from './mediator/limits.ts'
import { openMediator, type Mediator } from './mediator/mediator.ts'
import { createDestinations } from './net/destinations.ts'
import { createHttpClient } from './net/guarded-agent.ts'
import { callLimitsOf, findOpening } from './net/reach.ts'
import { openWalletTransfer, type WalletTransfer } from './wallet-export/wallet-transfer.ts'
import { dereference, dereferenceSchema, type SchemaSources } from './schemas/dereference.ts'
import type { ResourceSources } from './schemas/resource.ts'
import { findSchema } from './schemas/registry.ts'
import { openAgentDb, type AgentDb } from './storage/database.ts'
import { unlessTransferred } from './storage/transferred.ts'
import { toStartError } from './storage/start-fault.ts'
import { createHttpLedger } from './vdr/http-ledger.ts'
import { createLedgerServer, ledgerLimitsOf, type LedgerServer } from './vdr/ledger-server.ts'
import { openSqliteLedger } from './vdr/sqlite-ledger.ts'
import { provideDefaultWallet } from './wallet/default-wallet.ts'
import { createWriteBarrier } from './wallet/write-barrier.ts'
import { createReplyLimit } from './wallet/quotas.ts'
import { createRotation, type Rotate } from './wallet/key-rotation.ts'
import { Tenants } from './wallet/tenants.ts'
import type { Environment, Wallet } from './wallet/wallet.ts'
import { Wallets } from './wallet/wallets.ts'

export type Agent = {
  readonly config: Config
  readonly log: Log
  readonly env: Environment
  readonly db: AgentDb
  readonly wallets: Wallets
  readonly tenants: Tenants
  /** Who did what, and who was refused. */
  readonly audit: AuditLog
  /** Wallets that go to another agent, or come from one. */
  readonly walletTransfer: WalletTransfer
  /** Wraps the agent key, from which all keys here are derived, with another master key. */
  readonly rotateMasterKey: Rotate
  /** Copies of the whole data folder. What is under way is ended before the servers stop, which wait for its answer. */
  readonly backups: Backups
  readonly worker: Worker<Wallet>
  /** Makes the keys of credential definitions. It is closed before the servers stop, which wait for those who wait for a key. */
  readonly definitions: Generator
  /** Who begins next, of all that both servers are asked for. */
  readonly turns: Turns
  /** Who is told of commits as they happen. It is closed before the servers stop, which wait for open streams. */
  readonly events: EventBus
  /** The mediator role, when this agent has it. */
  readonly mediator: Mediator | undefined
  /** The ledger, as far as it is this agent's own and served to others. */
  readonly ledgerServer: LedgerServer | undefined
  /** What the enterprise suite has beside the wallets. */
  readonly enterprise: Enterprise
  /** Whether `x-admin-api-key` is the administrator's: `ADMIN_TOKEN`, or the one before it. */
  readonly isAdminToken: (token: unknown) => boolean
  /** The default wallet's `apikey`, if there is a default wallet. */
  readonly defaultApiKey: Secret | undefined
  /** The wallet that a mailbox was made for, here or where it was before; nothing for any other token. */
  openMailbox(token: string): Promise<string | undefined>
  /** The wallet that has a status list; nothing for an id that no wallet here has. */
  openStatusList(id: string): Promise<string | undefined>
  [Symbol.asyncDispose](): Promise<void>
}

/** What was made at an earlier start and kept in the command line's profile. */
export type Remembered = { apiKey?: string | undefined }

/**
 * Opens the agent's data folder, which must exist, and everything in it.
 *
 * `urls` are the public base URLs, known once the servers are bound. Of the administrator's tokens only digests are kept; without any,
 * nobody is the administrator.
 *
 * @throws {StartError} when the master key is not the folder's, or a file that all wallets share is damaged or of a newer release.
 */
export async function createAgent(
  given: Config,
  log: Log,
  urls: Environment['urls'],
  remembered: Remembered = {},
): Promise<Agent> {
  const { ADMIN_TOKEN, ADMIN_TOKEN_PREVIOUS } = given
  const config: Config = { ...given, ADMIN_TOKEN: undefined, ADMIN_TOKEN_PREVIOUS: undefined }
  const isAdminToken = createTokenCheck(
    [ADMIN_TOKEN, ADMIN_TOKEN_PREVIOUS].filter((token) => token !== undefined),
  )
  const closers: (() => unknown)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    const folder = config.AGENT_DATA_DIR
    const db = await openAgentDb(join(folder, 'agent.db'))
    closers.push(() => db.destroy())
    const { agentKey, audit } = await openAudited(config, db, log)
    closers.push(() => audit[Symbol.asyncDispose]())
    closers.push(() => agentKey.fill(0))
    const mailboxKey = deriveSealKey(agentKey, 'mailboxes')
    const openMailbox = createMailboxOpener(mailboxKey)
    const statusListKey = deriveSealKey(agentKey, 'status-lists')

    const reach = callLimitsOf(config)
    const http = createHttpClient(reach)
    closers.push(() => http.close())
    const operatorHttp = createHttpClient({ allow: 'any' })
    closers.push(() => operatorHttp.close())
    const ledgerUrl = config.VDR_URL ?? `sqlite:${join(folder, 'vdr.db')}`
    const embedded = ledgerUrl.startsWith('sqlite:')
      ? await openSqliteLedger(ledgerUrl.slice('sqlite:'.length), {
          confirmAfterSeconds: config.VDR_CONFIRM_AFTER,
        })
      : undefined
    const ledger = embedded ?? createHttpLedger(ledgerUrl, operatorHttp)
    closers.push(() => ledger.close())

    const resolveWeb = createWebResolver({ http, allowsLoopback: reach.allow !== 'public' })
    const lifetimeMs = config.DID_CACHE_LIFETIME * 1_000
    const resolver = createResolver({
      getState: (suffix) => ledger.getState(suffix),
      methods: {
        web: async (did) => (await unlessTransferred(findWebDocument(db, wallets, did))) ?? resolveWeb(did),
      },
      documentLifetimeMs: lifetimeMs,
      // The embedded ledger is a file that other processes write to.
      ...(!embedded && { stateLifetimeMs: lifetimeMs }),
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

    const writeBarrier = createWriteBarrier()
    const events = new EventBus()
    closers.push(() => events.close())
    const env: Environment = {
      ...anonCreds,
      config,
      log,
      urls,
      db,
      ledger,
      http,
      operatorHttp,
      resolver,
      getSchema: (url) => across('schema', { url }, () => dereferenceSchema(url, schemaSources)),
      readSchema,
      getStatusList: (url, type) => readList(url, type),
      newStatusListId: (walletId) => newListId(statusListKey, walletId),
      destinations: createDestinations(),
      limitReplies: createReplyLimit(config.INVITATION_REPLIES_PER_MINUTE),
      writeBarrier,
      newMailbox: (walletId) => newMailbox(mailboxKey, walletId),
      onCommit: (walletId, changes) => {
        if (changes.events) events.notify(walletId)
        worker.wake(walletId, changes)
      },
    }
    const wallets = new Wallets(env, db, agentKey)
    closers.push(() => wallets[Symbol.asyncDispose]())
    const backups = createBackups(config, agentKey, writeBarrier, (id) => wallets.isOpen(id))
    closers.push(() => backups[Symbol.asyncDispose]())
    const aliases = await openAliases(db)
    const openStatusList = async (id: string) =>
      openListId(statusListKey, id) ?? aliases.find('status-list', id)
    const readList = createListReader({ http, openListId: openStatusList, wallets })
    const tenants = new Tenants(db, agentKey)
    closers.push(() => tenants.keys.close())
    const enterprise = createEnterprise(config, agentKey, {
      url: urls.rest,
      findAlias: (kind, token) => aliases.find(kind, token),
    })
    closers.push(() => enterprise.close())
    const worker = createWorker(config, wallets, log)
    closers.push(() => worker[Symbol.asyncDispose]())
    const definitions = createDefinitions(config, db, log, wallets)
    closers.push(() => definitions.close())
    definitions.wake()
    const mediator = config.AGENT_MEDIATOR
      ? await openMediator({
          path: join(folder, 'mediator.db'),
          sealKey: deriveSealKey(agentKey, 'mediator'),
          url: urls.didcomm,
          limits: limitsOf(config),
          resolve: env.resolver.document,
          http,
          log,
        })
      : undefined
    closers.push(() => mediator?.[Symbol.asyncDispose]())
    const wake = (walletId: string) => {
      env.onCommit(walletId, { jobs: true, events: true })
      definitions.wake()
    }

    return {
      config,
      log,
      turns: createTurns(turnLimits(config)),
      env,
      db,
      wallets,
      tenants,
      audit,
      walletTransfer: await openWalletTransfer({ db, agentKey, wallets, aliases, log, wake }),
      rotateMasterKey: createRotation(config, db, agentKey),
      backups,
      worker,
      definitions,
      events,
      mediator,
      enterprise,
      // A ledger that is elsewhere is not passed on: agents that ask each other would ask in circles.
      ledgerServer:
        embedded && (config.VDR_SERVE ?? findOpening(config) === undefined)
          ? createLedgerServer(embedded, ledgerLimitsOf(config))
          : undefined,
      isAdminToken,
      defaultApiKey: await provideDefaultWallet(
        config,
        wallets,
        tenants,
        (action, work) => audit.byItself(action, work),
        remembered.apiKey,
      ),
      openMailbox: async (token) => openMailbox(token) ?? aliases.find('mailbox', token),
      openStatusList,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw toStartError(error)
  }
}
