/**
 * Limits the entries for refusals, so that refused clients cannot fill the disk: some per minute and address,
 * and some per day. Further refusals are counted, and each minute ends with entries for the counts.
 */

/** Entries for refusals per day: about 5 MB with the counts. */
export const refusalsPerDay = 10_000

/** Addresses with a count of their own per minute. Others share one. */
const addressesPerMinute = 20

const dayMs = 86_400_000

/** Refusals without entries: of an address, or of all others. */
export type RefusalCount = { address?: string; count: number }

export class Refusals {
  readonly #perMinute: number
  /** Refusals of this minute, by address. */
  #all = new Map<string, number>()
  /** Refusals of this minute without an entry, by address, and of other addresses. */
  #counted = new Map<string, number>()
  #others = 0
  #day = { number: -1, entries: 0 }

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Counts a refusal at `now` (milliseconds since 1970). Returns whether it gets an entry of its own. */
  admits(address: string, now: number): boolean {
    const day = Math.floor(now / dayMs)
    if (day !== this.#day.number) this.#day = { number: day, entries: 0 }
    const count = (this.#all.get(address) ?? 0) + 1
    const isTracked = this.#all.has(address) || this.#all.size < refusalsPerDay
    if (isTracked) this.#all.set(address, count)
    if (isTracked && count <= this.#perMinute && this.#day.entries < refusalsPerDay) {
      this.#day.entries++
      return true
    }
    if (this.#counted.has(address) || this.#counted.size < addressesPerMinute)
      this.#counted.set(address, (this.#counted.get(address) ?? 0) + 1)
    else this.#others++
    return false
  }

  /** Ends the minute and returns the counts to enter. */
  endMinute(): RefusalCount[] {
    const counts: RefusalCount[] = []
    let others = this.#others
    for (const [address, count] of this.#counted) {
      if (this.#day.entries < refusalsPerDay) counts.push({ address, count })
      else others += count
      this.#day.entries++
    }
    if (others > 0) counts.push({ count: others })
    this.#all = new Map()
    this.#counted = new Map()
    this.#others = 0
    return counts
  }
}
