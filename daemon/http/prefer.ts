/** The `Prefer` header (RFC 7240), as far as it says how long an answer may take. */

/** How long to wait at most, in milliseconds, of up to `longest`: not at all with `respond-async`, unless `wait` says how many seconds. */
export function readWait(prefer: string | undefined, longest: number): number {
  const preferences = (prefer ?? '').split(',').map((each) => each.split(';')[0]!.trim().toLowerCase())
  const seconds = preferences
    .map((each) => /^wait\s*=\s*"?(\d{1,6})"?$/.exec(each)?.[1])
    .find((found) => found !== undefined)
  if (seconds !== undefined) return Math.min(Number(seconds) * 1_000, longest)
  return preferences.includes('respond-async') ? 0 : longest
}
