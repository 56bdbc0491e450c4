/**
 * Errors of PostgreSQL and of the connection to it
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
import { Problem } from '../../problem.ts'
import { DamagedFileError, diskFull } from '../file-errors.ts'

/** The code of the SQL function `fence`: another node owns the shard. */
export const fencedCode = 'IA001'

/** A write to a server that only reads: a standby, before its promotion. */
export const readOnlyCode = '25006'

/**
 * The database cannot be used now: it is away, stopping or a standby, has no free connection, or the
 * transaction waited or paused too long.
 */
const unavailable =
  /^(08|25006|53300|57P0[1235]|25P0[34]|40001|40P01|55P03|57014|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/

/** Messages of `pg` and `pg-pool`, whose errors have no codes. */
const noConnection =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after)/

/** Whether a statement was prepared before a migration. Its message has the language of the server. */
export function isStale(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/** Whether a transaction waited for another one that waited for it. */
export function isDeadlock(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: unknown }
  return code === '40P01' || (cause !== undefined && isDeadlock(cause))
}

/** Converts an error of PostgreSQL to a {Problem}. Returns any other error as it is. */
export function toPostgresError(error: unknown): unknown {
  const { code = '', message = '' } = error as Partial<NodeJS.ErrnoException>
  if (/^53[12]00$/.test(code)) return diskFull(error)
  if (code === '22021' || code === '22P05') return badCharacter(error)
  if (unavailable.test(code) || noConnection.test(message) || isStale(error))
    return databaseUnavailable(error)
  return error
}

/** 503: nothing of the transaction was done, unless the connection broke during its commit. */
export function databaseUnavailable(cause?: unknown): Problem {
  const detail = 'The database cannot be used at the moment. Try again in a moment.'
  return new Problem('error:ServiceUnavailable', detail, { retryAfter: 1, cause })
}

/** An error of copying rows of the SQLite file at `path`, whose values have no types that SQLite would check. */
export function toImportError(error: unknown, path: string): unknown {
  const { code = '' } = (error instanceof Problem ? error.cause : error) as { code?: string }
  if (code === '22021')
    return new Problem(
      'BadRequest',
      'A text in the wallet contains the character U+0000, which PostgreSQL cannot store. Import the wallet at an agent with SQLite files. Nothing was changed.',
      { cause: error },
    )
  // Of another type or length (class 22), or missing, doubled, or without the row that it refers to (class
  // 23).
  return /^2[23]/.test(code)
    ? new DamagedFileError(path, 'has a row that is not one of a wallet', { cause: error })
    : error
}

/** PostgreSQL cannot store U+0000 in a text. */
function badCharacter(cause: unknown): Problem {
  const detail = 'A text contains the character U+0000, which cannot be stored. Send the text without it.'
  return new Problem('BadRequest', detail, { cause })
}
