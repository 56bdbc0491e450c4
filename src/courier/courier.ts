/**
 * The courier pays what wallets owe: messages, work and webhooks, at least once, in order within a lane. It also ends flows that have
 * waited for too long, in the lane of their record, so that nothing of theirs is on its way meanwhile.
 *
 * It holds no truth of its own. A commit wakes it by a call, and says what is new; after a crash it asks every wallet's file once.
 * Kill it anywhere: a debt that was not struck out is paid again, and the other side drops the double.
 */
import { setTimeout } from 'node:timers/promises'
import PQueue from 'p-queue'
import { steadyNow } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { CrowdedError } from '../net/destinations.ts'
import type { Owing } from '../outbox/debt.ts'
import type { Delivery } from '../outbox/lane.ts'
import type { News } from '../outbox/news.ts'
import { due } from '../outbox/outbox.ts'
import { expire } from '../protocols/expire.ts'
import type { Expired } from '../protocols/expiry.ts'
import { laneOf } from '../protocols/record.ts'
import { hasMoved } from '../storage/moved.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Wallets } from '../wallet/wallets.ts'
import { deliver } from './deliver.ts'
import { findOver, isTimed } from './expiry.ts'
import { hearDebts, hearEvents, toTold, unread, type Lane } from './lanes.ts'
import { pay } from './pay.ts'
import { Places } from './places.ts'
import { freeFor, newRound, nextTime, type Round, type Wanted } from './round.ts'
import { findDeliveries, rememberUntil } from './telling.ts'

/** Debts on their way at a time. Webhooks have places of their own, so that slow receivers of events hold no message up. */
const debtsAtOnce = 256

/** Wallets looked into at a time after a start. */
const resumedAtOnce = 16

/** How long a stop waits for what is on its way. */
const graceMs = 2_000

/** How long a wallet that could not be read, or written to, is left alone: the first time, and at most. */
const firstPatienceMs = 500
const longestPatienceMs = 300_000

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

  /** Begins with what is new in a wallet, or looks for it in its file soon: for everything, unless somebody knows better; calls in the meantime are one look. */
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
    await Promise.race([this.#onIdle(), setTimeout(graceMs, undefined, { ref: false })])
  }

  async #onIdle(): Promise<void> {
    await Promise.all([...this.#looking, this.#debts.onIdle(), this.#webhooks.onIdle()])
    await Promise.all([...this.#rounds.values()].flatMap(({ noting }) => [...noting.values()]))
  }

  async #wake(walletId: string, news?: News): Promise<void> {
    if (this.#isStopped) return
    const round = this.#rounds.get(walletId) ?? newRound()
    this.#rounds.set(walletId, round)
    if (!news) round.expiryLookedAt = -Infinity
    const { debts, events }: News = !news ? { debts: 'look', events: 'look' } : isTimed(round) ? news : unread(news)
    const isPaying = hearDebts(round, debts, (item) => void this.#payInTurn(walletId, round, item.lane, { item, rest: [], isAll: true }))
    const isTelling = hearEvents(round, events, walletId, (lane) => void this.#deliverInTurn(walletId, round, lane))
    if (!isPaying || !isTelling) await this.#lookFor(walletId, round, { debts: !isPaying, events: !isTelling })
  }

  /** Looks into a wallet's file, or has whoever is at it look once more. */
  async #lookFor(walletId: string, round: Round, { debts, events }: Wanted): Promise<void> {
    if (this.#isStopped) return
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
        const wanted = woken
        round.woken = undefined
        await this.#wallets.use(walletId, (wallet) => this.#start(wallet, round, wanted))
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

  async #start(wallet: Wallet, round: Round, { debts, events }: Wanted): Promise<void> {
    for (const item of await findOver(wallet, round))
      void this.#payInTurn(wallet.id, round, laneOf(item.recordId), { item, rest: [], isAll: false })
    if (debts) await this.#payDue(wallet, round)
    if (events) await findDeliveries(wallet, round, (lane) => void this.#deliverInTurn(wallet.id, round, lane))
    const at = nextTime(round)
    if (at !== undefined) this.#wakeAt(wallet.id, round, at)
  }

  /** Begins to pay debts that are due. */
  async #payDue({ id, db }: Wallet, round: Round): Promise<void> {
    const free = freeFor(round)
    // A lane that is left has the rest looked for; a time that is over would wake us all the while.
    round.debtsAt = undefined
    round.hasMore = true
    if (free === 0) return
    const { heard } = round
    const before = heard.debts
    const { owing, nextAt } = await due(db, new Date(steadyNow()), { busy: [...round.debts.keys()], limit: free })
    round.hasMore = owing.length === free
    for (const { isLast, ...item } of owing) {
      const isAll = isLast && heard.debts === before
      void this.#payInTurn(id, round, item.lane, { item, rest: [], isAll })
    }
    round.debtsAt = nextAt
  }

  /** Goes through the debts of a lane, unless somebody is at it: pays them, or ends the flow that they are of. */
  async #payInTurn(walletId: string, round: Round, name: string, lane: Lane<Owing | Expired>): Promise<void> {
    if (this.#isStopped || round.debts.has(name)) return
    round.debts.set(name, lane)
    const begin = (item: Owing | Expired) =>
      this.#debts.add<unknown>(() =>
        this.#wallets.use<unknown>(walletId, (wallet) => ('debt' in item ? pay(wallet, item) : expire(wallet, item))),
      )
    const isEnd = await this.#goThrough(walletId, round, name, lane, begin)
    round.debts.delete(name)
    round.crowded.delete(name)
    // Work leads to more.
    const isPaid = isEnd && 'debt' in lane.item && lane.item.debt.kind === 'message'
    if (!isPaid || round.hasMore) void this.#lookFor(walletId, round, { debts: true, events: false })
  }

  /** Delivers events to a webhook, unless somebody is at it, as debts are paid. */
  async #deliverInTurn(walletId: string, round: Round, lane: Lane<Delivery>): Promise<void> {
    const { webhookId: name } = lane.item
    if (this.#isStopped || round.webhooks.has(name)) return
    round.webhooks.set(name, lane)
    const begin = (delivery: Delivery) =>
      this.#webhooks.run(`${walletId} ${name}`, () =>
        this.#wallets.use(walletId, async (wallet) => {
          const { isTaken, noted } = await deliver(wallet, delivery)
          if (noted) this.#keep(walletId, name, rememberUntil(noted, round, name))
          return isTaken
        }),
      )
    const isEnd = await this.#goThrough(walletId, round, name, lane, begin)
    round.webhooks.delete(name)
    round.heard.events++
    if (isEnd && round.told) round.told.set(name, toTold(lane.item))
    else void this.#lookFor(walletId, round, { debts: false, events: true })
  }

  /** Keeps a wallet open until a delivery is written down. */
  #keep(walletId: string, lane: string, noted: Promise<void>): void {
    noted.catch(
      (error: unknown) => hasMoved(error) || this.#log.error({ err: error, walletId, lane }, 'a delivery could not be written down'),
    )
    this.#wallets.use(walletId, () => noted).catch(() => undefined)
  }

  /** Does what occupies a lane, and what is known to come after it, as long as each is done. Returns whether nothing else can be in the lane. */
  async #goThrough<T>(walletId: string, round: Round, name: string, lane: Lane<T>, begin: (item: T) => Promise<unknown>): Promise<boolean> {
    while ((await this.#attempt(walletId, round, name, () => begin(lane.item))) && !this.#isStopped && isTimed(round)) {
      const next = lane.rest.shift()
      if (next === undefined) return lane.isAll
      lane.item = next
    }
    return false
  }

  /** Does one thing. Returns whether it is done. */
  async #attempt(walletId: string, round: Round, lane: string, begin: () => Promise<unknown>): Promise<boolean> {
    try {
      return (await begin()) === true
    } catch (error) {
      if (this.#isStopped || hasMoved(error)) return false
      if (error instanceof CrowdedError) {
        round.crowded.add(lane)
        // What goes elsewhere has the room now.
        void this.#lookFor(walletId, round, { debts: true, events: false })
        await error.free
        return false
      }
      this.#log.error({ err: error, walletId, lane }, 'a debt could not be struck out')
      await setTimeout(firstPatienceMs, undefined, { ref: false })
      return false
    }
  }

  #wakeAt(walletId: string, round: Round, at: number): void {
    clearTimeout(round.timer)
    if (this.#isStopped) return
    // Timers may fire a little early: one millisecond more, and the row is due.
    const waitMs = Math.min(longestTimerMs, Math.max(1, at - steadyNow() + 1))
    round.timer = globalThis.setTimeout(() => {
      round.timer = undefined
      round.expiryLookedAt = -Infinity
      void this.#lookFor(walletId, round, { debts: true, events: true })
    }, waitMs)
  }
}
