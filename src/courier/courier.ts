/**
 * The courier pays what wallets owe: messages, work and webhooks, at least once, in order within a lane.
 *
 * It holds no truth of its own. A commit wakes it by a call; after a crash it asks every wallet's file once.
 * Kill it anywhere: a debt that was not struck out is paid again, and the other side drops the double.
 */
import PQueue from 'p-queue'
import type { Log } from '../base/log.ts'
import { dueDeliveries } from '../outbox/lane.ts'
import { due } from '../outbox/outbox.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { deliver } from './deliver.ts'
import { pay } from './pay.ts'

/** Messages and webhooks on their way at a time; apart, so that slow receivers of events hold no message up. */
const messagesAtOnce = 64
const webhooksAtOnce = 128

/** What the courier knows of a wallet between two looks into its file. */
type Round = { isLooking: boolean; isWoken: boolean; lanes: Set<string>; timer?: NodeJS.Timeout }

export class Courier {
  readonly #wallets: Wallets
  readonly #log: Log
  readonly #rounds = new Map<string, Round>()
  readonly #messages = new PQueue({ concurrency: messagesAtOnce })
  readonly #webhooks = new PQueue({ concurrency: webhooksAtOnce })
  readonly #looking = new Set<Promise<void>>()
  #isStopped = false

  constructor(wallets: Wallets, log: Log) {
    this.#wallets = wallets
    this.#log = log
  }

  /** Looks into a wallet's file soon; calls in the meantime are one. */
  wake(walletId: string): void {
    if (this.#isStopped) return
    const round = this.#rounds.get(walletId) ?? { isLooking: false, isWoken: false, lanes: new Set() }
    this.#rounds.set(walletId, round)
    round.isWoken = true
    if (round.isLooking) return
    const look = this.#look(walletId, round).finally(() => this.#looking.delete(look))
    this.#looking.add(look)
  }

  /** Looks into every wallet once: what was owed when the agent last stopped. */
  async resume(): Promise<void> {
    for (const id of await this.#wallets.ids()) this.wake(id)
  }

  /** Starts nothing more, and waits for what is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    for (const { timer } of this.#rounds.values()) clearTimeout(timer)
    this.#messages.clear()
    this.#webhooks.clear()
    await Promise.all([...this.#looking, this.#messages.onIdle(), this.#webhooks.onIdle()])
  }

  async #look(walletId: string, round: Round): Promise<void> {
    round.isLooking = true
    try {
      while (round.isWoken && !this.#isStopped) {
        round.isWoken = false
        await this.#wallets.use(walletId, (wallet) => this.#start(wallet, round))
      }
    } catch (error) {
      this.#log.error({ err: error, walletId }, 'the courier could not read a wallet')
      this.#wakeAt(walletId, round, new Date(Date.now() + 5_000))
    } finally {
      round.isLooking = false
    }
  }

  async #start(wallet: Wallet, round: Round): Promise<void> {
    const debts = await due(wallet.db)
    const events = await dueDeliveries(wallet.db, wallet.id)
    for (const owing of debts.owing) this.#run(this.#messages, wallet.id, round, owing.lane, (open) => pay(open, owing))
    for (const delivery of events.deliveries) {
      this.#run(this.#webhooks, wallet.id, round, `webhook:${delivery.webhookId}`, (open) => deliver(open, delivery))
    }
    const nextAt = [debts.nextAt, events.nextAt].filter((at) => at !== undefined).toSorted((a, b) => a.getTime() - b.getTime())[0]
    if (nextAt) this.#wakeAt(wallet.id, round, nextAt)
  }

  /** Occupies a lane with one debt until that is paid or put off. */
  #run(queue: PQueue, walletId: string, round: Round, lane: string, task: (wallet: Wallet) => Promise<void>): void {
    if (round.lanes.has(lane)) return
    round.lanes.add(lane)
    void queue
      .add(() => this.#wallets.use(walletId, task))
      .then(
        () => this.#leave(walletId, round, lane),
        (error: unknown) => {
          this.#log.error({ err: error, walletId, lane }, 'a debt could not be struck out')
          setTimeout(() => this.#leave(walletId, round, lane), 1_000).unref()
        },
      )
  }

  #leave(walletId: string, round: Round, lane: string): void {
    round.lanes.delete(lane)
    this.wake(walletId)
  }

  #wakeAt(walletId: string, round: Round, at: Date): void {
    clearTimeout(round.timer)
    // Timers may fire a little early by the wall clock: one millisecond more, and the row is due.
    round.timer = setTimeout(() => this.wake(walletId), Math.max(1, at.getTime() - Date.now() + 1))
  }
}
