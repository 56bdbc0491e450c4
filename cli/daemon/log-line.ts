/** A line of the daemon's log as a person reads it. */
import { z } from 'zod'
import { tryJson } from '../../src/base/try-json.ts'
import { safeLine } from '../format/safe.ts'

const Line = z.looseObject({ level: z.number(), time: z.number(), msg: z.string().optional() })

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** Formats a line of JSON as `19:37:46.123 info  message name=value`; what is no such line stays as it is. */
export function formatLogLine(line: string): string {
  const { data } = Line.safeParse(tryJson(line))
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
