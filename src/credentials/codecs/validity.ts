/** The validity period of a token, from NumericDate claims (RFC 7519 §2) and the dates of the VC Data Model. */
import * as z from 'zod'
import { VerificationError } from './verification-error.ts'

/** The default tolerance for differing clocks. */
export const defaultLeewaySeconds = 30

/** Seconds since the epoch, possibly with a fraction (RFC 7519 §2). */
export const NumericDate = z.number()

/** A date in `vc`: RFC 3339 with an offset, or seconds as the Cloud Agent writes them. */
export const Instant = z.union([NumericDate, z.iso.datetime({ offset: true })])
export type Instant = z.infer<typeof Instant>

/** Seconds since the epoch. An absent bound is open. */
export type Validity = { validFrom?: number; validUntil?: number }

/** The intersection of all bounds: the latest start and the earliest end. */
export function toValidity(from: (Instant | undefined)[], until: (Instant | undefined)[]): Validity {
  const [validFrom, validUntil] = [combine(from, Math.max), combine(until, Math.min)]
  return { ...(validFrom !== undefined && { validFrom }), ...(validUntil !== undefined && { validUntil }) }
}

/**
 * Checks the validity at `now`, with a tolerance at both bounds. The end is exclusive (RFC 7519 §4.1.4).
 *
 * @throws {VerificationError} `not-yet-valid`, `expired`
 */
export function checkValidity(
  { validFrom, validUntil }: Validity,
  now: number,
  leewaySeconds: number = defaultLeewaySeconds,
): void {
  // The conditions are negated so that NaN is refused.
  if (validFrom !== undefined && !(validFrom <= now + leewaySeconds))
    throw new VerificationError('not-yet-valid', `Valid from ${toText(validFrom)}`)
  if (validUntil !== undefined && !(now < validUntil + leewaySeconds))
    throw new VerificationError('expired', `Valid until ${toText(validUntil)}`)
}

/** The minimum or maximum, in seconds. NaN if an instant cannot be parsed. */
function combine(
  instants: (Instant | undefined)[],
  minOrMax: (a: number, b: number) => number,
): number | undefined {
  let combined: number | undefined
  for (const instant of instants) {
    if (instant === undefined) continue
    const seconds = typeof instant === 'number' ? instant : Date.parse(instant) / 1000
    combined = combined === undefined ? seconds : minOrMax(combined, seconds)
  }
  return combined
}

/** Instants beyond the range of `Date` are formatted as seconds. */
function toText(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? `${seconds} s since 1970` : date.toISOString()
}
