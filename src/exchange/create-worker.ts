/** Creates the agent's worker: it processes the jobs of all protocols, delivers events and ends expired flows. */
import { toSteady } from '../foundation/clock.ts'
import type { Config } from '../foundation/config/config.ts'
import type { Log } from '../foundation/log.ts'
import { activeSpan, inSpan } from '../foundation/spans.ts'
import { deliver } from '../wallet/events/deliver.ts'
import type { WebhookSlots } from '../wallet/events/webhook-slots.ts'
import { NoFreeConnectionError } from '../foundation/net/destinations.ts'
import type { Job } from '../wallet/outbox/job.ts'
import { Worker } from '../wallet/outbox/worker.ts'
import type { Task, Wallet } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import type { Composition } from './engine/composition.ts'
import { expire, findExpired } from './engine/expiry.ts'
import { processJob } from './engine/process-job.ts'
import { queueOf } from './engine/record.ts'
import { jobSpan } from './engine/spans.ts'
import { composition } from './all-protocols.ts'

/**
 * `slots` bounds the requests to webhooks. `tasks` are those of flows outside of DIDComm, by the names that
 * jobs carry.
 */
export function createWorker(
  { FLOW_EXPIRY }: Pick<Config, 'FLOW_EXPIRY'>,
  wallets: Pick<Wallets, 'ids' | 'use'>,
  log: Log,
  { slots, tasks }: { slots?: WebhookSlots; tasks?: Readonly<Record<string, Task>> } = {},
): Worker<Wallet> {
  const all = { ...composition, tasks: { ...composition.tasks, ...tasks } }
  return new Worker<Wallet>(
    wallets,
    {
      job: (wallet, job) => runJob(wallet, job, all),
      deliver,
      async findExpired({ db }, limit) {
        const { expired, nextAt } = await findExpired(db, FLOW_EXPIRY, { limit })
        const flows = expired.map((flow) => ({ queue: queueOf(flow.recordId), ...flow }))
        return { expired: flows, ...(nextAt && { nextAt: toSteady(nextAt.getTime()) }) }
      },
      expire: (wallet, flow) =>
        inSpan(
          () => ({ name: 'expire flow', parent: null, attributes: { 'didcomm.protocol': flow.protocol } }),
          () => expire(wallet, flow, all),
        ),
      flowLifetimeMs: FLOW_EXPIRY * 1_000,
    },
    log,
    slots,
  )
}

/** Processes a job in a span. A full destination is not a failure of the job. */
async function runJob(wallet: Wallet, job: Job, all: Composition): Promise<void> {
  const full = await inSpan(
    () =>
      jobSpan(
        job,
        job.body.kind === 'message' ? all.threadOf({ id: job.id, ...job.body.message }) : undefined,
      ),
    () =>
      processJob(wallet, job, all).catch((error: unknown) => {
        if (!(error instanceof NoFreeConnectionError)) throw error
        activeSpan()?.event('no free connection')
        return error
      }),
  )
  if (full) throw full
}
