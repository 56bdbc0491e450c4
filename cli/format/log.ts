/** Formats and selects lines of the daemon’s log. */
import * as z from 'zod'
import { tryParseJson } from '../../src/foundation/json.ts'
import { safeLine } from './text.ts'

const Line = z.looseObject({ level: z.number(), time: z.number(), msg: z.string().optional() })

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** The names of the levels, the lowest first. */
export const levelNames = Object.values(levels)

/** Formats a line of JSON as `19:37:46.123 info  message name=value`. Returns any other line as it is. */
export function formatLogLine(line: string): string {
  const { data } = Line.safeParse(tryParseJson(line))
  if (!data) return safeLine(line)
  const { level, time, msg = '', pid: _pid, hostname: _hostname, ...rest } = data
  const details = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return safeLine(
    [
      new Date(time).toISOString().slice(11, 23),
      (levels[level] ?? String(level)).padEnd(5),
      msg,
      ...details,
    ].join(' '),
  )
}

/**
 * Selects lines of at least a level, and from an instant (milliseconds since 1970) on. Lines that are not
 * JSON, such as the output of a crash, have neither and are selected.
 */
export function lineFilter(lowest: string | undefined, sinceMs = 0): (line: string) => boolean {
  const least = Number(Object.keys(levels).find((level) => levels[Number(level)] === lowest) ?? 0)
  if (least === 0 && sinceMs === 0) return () => true
  return (line) => {
    const { data } = Line.safeParse(tryParseJson(line))
    return data === undefined || (data.level >= least && data.time >= sinceMs)
  }
}
