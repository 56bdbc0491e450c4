/** Reads, follows and formats the daemon’s log. */
import { closeSync, fstatSync, openSync, readSync, watch } from 'node:fs'
import * as z from 'zod'
import { tryParseJson } from '../../src/base/json.ts'
import { safeLine } from '../format/text.ts'

/** As much of a file's end as is looked at for its last lines. */
const most = 4 * 1_024 * 1_024

/** Returns the last `count` lines of a file, and its length in bytes. */
export function lastLines(path: string, count: number): { lines: string[]; size: number } {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const lines = read(file, Math.max(0, size - most), size)
      .split('\n')
      .filter((line) => line !== '')
    return { lines: count === 0 ? [] : lines.slice(-count), size }
  } finally {
    closeSync(file)
  }
}

/**
 * Calls `onLine` for each line that is added after the offset `from`, until the signal aborts. A truncated
 * file is read from its start.
 */
export function followLines(
  path: string,
  from: number,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let at = from
  let rest = ''
  const catchUp = () => {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      if (size < at) at = 0
      const lines = (rest + read(file, at, size)).split('\n')
      at = size
      rest = lines.pop()!
      lines.filter((line) => line !== '').forEach(onLine)
    } finally {
      closeSync(file)
    }
  }
  return new Promise((resolve, reject) => {
    const watcher = watch(path, { signal }, catchUp)
    watcher.on('close', resolve)
    watcher.on('error', (error) => (signal.aborted ? resolve() : reject(error)))
    catchUp()
  })
}

function read(file: number, from: number, to: number): string {
  const buffer = Buffer.alloc(Math.max(to - from, 0))
  const length = readSync(file, buffer, 0, buffer.length, from)
  return buffer.toString('utf8', 0, length)
}

const Line = z.looseObject({ level: z.number(), time: z.number(), msg: z.string().optional() })

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

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
