/**
 * Diagnoses a running agent, or a data folder without a running agent: a list of checks that run side by
 * side.
 */
import { steadyNow } from '../../foundation/clock.ts'
import { oidcSettingsOf } from '../../foundation/config/oidc.ts'
import { readRunning } from '../../foundation/running.ts'
import { isHttps } from '../../foundation/net/https.ts'
import { describeReach } from '../../foundation/net/reach.ts'
import type { Environment } from '../../wallet/environment.ts'
import type { Wallets } from '../../wallet/wallets.ts'
import { checkApiUrl, checkCertificate, checkDidcommUrl, checkLan } from './public-addresses.ts'
import { checkAddresses } from './connection-addresses.ts'
import { runChecks, type Diagnosis, type Finding } from './check.ts'
import { fetchTime, compareClocks } from './clock.ts'
import { checkBearerDeferral } from './bearer-deferral.ts'
import { checkIssuers } from './credential-issuers.ts'
import { checkDocumentElements } from './document-elements.ts'
import { checkDataFolder, checkDisk } from './data-folder.ts'
import { type Checks, type DatabaseChecks, openDatabaseChecks } from './database-checks.ts'
import { deepLimitMs, deepOptions, databaseFiles, toFilesFinding, checkFiles } from './database-files.ts'
import { checkHeldCredentials } from './held-credentials.ts'
import { checkIssuerCertificates } from './issuer-certificates.ts'
import { checkLedger } from './ledger.ts'
import { checkMasterKey } from './master-key.ts'
import { checkProvider } from './openid-provider.ts'
import { checkPackages } from './packages.ts'
import { checkOwnPorts, checkFreePorts } from './ports.ts'
import { surveyWallets, type Survey } from './survey.ts'
import { checkTrustLists } from './trust-lists.ts'
import { checkReceivers } from './webhook-receivers.ts'
import { checkMessages, checkOperations, checkRecords, checkWallets, checkWebhooks } from './waiting.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../foundation/config/config.ts'
import { openAgentDbToRead } from '../../foundation/storage/database.ts'
import { openAgent } from '../../foundation/storage/postgres/databases.ts'
import type { Self } from './nodes.ts'

/** The parts of an `Agent` that the checks use. */
type DiagnosedAgent = { env: Environment; wallets: Wallets; worker: { busy(): string[] } }

/** The longest checks with `isDeep`. */
const deepChecks = ['databases', 'wallet-seeds']

type Options = {
  limitMs?: number
  /** Has SQLite check every database file, or reads every wallet in PostgreSQL. */
  isDeep?: boolean
  /** This node, if there may be others. */
  self?: Self | undefined
}

/** Diagnoses a running agent. Each check takes `limitMs` at most. */
export async function diagnoseAgent(
  { env, wallets, worker }: DiagnosedAgent,
  { limitMs = 5_000, isDeep = false, self }: Options = {},
): Promise<Diagnosis> {
  const { config, db, ledger, urls, http, operatorHttp } = env
  const { AGENT_DATA_DIR: folder, AGENT_HOST: host, VDR_URL, GLOBAL_WEBHOOK_URL: globalUrl } = config
  const oidc = oidcSettingsOf(config)
  await using database = await openDatabaseChecks(config, { isRunning: true, isDeep, self })
  const busy = worker.busy()
  const survey = surveyWallets(wallets, busy)
  const filesCheck = {
    databases: async () => {
      const files = databaseFiles(config, [...new Set([...busy, ...(await wallets.ids())])], isDeep)
      return toFilesFinding(folder, await checkFiles(files, isDeep ? deepOptions : {}))
    },
  }
  const of = (check: (survey: Survey) => Finding | Promise<Finding>) => async () => check(await survey)
  const checks: Checks = {
    packages: () => Promise.resolve(checkPackages()),
    ports: () =>
      Promise.resolve(
        checkOwnPorts(portsOf(readRunning(folder) ?? { url: urls.rest, didcommUrl: urls.didcomm })),
      ),
    'data-folder': () => checkDataFolder(folder),
    disk: () => checkDisk(folder),
    'master-key': () => checkMasterKey(config, db),
    ...(database ? database.checks : filesCheck),
    ledger: () => checkLedger(ledger),
    'api-url': () => checkApiUrl(operatorHttp, urls.rest, host),
    'didcomm-url': () => checkDidcommUrl(operatorHttp, urls.didcomm, host),
    openid4vci: () => checkIssuers(operatorHttp, db, urls.rest),
    'document-elements': () => checkDocumentElements(db),
    'bearer-deferral': () => checkBearerDeferral(db),
    ...(oidc && { 'openid-provider': () => checkProvider(operatorHttp, oidc) }),
    ...(config.AGENT_LAN !== 'off' && { 'lan-address': () => Promise.resolve(checkLan(config.AGENT_LAN)) }),
    ...(isHttps(config) && { certificate: () => checkCertificate(config) }),
    'outgoing-calls': () => Promise.resolve({ status: 'ok', detail: describeReach(config) }),
    'known-address': async () => {
      const isReachable = async (address: string) =>
        (await checkDidcommUrl(operatorHttp, address)).status !== 'failed'
      return checkAddresses((await survey).addresses, urls.didcomm, isReachable)
    },
    clock: async () => {
      const ofLedger = VDR_URL?.startsWith('http') ? await fetchTime(operatorHttp, VDR_URL) : undefined
      const other = (await database?.readClock?.()) ?? ofLedger
      const { newest } = await survey
      return compareClocks({
        now: Date.now(),
        steady: steadyNow(),
        newest: newest === undefined ? undefined : Date.parse(newest),
        other,
      })
    },
    wallets: of(checkWallets),
    'issuer-certificates': of(({ certificates }) => checkIssuerCertificates(certificates)),
    'trust-lists': of(({ overdueLists }) => checkTrustLists(overdueLists)),
    'held-credentials': () => checkHeldCredentials(wallets),
    'did-operations': of(checkOperations),
    messages: of(checkMessages),
    records: of((found) => checkRecords(found, config.FLOW_EXPIRY * 1_000)),
    webhooks: of(checkWebhooks),
    'webhook-targets': of(({ webhooks }) => checkReceivers({ http, operatorHttp, globalUrl, webhooks })),
  }
  // The connections to the database close after the last check.
  return await runChecks(checks, (name) => (isDeep && deepChecks.includes(name) ? deepLimitMs : limitMs))
}

function portsOf({ url, didcommUrl }: { url: string; didcommUrl: string }) {
  const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80))
  return { api: portOf(new URL(url)), didcomm: portOf(new URL(didcommUrl)) }
}

/**
 * Diagnoses a data folder, the ports and the database of AGENT_DATABASE_URL, without changing anything.
 * `isDeep` as above.
 */
export async function diagnoseDataFolder(config: Config, isDeep = false): Promise<Diagnosis> {
  const limitMs = isDeep ? deepLimitMs : 10_000
  const folder = config.AGENT_DATA_DIR
  const isPresent = existsSync(folder)
  const packages = checkPackages()
  await using database = await openDatabaseChecks(config, { isRunning: false, isDeep })
  const isUsed = !database && existsSync(join(folder, 'agent.db')) && packages.status !== 'failed'
  const checks: Checks = {
    packages: () => Promise.resolve(packages),
    ports: () => checkFreePorts(config),
    'data-folder': () =>
      isPresent
        ? checkDataFolder(folder)
        : Promise.resolve({
            status: 'ok',
            detail: `The data folder ${folder} does not exist yet. The first start creates it.`,
          }),
    ...(isPresent && { disk: () => checkDisk(folder) }),
    ...(database && checksAtRest(database, config)),
    ...(isUsed && {
      'master-key': () => checkStoredMasterKey(config),
      databases: async () => {
        const ids = await readWalletIds(folder)
        const how = isDeep ? deepOptions : { timeMs: limitMs - 1_000 }
        const result = await checkFiles(databaseFiles(config, ids, isDeep), how)
        return toFilesFinding(folder, result)
      },
    }),
  }
  return await runChecks(checks, () => limitMs)
}

function checksAtRest({ checks, database, readClock }: DatabaseChecks, config: Config): Checks {
  return {
    ...(database && { 'master-key': () => checkMasterKey(config, openAgent(database.connections)) }),
    ...checks,
    ...(readClock && {
      clock: async () => compareClocks({ now: Date.now(), steady: steadyNow(), other: await readClock() }),
    }),
  }
}

async function checkStoredMasterKey(config: Config): Promise<Finding> {
  await using db = openAgentDbToRead(join(config.AGENT_DATA_DIR, 'agent.db'))
  return await checkMasterKey(config, db)
}

/** Empty when agent.db is damaged, which another check reports. */
async function readWalletIds(folder: string): Promise<string[]> {
  try {
    await using db = openAgentDbToRead(join(folder, 'agent.db'))
    return (await db.selectFrom('wallet').select('id').execute()).map(({ id }) => id)
  } catch {
    return []
  }
}
