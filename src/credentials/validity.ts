/** The time in which a token is valid: NumericDate claims (RFC 7519 §2) and the dates of the data model, taken together. */
import { z } from 'zod'
import { VerificationError } from './verification-error.ts'

/** How far the clocks of two honest parties may differ, unless the caller says otherwise (decisions.md §6). */
export const defaultLeewaySeconds = 30

/** Seconds since the epoch; fractions are allowed (RFC 7519 §2). */
export const NumericDate = z.number()

/** A date inside `vc`: the real agent writes seconds, the data model says RFC 3339 with an offset (wire.md 4.4). */
export const Instant = z.union([NumericDate, z.iso.datetime({ offset: true })])
export type Instant = z.infer<typeof Instant>

/** Seconds since the epoch; an absent end is open. */
export type Validity = { validFrom?: number; validUntil?: number }

/** The time in which all the given dates hold: the latest beginning and the earliest end. */
export function toValidity(from: (Instant | undefined)[], until: (Instant | undefined)[]): Validity {
  const [validFrom, validUntil] = [choose(from, Math.max), choose(until, Math.min)]
  return { ...(validFrom !== undefined && { validFrom }), ...(validUntil !== undefined && { validUntil }) }
}

/**
 * Refuses what is not valid at `now`, with `leewaySeconds` of tolerance at either end. The end itself is outside (RFC 7519 §4.1.4).
 *
 * @throws {VerificationError} `not-yet-valid`, `expired`
 */
export function checkValidity(
  { validFrom, validUntil }: Validity,
  now: number,
  leewaySeconds: number = defaultLeewaySeconds,
): void {
  // Written so that a time that is no number refuses.
  if (validFrom !== undefined && !(validFrom <= now + leewaySeconds))
    throw new VerificationError('not-yet-valid', `Valid from ${toText(validFrom)}`)
  if (validUntil !== undefined && !(now < validUntil + leewaySeconds))
    throw new VerificationError('expired', `Valid until ${toText(validUntil)}`)
}

/** One of the instants that are given, in seconds; no number as soon as one is none. */
function choose(
  instants: (Instant | undefined)[],
  between: (a: number, b: number) => number,
): number | undefined {
  let chosen: number | undefined
  for (const instant of instants) {
    if (instant === undefined) continue
    const seconds = typeof instant === 'number' ? instant : Date.parse(instant) / 1000
    chosen = chosen === undefined ? seconds : between(chosen, seconds)
  }
  return chosen
}

/** Dates beyond what a `Date` can hold are shown as their seconds. */
function toText(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? `${seconds} s since 1970` : date.toISOString()
}
