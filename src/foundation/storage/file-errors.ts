/** Errors of database files and of the disk, as opposed to programming errors. */
import { Problem } from '../problem.ts'
import { StartError } from '../start-error.ts'

/** A database file is damaged or holds something else. Retrying does not help. */
export class DamagedFileError extends Error {
  override name = 'DamagedFileError'
  readonly path: string

  /** `reason` continues the sentence that begins with the path. */
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`${path} ${reason}`, options)
    this.path = path
  }
}

/** A newer release wrote a database file, and this release does not know its tables. The file is unchanged. */
export class NewerFileError extends Error {
  override name = 'NewerFileError'
  readonly path: string

  /** `version` is the unknown version or migration that the file names. */
  constructor(path: string, version: string) {
    super(
      `${path} was written by a newer release of identity-agent (this release does not know ${version}); it was not changed`,
    )
    this.path = path
  }
}

/**
 * Converts an error of SQLite or `node:fs` to a {Problem} or {DamagedFileError}. Returns any other error as
 * it is.
 */
export function toStorageError(error: unknown, path: string): unknown {
  const { code = '', message } = error as Partial<NodeJS.ErrnoException>
  if (diskFullCodes.includes(code)) return diskFull(error)
  if (diskFault.test(code)) return diskUnusable(error)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code))
    return new DamagedFileError(path, `is damaged: ${message}`, { cause: error })
  if (code === 'EMFILE' || code === 'ENFILE') {
    const detail = 'The agent has too many files open. Try again in a moment.'
    return new Problem('error:ServiceUnavailable', detail, { retryAfter: 1, cause: error })
  }
  if (code === 'EISDIR') return new DamagedFileError(path, 'is a folder, not a file', { cause: error })
  return error
}

const diskFullCodes = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']

/** A disk that is read-only, as after `errors=remount-ro`, or does not read or write a block. */
const diskFault = /^(EROFS|EIO)$|^SQLITE_(READONLY|IOERR)/

/** Whether an error or one of its causes is a full disk. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, (code) => diskFullCodes.includes(code))
}

/** Whether an error or one of its causes is a disk that is read-only, or that fails. */
export function isDiskFault(error: unknown): boolean {
  return !isDiskFull(error) && hasCode(error, (code) => diskFault.test(code))
}

function hasCode(error: unknown, fits: (code: string) => boolean): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if (fits((at as NodeJS.ErrnoException).code ?? '')) return true
  return false
}

function diskUnusable(cause: unknown): Problem {
  const detail =
    'The disk of the agent is read-only, or fails. Try again later; the log of the agent has the error for its operator.'
  return new Problem('error:ServiceUnavailable', detail, { retryAfter: 10, cause })
}

/** The problem `InsufficientStorage`. */
export function diskFull(cause: unknown): Problem {
  const detail =
    'The disk of the agent is full. Nothing was changed. Reading still works; writing works again when there is room.'
  return new Problem('error:InsufficientStorage', detail, { cause })
}

/**
 * Converts an error of a database file at the start to a sentence with the file and the way out. Returns any
 * other error as it is.
 */
export function toStartError(error: unknown): unknown {
  const text = describe(error)
  return text === undefined ? error : new StartError(text, 1, { cause: error })
}

function describe(error: unknown): string | undefined {
  if (error instanceof NewerFileError)
    return `${error.message}. Start that release, or restore a copy of the folder from before.`
  if (error instanceof DamagedFileError)
    return `${error.message}. Restore the file from a backup, and start again; nothing else in the folder was changed.`
  if (isDiskFull(error))
    return 'The disk is full, and the first start needs room for its files. Make room, or choose another folder in AGENT_DATA_DIR.'
  if (isDiskFault(error))
    return 'The disk of the data folder is read-only, or fails. Check the disk and how it is mounted, or choose another folder in AGENT_DATA_DIR.'
  return undefined
}
