/**
 * The courier pays what wallets owe: messages, work and webhooks, at least once, in order within a lane.
 *
 * It holds no truth of its own. A commit wakes it by a call; after a crash it asks every wallet's file once.
 * Kill it anywhere: a debt that was not struck out is paid again, and the other side drops the double.
 */
import { setTimeout } from 'node:timers/promises'
import PQueue from 'p-queue'
import type { Log } from '../base/log.ts'
import { dueDeliveries } from '../outbox/lane.ts'
import { due } from '../outbox/outbox.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { deliver } from './deliver.ts'
import { pay } from './pay.ts'

/** Debts and webhooks on their way at a time; apart, so that slow receivers of events hold no message up. */
const debtsAtOnce = 256
const webhooksAtOnce = 512

/** Debts of one wallet on their way at a time, so that other sides that never answer hold up no other tenant. */
const debtsOfWalletAtOnce = 16

/** Wallets looked into at a time after a start. */
const resumedAtOnce = 16

/** How long a stop waits for what is on its way. */
const graceMs = 2_000

/** How long a wallet that could not be read is left alone: the first time, and at most. */
const firstPatienceMs = 5_000
const longestPatienceMs = 300_000

/** The longest timer there is for Node.js, which fires a longer one at once. */
const longestTimerMs = 2 ** 31 - 1

/** What the courier knows of a wallet between two looks into its file: which lanes are occupied, how often it could not be read. */
type Round = {
  isLooking: boolean
  isWoken: boolean
  debts: Set<string>
  webhooks: Set<string>
  failures: number
  timer?: NodeJS.Timeout | undefined
}

export class Courier {
  readonly #wallets: Wallets
  readonly #log: Log
  readonly #rounds = new Map<string, Round>()
  readonly #debts = new PQueue({ concurrency: debtsAtOnce })
  readonly #webhooks = new PQueue({ concurrency: webhooksAtOnce })
  readonly #looking = new Set<Promise<void>>()
  #isStopped = false

  constructor(wallets: Wallets, log: Log) {
    this.#wallets = wallets
    this.#log = log
  }

  /** Looks into a wallet's file soon; calls in the meantime are one. */
  wake(walletId: string): void {
    void this.#wake(walletId)
  }

  /** The wallets that owe something, as far as the courier knows: it could not read them, is at it, or has set itself a time. */
  owing(): string[] {
    const isOwing = ({ isLooking, debts, webhooks, failures, timer }: Round) =>
      isLooking || debts.size + webhooks.size + failures > 0 || timer !== undefined
    return [...this.#rounds].filter(([, round]) => isOwing(round)).map(([id]) => id)
  }

  /** Begins to look into every wallet once, a few at a time: what was owed when the agent last stopped. */
  async resume(): Promise<void> {
    const ids = (await this.#wallets.ids()).values()
    const lookOn = async () => {
      for (const id of ids) await this.#wake(id)
    }
    for (let n = 0; n < resumedAtOnce; n++) void lookOn()
  }

  /** Starts nothing more, and waits a little for what is on its way; what takes longer stays owed, and is paid after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    for (const { timer } of this.#rounds.values()) clearTimeout(timer)
    this.#debts.clear()
    this.#webhooks.clear()
    const ended = Promise.all([...this.#looking, this.#debts.onIdle(), this.#webhooks.onIdle()])
    await Promise.race([ended, setTimeout(graceMs, undefined, { ref: false })])
  }

  /** Ends with the look that this call began, if it began one. */
  async #wake(walletId: string): Promise<void> {
    if (this.#isStopped) return
    const round = this.#rounds.get(walletId) ?? { isLooking: false, isWoken: false, debts: new Set(), webhooks: new Set(), failures: 0 }
    this.#rounds.set(walletId, round)
    round.isWoken = true
    if (round.isLooking) return
    const look = this.#look(walletId, round).finally(() => this.#looking.delete(look))
    this.#looking.add(look)
    await look
  }

  async #look(walletId: string, round: Round): Promise<void> {
    round.isLooking = true
    try {
      while (round.isWoken && !this.#isStopped) {
        round.isWoken = false
        await this.#wallets.use(walletId, (wallet) => this.#start(wallet, round))
      }
      round.failures = 0
    } catch (error) {
      this.#log.error({ err: error, walletId }, 'the courier could not read a wallet')
      const patienceMs = Math.min(longestPatienceMs, firstPatienceMs * 2 ** round.failures++)
      this.#wakeAt(walletId, round, new Date(Date.now() + patienceMs))
    } finally {
      round.isLooking = false
    }
  }

  async #start(wallet: Wallet, round: Round): Promise<void> {
    const { id } = wallet
    const debts = await due(wallet.db, new Date(), { busy: [...round.debts], limit: debtsOfWalletAtOnce - round.debts.size })
    for (const owing of debts.owing) this.#run(this.#debts, id, round.debts, owing.lane, (open) => pay(open, owing))
    const events = await dueDeliveries(wallet.db, id)
    for (const delivery of events.deliveries) {
      this.#run(this.#webhooks, id, round.webhooks, delivery.webhookId, (open) => deliver(open, delivery))
    }
    const nextAt = [debts.nextAt, events.nextAt].filter((at) => at !== undefined).toSorted((a, b) => a.getTime() - b.getTime())[0]
    if (nextAt) this.#wakeAt(id, round, nextAt)
  }

  /** Occupies a lane with one debt until that is paid or put off. */
  #run(queue: PQueue, walletId: string, occupied: Set<string>, lane: string, task: (wallet: Wallet) => Promise<void>): void {
    if (this.#isStopped || occupied.has(lane)) return
    occupied.add(lane)
    const leave = () => {
      occupied.delete(lane)
      this.wake(walletId)
    }
    queue
      .add(() => this.#wallets.use(walletId, task))
      .then(leave, async (error: unknown) => {
        if (this.#isStopped) return
        this.#log.error({ err: error, walletId, lane }, 'a debt could not be struck out')
        await setTimeout(firstPatienceMs, undefined, { ref: false })
        leave()
      })
  }

  #wakeAt(walletId: string, round: Round, at: Date): void {
    clearTimeout(round.timer)
    if (this.#isStopped) return
    // Timers may fire a little early by the wall clock: one millisecond more, and the row is due.
    const waitMs = Math.min(longestTimerMs, Math.max(1, at.getTime() - Date.now() + 1))
    round.timer = globalThis.setTimeout(() => {
      round.timer = undefined
      this.wake(walletId)
    }, waitMs)
  }
}
