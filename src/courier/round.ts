/** What the courier knows of one wallet between two looks into its file. */
import type { Owing } from '../outbox/debt.ts'
import type { Delivery, Told } from '../outbox/lane.ts'
import type { Expired } from '../protocols/expiry.ts'
import type { Lane } from './lanes.ts'

/** Debts of one wallet on their way at a time, so that other sides that never answer hold up no other tenant. */
const debtsOfWalletAtOnce = 48

/** Lanes of one wallet that wait for a place at the other side, at most: they are on nobody's way, but they are remembered. */
const crowdedOfWallet = 2_000

/** What is to be looked for in a wallet's file. */
export type Wanted = { debts: boolean; events: boolean }

/** Which lanes are occupied, what is known of others, how often it could not be read. */
export type Round = {
  isLooking: boolean
  /** What is to be looked for, if anything is. */
  woken: Wanted | undefined
  /** How often somebody has said that there is something new; and that who is told of events, or of which, has changed. */
  heard: { debts: number; events: number; changes: number }
  debts: Map<string, Lane<Owing | Expired>>
  webhooks: Map<string, Lane<Delivery>>
  /** Webhooks whose place in the file is not yet the one that they are told up to, and what ends with the last note of it. */
  noting: Map<string, Promise<void>>
  /** Of the debts' lanes, those that wait for a place at the other side. */
  crowded: Set<string>
  /** The webhooks that nothing waits for; not known before the first look, nor after a change. */
  told: Map<string, Told> | undefined
  /** Whether debts are due beside those on their way. */
  hasMore: boolean
  failures: number
  /** When the next debt, or event, that was put off is due. */
  debtsAt?: Date | undefined
  eventsAt?: Date | undefined
  /** When flows that have waited for too long were looked for, and when the next one will have; by `steadyNow`, in milliseconds. */
  expiryLookedAt: number
  expiresAt?: number | undefined
  timer?: NodeJS.Timeout | undefined
}

export function newRound(): Round {
  return {
    isLooking: false,
    woken: undefined,
    heard: { debts: 0, events: 0, changes: 0 },
    debts: new Map(),
    webhooks: new Map(),
    noting: new Map(),
    crowded: new Set(),
    told: undefined,
    hasMore: true,
    failures: 0,
    expiryLookedAt: -Infinity,
  }
}

/** How many more debts of a wallet may be begun now. */
export function freeFor({ debts, crowded }: Round): number {
  return Math.max(0, Math.min(debtsOfWalletAtOnce - (debts.size - crowded.size), crowdedOfWallet - crowded.size))
}

/** When a wallet is to be looked into though nothing is new in it; by `steadyNow`, in milliseconds. */
export function nextTime({ debtsAt, eventsAt, expiresAt }: Round): number | undefined {
  const times = [debtsAt?.getTime(), eventsAt?.getTime(), expiresAt].filter((at) => at !== undefined)
  return times.length > 0 ? Math.min(...times) : undefined
}
