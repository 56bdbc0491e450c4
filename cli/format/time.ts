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

/** Formats a time with its age: `2026-11-20T11:55:00Z, 5 min ago`. `now` is in milliseconds. */
export function whenAgo(iso: string, now: number): string {
  const words = ago(iso, now)
  return iso.startsWith(words) ? iso : `${iso}, ${words}`
}

/** Formats the time until a time in its largest unit, rounded: `in 3 d`. `now` is in milliseconds. */
export function ahead(iso: string, now: number): string {
  const seconds = Math.floor((Date.parse(iso) - now) / 1_000)
  // What is made for 30 days is valid for a second less when it is shown.
  const unit = units.find(([length]) => seconds >= length)
  return unit ? `in ${Math.round(seconds / unit[0])} ${unit[1]}` : 'now'
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
  const seconds = Math.floor(Math.abs(time - now) / 1_000)
  const unit = words.find(([length]) => seconds >= length)
  if (!unit) return 'now'
  const count = Math.floor(seconds / unit[0])
  const distance = `${count} ${unit[1]}${count === 1 ? '' : 's'}`
  return time <= now ? `${distance} ago` : `in ${distance}`
}

/** Formats a duration: `12 ms`, `1.25 s`. */
export function duration(ms: number): string {
  return ms < 1_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1_000).toFixed(2)} s`
}

export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}
