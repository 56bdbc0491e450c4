/** What the worker runs. The protocols supply it (`protocols/create-worker.ts`). */
import type { Delivered } from '../events/deliver.ts'
import type { Delivery } from '../events/deliveries.ts'
import type { Job } from './job.ts'

/** A flow to be ended, and the queue of its jobs, which must not run meanwhile. */
export type ExpiredFlow = { queue: string; recordId: string; protocol: string }

/** What the worker runs; each settles its own rows. */
export type Handlers<Wallet> = {
  /** Processes a job: deletes it with its result, or reschedules it. @throws {CrowdedError} when the destination has no free connection. */
  job(wallet: Wallet, job: Job): Promise<void>
  deliver(wallet: Wallet, delivery: Delivery): Promise<Delivered>
  /** Flows that have expired, at most `limit`, and when the next one expires, by `steadyNow` in milliseconds. */
  findExpired(wallet: Wallet, limit: number): Promise<{ expired: ExpiredFlow[]; nextAt?: number | undefined }>
  expire(wallet: Wallet, flow: ExpiredFlow): Promise<void>
  /** How long a flow may wait, in milliseconds. */
  flowLifetimeMs: number
}
