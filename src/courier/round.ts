/** What the courier knows of one wallet between two looks into its file. */
import type { News } from '../outbox/news.ts'

/** Debts of one wallet on their way at a time, so that other sides that never answer hold up no other tenant. */
const debtsOfWalletAtOnce = 48

/** Lanes of one wallet that wait for a place at the other side, at most: they are on nobody's way, but they are remembered. */
const crowdedOfWallet = 2_000

/** Which lanes are occupied, how often it could not be read. */
export type Round = {
  isLooking: boolean
  /** What is to be looked for, if anything is. */
  woken: News | undefined
  /** How often somebody has said that there may be something new. */
  heard: { debts: number; events: number }
  debts: Set<string>
  webhooks: Set<string>
  /** Of the debts, those that wait for a place at the other side. */
  crowded: Set<string>
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
    heard: { debts: 0, events: 0 },
    debts: new Set(),
    webhooks: new Set(),
    crowded: new Set(),
    failures: 0,
    expiryLookedAt: -Infinity,
  }
}

/** How many more debts of a wallet may be begun now. */
export function freeFor({ debts, crowded }: Round): number {
  return Math.max(0, Math.min(debtsOfWalletAtOnce - (debts.size - crowded.size), crowdedOfWallet - crowded.size))
}
