/**
 * The journal of a bulk run: a file of JSON lines. The first one names the run, each further one is the
 * result of a row.
 *
 * It is written before the first request, so that an interrupted run can be resumed with the same idempotency
 * keys.
 */
import { createHash, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs'
import * as z from 'zod'
import { tryParseJson } from '../../src/foundation/json.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { CommandError, UsageError } from '../errors/errors.ts'

/**
 * `expiresIn` is the lifetime of the invitations in seconds. Reports of earlier releases have none: that of
 * the daemon holds.
 */
const Begin = z.object({ run: z.guid(), input: z.string(), expiresIn: z.int().optional() })
type Begin = z.infer<typeof Begin>

export const Result = z.object({
  line: z.int(),
  recordId: z.string().optional(),
  thid: z.string().optional(),
  shortUrl: z.string().optional(),
  invitationUrl: z.string().optional(),
  error: z.object({ code: z.string(), detail: z.string() }).optional(),
})
export type Result = z.infer<typeof Result>

export type Journal = {
  /** Names the run. Its requests have keys that begin with it. */
  run: string
  /**
   * How long the invitations of the run can be answered, in seconds; undefined for as long as the daemon has
   * it.
   */
  expiresIn: number | undefined
  /** The results of earlier attempts, by line; the last one counts. */
  known: ReadonlyMap<number, Result>
  append(result: Result): void
  close(): void
}

/**
 * Opens the journal of a run, or begins one with `expiresIn`. `input` is everything that the requests are
 * made of.
 *
 * @throws {UsageError} if the file cannot be used; {CommandError} 5 if it belongs to another input
 */
export function openJournal(
  path: string,
  input: readonly (string | Uint8Array)[],
  expiresIn: number,
): Journal {
  const hash = createHash('sha256')
  for (const part of input) hash.update(part).update('\0')
  const digest = hash.digest('base64url')
  const [first, ...lines] = readWholeLines(path)
  const begin: Begin =
    first === undefined ? { run: randomUUID(), input: digest, expiresIn } : readBegin(path, first, digest)
  const known = new Map<number, Result>()
  for (const text of lines) {
    const result = Result.safeParse(tryParseJson(text))
    if (!result.success) throw notReport(path)
    known.set(result.data.line, result.data)
  }
  const file = open(path)
  const write = (value: object) => writeSync(file, `${JSON.stringify(value)}\n`)
  if (first === undefined) write(begin)
  fsyncSync(file)
  return { run: begin.run, expiresIn: begin.expiresIn, known, append: write, close: () => closeSync(file) }
}

/** Reads the lines of the file, and removes the part of a line that a crash may have left at its end. */
function readWholeLines(path: string): string[] {
  try {
    const bytes = readFileSync(path)
    const end = bytes.lastIndexOf('\n') + 1
    const lines = bytes
      .toString('utf8', 0, end)
      .split('\n')
      .filter((line) => line !== '')
    if (lines.length === 0 && end < bytes.length) throw notReport(path)
    if (end < bytes.length) truncateSync(path, end)
    return lines
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error instanceof UsageError ? error : unusable(path, error)
  }
}

function readBegin(path: string, text: string, digest: string): Begin {
  const begin = Begin.safeParse(tryParseJson(text))
  if (!begin.success) throw notReport(path)
  if (begin.data.input !== digest)
    throw new CommandError(
      `--report: ${path} is the report of a run with another CSV file or other flags. Repeat that command to resume it, or name a new file with --report.`,
      5,
    )
  return begin.data
}

function open(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (error) {
    throw unusable(path, error)
  }
}

function notReport(path: string): UsageError {
  return new UsageError(`--report: ${path} exists, and is not the report of a bulk run. Name a new file.`)
}

function unusable(path: string, error: unknown): UsageError {
  return new UsageError(`--report: ${path} cannot be used: ${systemReason(error)}.`)
}
