/**
 * The log: one JSON object per line (pino) on standard error.
 *
 * A line has a constant message and fields of the table below with their types. All other fields are dropped,
 * so that no configuration, body, header or key is logged by accident. Lines of a span also have `trace_id`
 * and `span_id`.
 */
import { pino, type DestinationStream } from 'pino'
import { spanIds } from './spans.ts'

const fields = {
  /** The remote address of a request. */
  address: 'text',
  attempts: 'number',
  code: 'text',
  count: 'number',
  dataDir: 'text',
  did: 'text',
  didcommUrl: 'text',
  eventId: 'text',
  /** An error: name, code, message, stack and causes. */
  err: 'error',
  /** The id in a 500 response, by which the line can be found. */
  instance: 'text',
  isReplaced: 'flag',
  kind: 'text',
  queue: 'text',
  messageId: 'text',
  ms: 'number',
  operationId: 'text',
  outcome: 'text',
  pid: 'number',
  reason: 'text',
  recordId: 'text',
  requestId: 'text',
  retryAfter: 'number',
  /** The route. Paths may contain secret links, and are not logged. */
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

type Write = { (fields: Fields, message: string): void; (message: string): void }

export type Log = Readonly<Record<Level, Write>> & {
  isLevelEnabled(level: Level): boolean
  /** A log with additional fields on every line. */
  with(fields: Fields): Log
}

/** The longest text of another party in a line. */
const longestText = 1_000
const maxTexts = 20
const deepestCause = 4

/**
 * Opens the log at standard error, or in its file. It is synchronous, so that the last lines before a crash
 * are written.
 */
export function openLog(level: string, file?: DestinationStream): Log {
  return createLog(level, file ?? pino.destination({ dest: 2, sync: true }))
}

/** Creates a log that writes to a stream. The level `silent` writes nothing. */
export function createLog(level: string, stream: DestinationStream): Log {
  // Errors are already plain objects here.
  const sink = pino({ level, serializers: { err: (error: unknown) => error }, mixin: spanIds }, stream)
  /** Each request has a log, and most requests write no line: check fields only when a line is written. */
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

/** The allowed fields with values of their type. */
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
  texts: (value) => (Array.isArray(value) ? value.slice(0, maxTexts).map(text) : undefined),
  number: (value) => (typeof value === 'number' ? value : undefined),
  flag: (value) => (typeof value === 'boolean' ? value : undefined),
  error: (value) => toShown(value),
}

/** The describing parts of an error. Other properties may hold anything, such as a request. */
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
