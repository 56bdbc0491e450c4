/** Formats times and durations. */

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const

/** Formats the age of a time in its largest unit, `5 min ago`, or the date after thirty days. `now` is in milliseconds. */
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

/** Formats the time until a time in its largest unit: `in 3 d`. `now` is in milliseconds. */
export function ahead(iso: string, now: number): string {
  const seconds = Math.floor((Date.parse(iso) - now) / 1_000)
  const unit = units.find(([length]) => seconds >= length)
  return unit ? `in ${Math.floor(seconds / unit[0])} ${unit[1]}` : 'now'
}

/** Formats a duration: `12 ms`, `1.25 s`. */
export function duration(ms: number): string {
  return ms < 1_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1_000).toFixed(2)} s`
}

/** Rounds milliseconds to tenths. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}
