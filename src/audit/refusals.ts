/**
 * How many refusals get an entry of their own: so many a minute from one address, and so many a day in all. The others are counted, and
 * the counts get entries when their minute is over. So nobody fills the disk by being refused.
 */

/** Entries that refusals may have a day: with the counts, at most some 5 MB. */
export const refusalsPerDay = 10_000

/** Addresses that are counted one by one in a minute; the others are counted together. */
const addressesPerMinute = 20

const dayMs = 86_400_000

/** What was not entered: how many refusals of an address, or of all others together. */
export type Tally = { address?: string; count: number }

export class Refusals {
  readonly #perMinute: number
  /** By address, how many there were in this minute. */
  #counts = new Map<string, number>()
  /** By address, how many of them have no entry. */
  #rest = new Map<string, number>()
  #others = 0
  #day = { number: -1, entries: 0 }

  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Counts a refusal at `now`, milliseconds since 1970, and tells whether it gets an entry of its own. */
  admits(address: string, now: number): boolean {
    const day = Math.floor(now / dayMs)
    if (day !== this.#day.number) this.#day = { number: day, entries: 0 }
    const count = (this.#counts.get(address) ?? 0) + 1
    const isKnown = this.#counts.has(address) || this.#counts.size < refusalsPerDay
    if (isKnown) this.#counts.set(address, count)
    if (isKnown && count <= this.#perMinute && this.#day.entries < refusalsPerDay) {
      this.#day.entries++
      return true
    }
    if (this.#rest.has(address) || this.#rest.size < addressesPerMinute)
      this.#rest.set(address, (this.#rest.get(address) ?? 0) + 1)
    else this.#others++
    return false
  }

  /** Ends the minute: what has no entry, and is to be entered as counts. */
  take(): Tally[] {
    const tallies: Tally[] = []
    let others = this.#others
    for (const [address, count] of this.#rest) {
      if (this.#day.entries < refusalsPerDay) tallies.push({ address, count })
      else others += count
      this.#day.entries++
    }
    if (others > 0) tallies.push({ count: others })
    this.#counts = new Map()
    this.#rest = new Map()
    this.#others = 0
    return tallies
  }
}
