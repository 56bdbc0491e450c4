/** The log: one JSON object a line (pino), on standard error. */
import { pino, type Logger } from 'pino'

export type Log = Logger

/** What is never logged, wherever it turns up in an object that is. */
const redacted = ['apikey', 'authorization', 'adminToken', 'apiKey', 'seed', 'privateJwk', 'customHeaders']

/** Opens the log at a level, synchronously, so that a crash's last words are on disk. */
export function openLog(level: string): Log {
  const paths = redacted.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `headers["x-admin-api-key"]`])
  return pino({ level, redact: { paths: [...new Set(paths)], censor: '[secret]' } }, pino.destination({ dest: 2, sync: true }))
}
