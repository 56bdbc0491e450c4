/**
 * The courier pays what wallets owe: messages, work and webhooks, at least once, in order within a lane. It also ends flows that have
 * waited for too long, in the lane of their record, so that nothing of theirs is on its way meanwhile.
 *
 * It holds no truth of its own. A commit wakes it by a call; after a crash it asks every wallet's file once.
 * Kill it anywhere: a debt that was not struck out is paid again, and the other side drops the double.
 */
import { setTimeout } from 'node:timers/promises'
import PQueue from 'p-queue'
import { steadyNow, toSteady } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { CrowdedError } from '../net/destinations.ts'
import { dueDeliveries } from '../outbox/lane.ts'
import type { News } from '../outbox/news.ts'
import { due } from '../outbox/outbox.ts'
import { expire } from '../protocols/expire.ts'
import { findExpired } from '../protocols/expiry.ts'
import { laneOf, recordOf } from '../protocols/record.ts'
import { hasMoved } from '../storage/moved.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { deliver } from './deliver.ts'
import { pay } from './pay.ts'
import { Places } from './places.ts'
import { freeFor, newRound, type Round } from './round.ts'

/** Debts on their way at a time. Webhooks have places of their own, so that slow receivers of events hold no message up. */
const debtsAtOnce = 256

/** Wallets looked into at a time after a start. */
const resumedAtOnce = 16

/** How long a stop waits for what is on its way. */
const graceMs = 2_000

/** How long a wallet that could not be read, or written to, is left alone: the first time, and at most. */
const firstPatienceMs = 500
const longestPatienceMs = 300_000

/** How long the courier relies on what it knows of when a flow will have waited for too long: the system's clock may be set meanwhile. */
const expiryLookMs = 3_600_000

/** The longest timer there is for Node.js, which fires a longer one at once. */
const longestTimerMs = 2 ** 31 - 1

export class Courier {
  readonly #wallets: Wallets
  readonly #log: Log
  readonly #rounds = new Map<string, Round>()
  readonly #debts = new PQueue({ concurrency: debtsAtOnce })
  readonly #webhooks: Places
  readonly #looking = new Set<Promise<void>>()
  #isStopped = false

  constructor(wallets: Wallets, log: Log, webhooks = new Places()) {
    this.#wallets = wallets
    this.#log = log
    this.#webhooks = webhooks
  }

  /** Looks into a wallet's file soon, for what may be new there: everything, unless somebody knows better; calls in the meantime are one. */
  wake(walletId: string, news?: News): void {
    void this.#wake(walletId, news)
  }

  /** The wallets that owe something, as far as the courier knows: it could not read them, is at it, or has put something off. */
  owing(): string[] {
    const isAtIt = ({ isLooking, debts, webhooks, failures }: Round) => isLooking || debts.size + webhooks.size + failures > 0
    return [...this.#rounds].filter(([, round]) => isAtIt(round) || round.debtsAt || round.eventsAt).map(([id]) => id)
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
  async #wake(walletId: string, news?: News): Promise<void> {
    if (this.#isStopped) return
    const round = this.#rounds.get(walletId) ?? newRound()
    this.#rounds.set(walletId, round)
    if (!news) round.expiryLookedAt = -Infinity
    const { debts, events } = news ?? { debts: true, events: true }
    if (debts) round.heard.debts++
    if (events) round.heard.events++
    round.woken = { debts: debts || round.woken?.debts === true, events: events || round.woken?.events === true }
    if (round.isLooking) return
    const look = this.#look(walletId, round).finally(() => this.#looking.delete(look))
    this.#looking.add(look)
    await look
  }

  async #look(walletId: string, round: Round): Promise<void> {
    round.isLooking = true
    try {
      for (let { woken } = round; woken && !this.#isStopped; { woken } = round) {
        const news = woken
        round.woken = undefined
        await this.#wallets.use(walletId, (wallet) => this.#start(wallet, round, news))
      }
      round.failures = 0
    } catch (error) {
      // What it owes is paid where it goes on; if that is here, somebody wakes it.
      if (hasMoved(error)) return
      this.#log.error({ err: error, walletId }, 'the courier could not read a wallet')
      const patienceMs = Math.min(longestPatienceMs, firstPatienceMs * 2 ** round.failures++)
      this.#wakeAt(walletId, round, steadyNow() + patienceMs)
    } finally {
      round.isLooking = false
    }
  }

  async #start(wallet: Wallet, round: Round, { debts, events }: News): Promise<void> {
    // First: what is owed for a flow that is over is not to be paid any more.
    await this.#expire(wallet, round)
    if (debts) await this.#payDue(wallet, round)
    if (events) await this.#deliverDue(wallet, round)
    const times = [round.debtsAt?.getTime(), round.eventsAt?.getTime(), round.expiresAt].filter((at) => at !== undefined)
    if (times.length > 0) this.#wakeAt(wallet.id, round, Math.min(...times))
  }

  /** Begins to pay debts that are due. A lane that is left has the rest looked for. */
  async #payDue({ id, db }: Wallet, round: Round): Promise<void> {
    const free = freeFor(round)
    // A lane that is left has it looked for; a time that is over would wake us all the while.
    round.debtsAt = undefined
    if (free === 0) return
    const heard = round.heard.debts
    const { owing, nextAt } = await due(db, new Date(steadyNow()), { busy: [...round.debts], limit: free })
    const isAll = owing.length < free
    for (const debt of owing) {
      // Work leads to more; and a flow that has waited for too long is ended once its lane is left.
      const isAlone = isAll && debt.isLast && debt.debt.kind === 'message'
      const isEnd = () => isAlone && round.heard.debts === heard && round.expiryLookedAt !== -Infinity
      this.#pay(id, round, debt.lane, (open) => pay(open, debt), isEnd)
    }
    round.debtsAt = nextAt
  }

  /** Begins to deliver events that are due. */
  async #deliverDue({ id, db }: Wallet, round: Round): Promise<void> {
    const heard = round.heard.events
    const { deliveries, nextAt } = await dueDeliveries(db, id, { busy: [...round.webhooks] })
    for (const delivery of deliveries) {
      const { webhookId } = delivery
      const begin = () => this.#webhooks.run(`${id} ${webhookId}`, () => this.#wallets.use(id, (open) => deliver(open, delivery)))
      this.#occupy(id, round, 'webhooks', webhookId, begin, () => delivery.isLast && round.heard.events === heard)
    }
    round.eventsAt = nextAt
  }

  /** Ends flows that have waited for too long, when there can be any: one that has begun, or gone on, since the last look has its whole time. */
  async #expire(wallet: Wallet, round: Round): Promise<void> {
    const free = freeFor(round)
    if (free === 0) {
      round.expiryLookedAt = -Infinity
      round.expiresAt = undefined
      return
    }
    const lifetime = wallet.env.config.FLOW_EXPIRY
    const now = steadyNow()
    if (now < Math.min(round.expiryLookedAt + Math.min(expiryLookMs, lifetime * 1_000), round.expiresAt ?? Infinity)) {
      round.expiresAt ??= round.expiryLookedAt + lifetime * 1_000
      return
    }
    const busy = new Set([...round.debts].map(recordOf))
    const { expired, nextAt } = await findExpired(wallet.db, lifetime, { limit: free + busy.size })
    const idle = expired.filter(({ recordId }) => !busy.has(recordId)).slice(0, free)
    for (const flow of idle) this.#pay(wallet.id, round, laneOf(flow.recordId), (open) => expire(open, flow))
    // A lane that is left has the rest looked for.
    round.expiryLookedAt = expired.length > 0 ? -Infinity : now
    round.expiresAt = nextAt && toSteady(nextAt.getTime())
  }

  #pay(walletId: string, round: Round, lane: string, task: (wallet: Wallet) => Promise<unknown>, isEnd?: () => boolean): void {
    this.#occupy(walletId, round, 'debts', lane, () => this.#debts.add(() => this.#wallets.use(walletId, task)), isEnd)
  }

  /**
   * Occupies a lane with one debt until that is paid or put off, and then looks for the next one: unless it was paid and `isEnd` says that there is
   * nothing more to be found.
   */
  #occupy(
    walletId: string,
    round: Round,
    kind: 'debts' | 'webhooks',
    lane: string,
    begin: () => Promise<unknown>,
    isEnd: () => boolean = () => false,
  ): void {
    const occupied = round[kind]
    if (this.#isStopped || occupied.has(lane)) return
    occupied.add(lane)
    const leave = (isPaid = false) => {
      occupied.delete(lane)
      round.crowded.delete(lane)
      if (isPaid && isEnd()) return
      this.wake(walletId, { debts: kind === 'debts', events: kind === 'webhooks' })
    }
    const end = (isPaid: unknown) => leave(isPaid === true)
    begin().then(end, async (error: unknown) => {
      if (this.#isStopped) return
      if (hasMoved(error)) return leave()
      if (error instanceof CrowdedError) {
        round.crowded.add(lane)
        // What goes elsewhere has the room now.
        this.wake(walletId, { debts: true, events: false })
        await error.free
        return leave()
      }
      this.#log.error({ err: error, walletId, lane }, 'a debt could not be struck out')
      await setTimeout(firstPatienceMs, undefined, { ref: false })
      leave()
    })
  }

  #wakeAt(walletId: string, round: Round, at: number): void {
    clearTimeout(round.timer)
    if (this.#isStopped) return
    // Timers may fire a little early: one millisecond more, and the row is due.
    const waitMs = Math.min(longestTimerMs, Math.max(1, at - steadyNow() + 1))
    round.timer = globalThis.setTimeout(() => {
      round.timer = undefined
      this.wake(walletId)
    }, waitMs)
  }
}
