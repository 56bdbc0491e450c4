/** The examination of an agent that runs, from the inside: a list of small checks, side by side, each with its time. */
import type { Courier } from '../courier/courier.ts'
import type { Environment } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { checkApiUrl, checkDidcommUrl } from './address.ts'
import { run, type Diagnosis, type Finding } from './check.ts'
import { checkDataFolder } from './data-folder.ts'
import { checkLedger } from './ledger.ts'
import { surveyWallets, type Survey } from './survey.ts'
import { checkMessages, checkOperations, checkWallets, checkWebhooks } from './waiting.ts'

/** What is examined; an `Agent` is one. */
export type Patient = { env: Environment; wallets: Wallets; courier: Pick<Courier, 'owing'> }

/** Examines an agent; never throws for what it finds. `limitMs` is the longest that a check may take, and so about how long all take. */
export async function examine({ env, wallets, courier }: Patient, limitMs = 5_000): Promise<Diagnosis> {
  const { config, ledger, urls, operatorHttp } = env
  const survey = surveyWallets(wallets, courier.owing())
  const of = (judge: (survey: Survey) => Finding) => async () => judge(await survey)
  const checks: Readonly<Record<string, () => Promise<Finding>>> = {
    'data-folder': () => checkDataFolder(config.AGENT_DATA_DIR),
    ledger: () => checkLedger(ledger),
    'api-url': () => checkApiUrl(operatorHttp, urls.rest),
    'didcomm-url': () => checkDidcommUrl(operatorHttp, urls.didcomm),
    wallets: of(checkWallets),
    'did-operations': of(checkOperations),
    messages: of(checkMessages),
    webhooks: of(checkWebhooks),
  }
  return { checks: await Promise.all(Object.entries(checks).map(([name, check]) => run(name, check, limitMs))) }
}
