/**
 * The log: one JSON object a line (pino), on standard error.
 *
 * A line has a message, which is a text of this program's, and fields of the table below, each of its type: nothing else is written,
 * whatever is handed over. So no configuration, body, header or key gets into it by being part of an object.
 */
import { pino, type DestinationStream } from 'pino'

/** Every field there is, by its name. */
const fields = {
  /** Where a request came from. */
  address: 'text',
  attempts: 'number',
  code: 'text',
  count: 'number',
  dataDir: 'text',
  did: 'text',
  didcommUrl: 'text',
  eventId: 'text',
  /** An error: its name, code, message and stack, and the same of what caused it. */
  err: 'error',
  /** What a caller was given to find the line by, with an answer of 500. */
  instance: 'text',
  isReplaced: 'flag',
  kind: 'text',
  queue: 'text',
  /** The id of a DIDComm message. */
  messageId: 'text',
  ms: 'number',
  operationId: 'text',
  outcome: 'text',
  pid: 'number',
  reason: 'text',
  recordId: 'text',
  requestId: 'text',
  retryAfter: 'number',
  /** The endpoint, as the table of routes has it: paths may hold links that are as good as a key. */
  route: 'text',
  setAsideAs: 'text',
  signal: 'text',
  source: 'text',
  status: 'number',
  thid: 'text',
  /** The DIDComm threads that a request wrote to. */
  thids: 'texts',
  type: 'text',
  url: 'text',
  walletId: 'text',
  webhookId: 'text',
} as const

type Types = { text: string; texts: readonly string[]; number: number; flag: boolean; error: unknown }
export type Fields = { [Name in keyof typeof fields]?: Types[(typeof fields)[Name]] | undefined }

export type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Writes a line. */
type Write = { (fields: Fields, message: string): void; (message: string): void }

export type Log = Readonly<Record<Level, Write>> & {
  /** Whether lines of a level are written. */
  isLevelEnabled(level: Level): boolean
  /** The same log, with fields that every line has. */
  with(fields: Fields): Log
}

/** What somebody else may have chosen is no longer than this. */
const longestText = 1_000
const mostTexts = 20
const deepestCause = 4

/** Opens the log at a level, synchronously, so that a crash's last words are on disk. */
export function openLog(level: string): Log {
  return createLog(level, pino.destination({ dest: 2, sync: true }))
}

/** Makes a log of a level (`silent`: of none) that writes to a stream. */
export function createLog(level: string, stream: DestinationStream): Log {
  // Errors come as they are to be shown.
  const sink = pino({ level, serializers: { err: (shown: unknown) => shown } }, stream)
  /** Requests each have a log of their own, to which most write nothing: fields are looked at when they do. */
  const toLog = (about: readonly Fields[]): Log => {
    const write =
      (level: Level): Write =>
      (given: Fields | string, message?: string) => {
        if (!sink.isLevelEnabled(level)) return
        const fields = Object.assign({}, ...about.map(chosen)) as Fields
        if (typeof given === 'string') sink[level](fields, given)
        else sink[level]({ ...fields, ...chosen(given) }, message)
      }
    return {
      fatal: write('fatal'),
      error: write('error'),
      warn: write('warn'),
      info: write('info'),
      debug: write('debug'),
      trace: write('trace'),
      isLevelEnabled: (level) => sink.isLevelEnabled(level),
      with: (more) => toLog([...about, more]),
    }
  }
  return toLog([])
}

/** The fields that there are, of what was given; another type's value is left out. */
function chosen(given: Fields): Fields {
  const found: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const kept = Object.hasOwn(fields, name) ? keep[fields[name as keyof typeof fields]](value) : undefined
    if (kept !== undefined) found[name] = kept
  }
  return found
}

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, longestText) : undefined)
const keep: Readonly<Record<keyof Types, (value: unknown) => unknown>> = {
  text,
  texts: (value) => (Array.isArray(value) ? value.slice(0, mostTexts).map(text) : undefined),
  number: (value) => (typeof value === 'number' ? value : undefined),
  flag: (value) => (typeof value === 'boolean' ? value : undefined),
  error: (value) => toShown(value),
}

/** Of an error what says what went wrong: what else hangs on it may be anything, such as a request with its headers. */
function toShown(error: unknown, depth = 0): object | undefined {
  if (error === undefined || depth === deepestCause) return undefined
  if (!(error instanceof Error)) return { type: typeof error, message: text(error) }
  const { name, message, stack, cause } = error
  const { code } = error as { code?: unknown }
  return {
    type: name,
    code: text(code),
    message: text(message),
    stack: stack?.slice(0, 4 * longestText),
    cause: toShown(cause, depth + 1),
  }
}
