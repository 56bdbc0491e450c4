/** The examination of an agent that runs, from the inside: a list of small checks, side by side, each with its time. */
import { steadyNow } from '../base/clock.ts'
import { readRunning } from '../base/running.ts'
import { describeReach } from '../net/reach.ts'
import type { Environment } from '../wallet/environment.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { checkApiUrl, checkDidcommUrl } from './public-addresses.ts'
import { checkAddresses } from './connection-addresses.ts'
import { run, type Diagnosis, type Finding } from './check.ts'
import { askTime, judgeClock } from './clock.ts'
import { checkDataFolder, checkDisk } from './data-folder.ts'
import { deepLimitMs, deepLook, filesOf, judgeFiles, lookThrough } from './database-files.ts'
import { checkLedger } from './ledger.ts'
import { checkMasterKey } from './master-key.ts'
import { checkOwnPorts, checkFreePorts } from './ports.ts'
import { surveyWallets, type Survey } from './survey.ts'
import { checkTargets } from './webhook-receivers.ts'
import { checkMessages, checkOperations, checkRecords, checkWallets, checkWebhooks } from './waiting.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../base/config.ts'
import { openAgentDbToRead } from '../storage/database.ts'

/** What is examined; an `Agent` is one. */
export type Patient = { env: Environment; wallets: Wallets; worker: { busy(): string[] } }

/** Examines an agent. The checks run side by side, each for `limitMs` at most. A deep examination checks every database file, however long it takes. */
export async function examine(
  { env, wallets, worker }: Patient,
  { limitMs = 5_000, isDeep = false }: { limitMs?: number; isDeep?: boolean } = {},
): Promise<Diagnosis> {
  const { config, db, ledger, urls, http, operatorHttp } = env
  const { AGENT_DATA_DIR: folder, AGENT_HOST: host, VDR_URL, GLOBAL_WEBHOOK_URL: globalUrl } = config
  const busy = worker.busy()
  const survey = surveyWallets(wallets, busy)
  const of = (judge: (survey: Survey) => Finding | Promise<Finding>) => async () => judge(await survey)
  const checks: Readonly<Record<string, () => Promise<Finding>>> = {
    ports: () =>
      Promise.resolve(
        checkOwnPorts(portsOf(readRunning(folder) ?? { url: urls.rest, didcommUrl: urls.didcomm })),
      ),
    'data-folder': () => checkDataFolder(folder),
    disk: () => checkDisk(folder),
    'master-key': () => checkMasterKey(config, db),
    databases: async () => {
      const ids = [...new Set([...busy, ...(await wallets.ids())])]
      return judgeFiles(folder, await lookThrough(filesOf(config, ids, isDeep), isDeep ? deepLook : {}))
    },
    ledger: () => checkLedger(ledger),
    'api-url': () => checkApiUrl(operatorHttp, urls.rest, host),
    'didcomm-url': () => checkDidcommUrl(operatorHttp, urls.didcomm, host),
    'outgoing-calls': () => Promise.resolve({ status: 'ok', detail: describeReach(config) }),
    'known-address': async () => {
      const isReachable = async (address: string) =>
        (await checkDidcommUrl(operatorHttp, address)).status !== 'failed'
      return checkAddresses((await survey).addresses, urls.didcomm, isReachable)
    },
    clock: async () => {
      const other = VDR_URL?.startsWith('http') ? await askTime(operatorHttp, VDR_URL) : undefined
      const { newest } = await survey
      return judgeClock({
        now: Date.now(),
        steady: steadyNow(),
        newest: newest === undefined ? undefined : Date.parse(newest),
        other,
      })
    },
    wallets: of(checkWallets),
    'did-operations': of(checkOperations),
    messages: of(checkMessages),
    records: of((found) => checkRecords(found, config.FLOW_EXPIRY * 1_000)),
    webhooks: of(checkWebhooks),
    'webhook-targets': of(({ webhooks }) => checkTargets({ http, operatorHttp, globalUrl, webhooks })),
  }
  return {
    checks: await Promise.all(
      Object.entries(checks).map(([name, check]) =>
        run(name, check, isDeep && name === 'databases' ? deepLimitMs : limitMs),
      ),
    ),
  }
}

function portsOf({ url, didcommUrl }: { url: string; didcommUrl: string }) {
  const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80))
  return { api: portOf(new URL(url)), didcomm: portOf(new URL(didcommUrl)) }
}

/** Examines a folder, each check for `limitMs` at most. A deep examination checks every database file. */
export async function diagnoseDataFolder(config: Config, isDeep = false): Promise<Diagnosis> {
  const limitMs = isDeep ? deepLimitMs : 10_000
  const folder = config.AGENT_DATA_DIR
  const isThere = existsSync(folder)
  const isUsed = existsSync(join(folder, 'agent.db'))
  const checks: Readonly<Record<string, () => Promise<Finding>>> = {
    ports: () => checkFreePorts(config),
    'data-folder': () =>
      isThere
        ? checkDataFolder(folder)
        : Promise.resolve({
            status: 'ok',
            detail: `There is no data folder ${folder} yet; the first start makes it.`,
          }),
    ...(isThere && { disk: () => checkDisk(folder) }),
    ...(isUsed && {
      'master-key': () => checkKeyAtRest(config),
      databases: async () => {
        const ids = await readWalletIds(folder)
        const how = isDeep ? deepLook : { timeMs: limitMs - 1_000 }
        const looked = await lookThrough(filesOf(config, ids, isDeep), how)
        return judgeFiles(folder, looked)
      },
    }),
  }
  return {
    checks: await Promise.all(Object.entries(checks).map(([name, check]) => run(name, check, limitMs))),
  }
}

async function checkKeyAtRest(config: Config): Promise<Finding> {
  await using db = openAgentDbToRead(join(config.AGENT_DATA_DIR, 'agent.db'))
  return await checkMasterKey(config, db)
}

/** None of a file that is damaged, which is found out when it is looked through. */
async function readWalletIds(folder: string): Promise<string[]> {
  try {
    await using db = openAgentDbToRead(join(folder, 'agent.db'))
    return (await db.selectFrom('wallet').select('id').execute()).map(({ id }) => id)
  } catch {
    return []
  }
}
