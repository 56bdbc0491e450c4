/** Records the demo in a new file: `.cast` (asciicast v2, docs.asciinema.org), `.svg` or `.gif`. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { systemReason } from '../../src/base/system-reason.ts'
import { CommandError, UsageError } from '../errors/errors.ts'
import { checkNewFile } from '../input/files.ts'

/** Output that a player adds to the screen at `atMs`. */
export type Printed = { atMs: number; text: string }

export type Recorded = { title: string; columns: number; rows: number; printed: readonly Printed[] }

export type Recording = {
  /** Adds a printed text and its line break. A reader needs the time of `lines` lines for it. */
  print(text: string, lines: number): void
  /** Writes the file. @throws {CommandError} when that fails; then no file is left */
  save(): Promise<void>
}

const formats = ['cast', 'svg', 'gif'] as const

/** The size that players assume, for output that is no terminal. */
const [usualColumns, usualRows] = [80, 24]

/** Milliseconds that a line of a recording stays the last one, at least. */
const usualPaceMs = 350

/**
 * Starts a recording of a terminal. Lines follow each other after `paceMs` at least: the recording of a demo of two
 * seconds is slow enough to read. The file is written by `save`, so nothing is left of an interrupted demo.
 *
 * @throws {UsageError} when the format is unknown, or the file exists or cannot be written.
 */
export function startRecording(
  path: string,
  title: string,
  { columns = usualColumns, rows = usualRows }: { columns?: number; rows?: number },
  paceMs = usualPaceMs,
): Recording {
  const format = formats.find((each) => extname(path).toLowerCase() === `.${each}`)
  if (!format) throw new UsageError(`--record: ${path} must end in .cast, .svg or .gif.`)
  checkNewFile('record', path)
  const printed: Printed[] = []
  const startedAt = new Date()
  const start = performance.now()
  let dueMs = 0
  return {
    print(text, lines) {
      const atMs = Math.max(performance.now() - start, dueMs)
      dueMs = atMs + paceMs * lines
      // A terminal in raw mode needs a carriage return before a line feed.
      printed.push({ atMs, text: `${text}\n`.replaceAll('\n', '\r\n') })
    },
    async save() {
      const recorded = { title, columns, rows, printed }
      write(path, format === 'cast' ? toCast(recorded, startedAt) : await draw(format, recorded))
    },
  }
}

/** Loaded when it is needed: it has a terminal emulator and a font. */
async function draw(format: 'svg' | 'gif', recorded: Recorded): Promise<string | Uint8Array> {
  const { drawRecording } = await import('../recording/draw.ts')
  return drawRecording(format, recorded)
}

function toCast({ title, columns, rows, printed }: Recorded, startedAt: Date): string {
  const timestamp = Math.floor(startedAt.getTime() / 1_000)
  const events = printed.map(({ atMs, text }) => [Math.round(atMs * 1_000) / 1_000_000, 'o', text])
  return [{ version: 2, width: columns, height: rows, timestamp, title }, ...events]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
}

function write(path: string, content: string | Uint8Array): void {
  const isOurs = !existsSync(path)
  try {
    writeFileSync(path, content, { flag: 'wx' })
  } catch (error) {
    if (isOurs) rmSync(path, { force: true })
    throw new CommandError(`The recording ${path} cannot be written: ${systemReason(error)}.`, 1)
  }
}
