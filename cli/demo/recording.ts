/** A recording of a terminal: asciicast v2 (docs.asciinema.org), a line of JSON that says what it is, and one for everything that was printed. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { UsageError } from '../errors/errors.ts'
import { systemReason } from '../../src/base/system-reason.ts'

export type Recording = {
  /** Notes what is printed now, a line break at its end included. */
  print(text: string): void
  close(): void
}

export type Screen = { columns?: number | undefined; rows?: number | undefined }

/** What players assume as well. */
const [usualColumns, usualRows] = [80, 24]

/** Begins a recording in a new file. Each moment is on the disk when it is over, so that a demonstration that fails can be watched. @throws {UsageError} */
export function startRecording(
  path: string,
  title: string,
  { columns = usualColumns, rows = usualRows }: Screen,
): Recording {
  let file: number
  try {
    file = openSync(path, 'wx', 0o644)
  } catch (error) {
    throw new UsageError(
      `--record: ${path} cannot be written: ${systemReason(error)}. It must be a new file.`,
    )
  }
  const write = (value: unknown) => writeSync(file, `${JSON.stringify(value)}\n`)
  const start = performance.now()
  write({ version: 2, width: columns, height: rows, timestamp: Math.floor(Date.now() / 1_000), title })
  return {
    print(text) {
      const seconds = Math.round((performance.now() - start) * 1_000) / 1_000_000
      // A terminal goes to the start of the line only when it is told to.
      write([seconds, 'o', `${text}\n`.replaceAll('\n', '\r\n')])
    },
    close: () => closeSync(file),
  }
}
