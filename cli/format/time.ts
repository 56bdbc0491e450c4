/** Formats times and durations. */

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const

/**
 * Formats the age of a time in its largest unit, `5 min ago`, or the date after thirty days. `now` is in
 * milliseconds.
 */
export function ago(iso: string, now: number): string {
  const seconds = Math.floor((now - Date.parse(iso)) / 1_000)
  if (seconds > 30 * 86_400) return iso.slice(0, 10)
  const unit = units.find(([length]) => seconds >= length)
  return unit ? `${Math.floor(seconds / unit[0])} ${unit[1]} ago` : 'now'
}

/** Formats a time without its year and milliseconds: `11-20 11:55:00Z`. */
export function briefTime(iso: string): string {
  return `${new Date(iso).toISOString().slice(5, 19).replace('T', ' ')}Z`
}

/** Formats a time with its age: `2026-11-20T11:55:00Z, 5 min ago`. `now` is in milliseconds. */
export function whenAgo(iso: string, now: number): string {
  const words = ago(iso, now)
  return iso.startsWith(words) ? iso : `${iso}, ${words}`
}

/**
 * Formats the time until a time, rounded to its largest unit: `in 30 d`, also seconds after these 30 days
 * have begun. `now` is in milliseconds.
 */
export function ahead(iso: string, now: number): string {
  const found = rounded((Date.parse(iso) - now) / 1_000, units)
  return found ? `in ${found.count} ${found.unit}` : 'now'
}

/** A duration in its largest unit, rounded: 23 h 59 min is one day, 23 h are 23 hours. */
function rounded<Unit extends string>(
  seconds: number,
  units: readonly (readonly [length: number, unit: Unit])[],
): { count: number; unit: Unit } | undefined {
  const index = units.findIndex(([length], at) => seconds >= length - (units[at + 1]?.[0] ?? 0) / 2)
  const unit = units[index]
  return unit && seconds >= 1 ? { count: Math.round(seconds / unit[0]), unit: unit[1] } : undefined
}

/** Formats a duration in its two largest units: `6 min 5 s`, `365 d`. */
export function inUnits(seconds: number): string {
  const parts: string[] = []
  let rest = Math.round(seconds)
  for (const [length, unit] of units) {
    const count = Math.floor(rest / length)
    if (count > 0) parts.push(`${count} ${unit}`)
    rest -= count * length
  }
  return parts.slice(0, 2).join(' ') || '0 s'
}

/**
 * Formats a time with its distance: `2026-11-20T12:05:00Z, in 5 min`, or `…, 5 min ago`. `now` is in
 * milliseconds.
 */
export function whenAhead(iso: string, now: number): string {
  return Date.parse(iso) > now ? `${iso}, ${ahead(iso, now)}` : whenAgo(iso, now)
}

const words = [
  [365 * 86_400, 'year'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/**
 * Formats the distance of a time in its largest unit: `3 days ago`, `in 1 hour`. Both times are in
 * milliseconds.
 */
export function inWords(time: number, now: number): string {
  const found = rounded(Math.abs(time - now) / 1_000, words)
  if (!found) return 'now'
  const distance = `${found.count} ${found.unit}${found.count === 1 ? '' : 's'}`
  return time <= now ? `${distance} ago` : `in ${distance}`
}

/** Formats a duration: `12 ms`, `1.25 s`. */
export function duration(ms: number): string {
  return ms < 1_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1_000).toFixed(2)} s`
}

export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}
