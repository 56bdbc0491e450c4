/** Creates the agent's worker: it processes the jobs of all protocols, delivers events and ends expired flows. */
import { toSteady } from '../base/clock.ts'
import type { Config } from '../base/config.ts'
import type { Log } from '../base/log.ts'
import { deliver } from '../events/deliver.ts'
import type { WebhookSlots } from '../events/webhook-slots.ts'
import { Worker } from '../outbox/worker.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { expire, findExpired } from './engine/expiry.ts'
import { processJob } from './engine/process-job.ts'
import { queueOf } from './engine/record.ts'

/** `slots` bounds the requests to webhooks. */
export function createWorker(
  { FLOW_EXPIRY }: Pick<Config, 'FLOW_EXPIRY'>,
  wallets: Pick<Wallets, 'ids' | 'use'>,
  log: Log,
  slots?: WebhookSlots,
): Worker<Wallet> {
  return new Worker<Wallet>(
    wallets,
    {
      job: processJob,
      deliver,
      async findExpired({ db }, limit) {
        const { expired, nextAt } = await findExpired(db, FLOW_EXPIRY, { limit })
        const flows = expired.map((flow) => ({ queue: queueOf(flow.recordId), ...flow }))
        return { expired: flows, ...(nextAt && { nextAt: toSteady(nextAt.getTime()) }) }
      },
      expire,
      flowLifetimeMs: FLOW_EXPIRY * 1_000,
    },
    log,
    slots,
  )
}
