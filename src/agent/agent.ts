/** The composition root: creates every part of the agent once, in order, and closes all of them. */
import { createDefinitions } from '../credentials/anoncreds/environment.ts'
import type { Generator } from '../credentials/anoncreds/generator.ts'
import type { AuditLog } from '../wallet/audit/audit-log.ts'
import { createBackups, type Backups } from '../operations/backup/create.ts'
import { createFolderSource } from '../operations/backup/snapshot.ts'
import type { Config } from '../foundation/config/config.ts'
import { createBearerTokens, type BearerTokens } from '../wallet/bearer-tokens/bearer-tokens.ts'
import type { Log } from '../foundation/log.ts'
import { Metrics } from '../foundation/metrics.ts'
import { Notifier } from '../foundation/notifier.ts'
import { deriveSealKey } from '../foundation/seal.ts'
import { createTokenCheck } from '../foundation/api-key.ts'
import type { Secret } from '../foundation/secret.ts'
import { createScheduler, schedulerLimits, type Scheduler } from '../foundation/scheduler.ts'
import { createListReader } from '../wallet/credential-status/read.ts'
import { findWebDocument } from '../wallet/did-registrar/web.ts'
import { createEnterprise, type Enterprise } from '../exchange/enterprise/enterprise.ts'
import { createEnvironment } from './environment.ts'
import type { Mediator } from '../exchange/mediator/mediator.ts'
import { openMediatorRole } from './mediator-role.ts'
import { openAgentKeyAndAudit } from './key-and-audit.ts'
import { monitor } from './monitoring.ts'
import { findOpening } from '../foundation/net/reach.ts'
import type { Worker } from '../wallet/outbox/worker.ts'
import { createWorker } from '../exchange/create-worker.ts'
import { createRetention, type Retention } from '../exchange/retention.ts'
import { createReadiness, type Readiness } from '../operations/readiness.ts'
import { createFileStore, type Store } from './store.ts'
import { createRetrieval } from './short-link-content.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import { toStartError } from '../foundation/storage/file-errors.ts'
import { unlessElsewhere } from '../foundation/storage/transferred.ts'
import { transportTasks } from '../exchange/transports.ts'
import { createLedgerServer, ledgerLimitsOf, type LedgerServer } from '../did/ledger/ledger-server.ts'
import type { EmbeddedLedger } from '../did/ledger/sqlite-ledger.ts'
import { readEntry } from '../wallet/vdr-entries/entries.ts'
import { openWalletTransfer, type WalletTransfer } from '../operations/wallet-export/wallet-transfer.ts'
import { provideDefaultWallet } from '../wallet/default-wallet.ts'
import { deleteWallet, finishDeletions } from '../wallet/deletion.ts'
import type { Environment } from '../wallet/environment.ts'
import { createRotation, type Rotate } from '../wallet/key-rotation.ts'
import { createShortLinks } from '../wallet/short-links.ts'
import { Tenants } from '../wallet/tenants.ts'
import { createWalletTokens } from '../wallet/wallet-tokens.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { Wallets } from '../wallet/wallets.ts'

export type Agent = {
  readonly config: Config
  readonly log: Log
  readonly env: Environment
  readonly db: AgentDb
  readonly wallets: Wallets
  readonly tenants: Tenants
  /** Bearer tokens of the operator's OpenID provider, if they are accepted. */
  readonly bearerTokens: BearerTokens | undefined
  readonly audit: AuditLog
  /** Exports wallets to other agents and imports them. */
  readonly walletTransfer: WalletTransfer
  readonly rotateMasterKey: Rotate
  /** Deletes a wallet with its tenant. @throws {Problem} `WalletNotFound`, `Conflict` */
  readonly deleteWallet: (id: string) => Promise<void>
  /** Backups of all data. Closed before the servers, which wait for the backup under way. */
  readonly backups: Backups
  readonly worker: Worker<Wallet>
  readonly retention: Retention
  /**
   * Generates the keys of credential definitions. Closed before the servers, which wait for requests that
   * need such a key.
   */
  readonly definitions: Generator
  /** Decides which request of both servers runs next. */
  readonly scheduler: Scheduler
  /** Notifies event streams and waiting requests of commits. Closed before the servers, which wait for them. */
  readonly notifier: Notifier
  /** The mediator role, when this agent has it. */
  readonly mediator: Mediator | undefined
  /** Serves the embedded ledger to other agents. */
  readonly ledgerServer: LedgerServer | undefined
  readonly enterprise: Enterprise
  readonly readiness: Readiness
  /** The nodes of this agent, if it is over PostgreSQL. */
  readonly nodes: Store['nodes']
  /** Whether an `x-admin-api-key` is `ADMIN_TOKEN` or `ADMIN_TOKEN_PREVIOUS`. */
  readonly isAdminToken: (token: unknown) => boolean
  /** The `apikey` of the default wallet, if there is a default wallet. */
  readonly defaultApiKey: Secret | undefined
  /** The key by which the nodes of this agent know each other. */
  readonly getPeerKey: () => Uint8Array
  [Symbol.asyncDispose](): Promise<void>
}

/** Values of an earlier start that the profile of the command line keeps. */
export type Remembered = { apiKey?: string | undefined }

/**
 * Opens the data folder of an agent, which must exist, and everything in it.
 *
 * `urls` are the public base URLs, known once the servers are bound. Only digests of the administrator's
 * tokens are kept; without a token, no request is the administrator's.
 *
 * @throws {StartError} when the master key does not belong to the folder, or when a shared file is damaged or
 * of a newer release.
 */
export async function createAgent(
  given: Config,
  log: Log,
  urls: Environment['urls'],
  remembered: Remembered = {},
  store: Store = createFileStore(given),
): Promise<Agent> {
  const { ADMIN_TOKEN, ADMIN_TOKEN_PREVIOUS } = given
  const adminTokens = [ADMIN_TOKEN, ADMIN_TOKEN_PREVIOUS].filter((token) => token !== undefined)
  const config: Config = { ...given, ADMIN_TOKEN: undefined, ADMIN_TOKEN_PREVIOUS: undefined }
  const closers: (() => unknown)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    const db = await store.openAgent()
    closers.push(() => db.destroy())
    const { agentKey, audit } = await openAgentKeyAndAudit(config, store, db, log)
    closers.push(() => audit[Symbol.asyncDispose]())
    closers.push(() => agentKey.fill(0))
    const metrics = new Metrics(config.METRICS_ENABLED)
    const parts = await createParts({ config, log, metrics, urls, db, agentKey, store }, closers)
    const { wallets, tenants } = parts
    const defaultApiKey = await provideDefaultWallet(
      config,
      wallets,
      tenants,
      (action, work) => audit.byItself(action, work),
      remembered.apiKey,
    )
    const scheduler = createScheduler(schedulerLimits(config))
    const readiness = createReadiness({ config, db, worker: parts.worker, nodes: store.nodes })
    monitor({ ...parts, config, db, scheduler, readiness })
    return {
      ...parts,
      config,
      log,
      db,
      audit,
      scheduler,
      readiness,
      nodes: store.nodes,
      isAdminToken: createTokenCheck(adminTokens),
      defaultApiKey,
      getPeerKey: () => deriveSealKey(agentKey, 'nodes'),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw toStartError(error)
  }
}

type Base = Pick<Environment, 'config' | 'log' | 'metrics' | 'urls' | 'db'> & {
  store: Store
  agentKey: Uint8Array
}

/** Creates the wallets and everything that works on them. */
async function createParts({ agentKey, store, ...base }: Base, closers: (() => unknown)[]) {
  const { config, log, urls, db } = base
  const { ownership } = store
  const tokens = await createWalletTokens(agentKey, db, { isShared: ownership.name !== '' })
  const notifier = createNotifier(store, closers)
  const { env, embeddedLedger } = await createEnvironment(
    {
      ...base,
      store,
      tokens,
      shortLinks: createShortLinks(agentKey, db, tokens),
      findHostedDocument: (did) => unlessElsewhere(findWebDocument(db, wallets, did)),
      getStatusList: (url, type) => readList(url, type),
      retrieve: (url) => retrieve(url),
      onCommit(walletId, changes) {
        for (const topic of changes) notifier.notify(topic, walletId)
        worker.wake(walletId, changes)
      },
    },
    closers,
  )
  const wallets = new Wallets(env, db, agentKey, store.wallets)
  closers.push(() => wallets[Symbol.asyncDispose]())
  const own = { openListId: (id: string) => tokens.findWalletId('status-list', id), wallets }
  const readList = createListReader({ http: env.http, readEntry: (url) => readEntry(env, url), ...own })
  const retrieve = createRetrieval(env, wallets)
  const { writeBarrier } = env
  const folder = { dataDir: config.AGENT_DATA_DIR, writeBarrier, isOpen: (id: string) => wallets.isOpen(id) }
  const backups = createBackups(config, agentKey, store.backupSource ?? createFolderSource(folder))
  closers.push(() => backups[Symbol.asyncDispose]())
  await finishDeletions({ db, wallets }, ownership.owns)
  const tenants = new Tenants(db, agentKey, store.broadcast)
  closers.push(() => tenants.keys.close())
  const worker = createWorker(config, wallets, log, { tasks: transportTasks })
  closers.push(() => worker[Symbol.asyncDispose]())
  const retention = createRetention(config, wallets, log)
  closers.push(() => retention[Symbol.asyncDispose]())
  const definitions = createDefinitions(config, db, log, wallets, ownership.owns)
  closers.push(() => definitions.close())
  definitions.wake()
  ownership.onGain((owns) => {
    void worker.resume(owns)
    definitions.wake()
    void finishDeletions({ db, wallets }, owns).catch((error: unknown) =>
      log.error({ err: error }, 'a deletion was not completed'),
    )
  })
  const mediator = await openMediatorRole(env, agentKey, store, closers)
  const wake = (walletId: string) => {
    env.onCommit(walletId, ['jobs', 'events'])
    definitions.wake()
  }
  const walletTransfer = await openWalletTransfer({ db, agentKey, wallets, tokens, log, wake })
  const rotateMasterKey = createRotation(config, db, agentKey)
  const ledgerServer = createServerOf(embeddedLedger, config)
  return {
    env,
    wallets,
    tenants,
    bearerTokens: createBearerTokens(config, env.operatorHttp),
    walletTransfer,
    rotateMasterKey,
    deleteWallet: (id: string) => deleteWallet({ db, wallets, tenants, env, wake }, id),
    backups,
    worker,
    retention,
    definitions,
    notifier,
    mediator,
    enterprise: createEnterprise(config, agentKey, { url: urls.rest }),
    ledgerServer,
  }
}

function createNotifier({ ownership }: Store, closers: (() => unknown)[]): Notifier {
  const notifier = new Notifier()
  closers.push(() => notifier.close())
  ownership.onLoss((owns) => Promise.resolve(notifier.closeUnowned(owns)))
  return notifier
}

/** Only an embedded ledger is served: agents that forward to each other's ledgers could forward in a circle. */
function createServerOf(
  embeddedLedger: EmbeddedLedger | undefined,
  config: Config,
): LedgerServer | undefined {
  const isServed = config.VDR_SERVE ?? findOpening(config) === undefined
  return embeddedLedger && isServed ? createLedgerServer(embeddedLedger, ledgerLimitsOf(config)) : undefined
}
