/** The faults of the machine, told apart from those of the program: a full disk, a damaged file. */
import { Problem } from '../base/problem.ts'
import { DamagedFileError } from './damaged-file-error.ts'

/** The same error, or what it means where that is known: {Problem} `error:InsufficientStorage`, {DamagedFileError}. */
export function translate(error: unknown, path: string): unknown {
  const { code = '', message } = error as Partial<NodeJS.ErrnoException>
  if (noRoom.includes(code)) return storageFull(error)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code))
    return new DamagedFileError(path, `is damaged: ${message}`, { cause: error })
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new Problem(
      'error:ServiceUnavailable',
      'The agent has too many files open. Try again in a moment.',
      {
        retryAfter: 1,
        cause: error,
      },
    )
  }
  if (code === 'EISDIR') return new DamagedFileError(path, 'is a folder, not a file', { cause: error })
  return error
}

const noRoom = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']

/** Whether an error, or one that it was made of, says that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (noRoom.includes((at as NodeJS.ErrnoException).code ?? '')) return true
  }
  return false
}

/** The problem of a full disk. */
export function storageFull(cause: unknown): Problem {
  const detail =
    'The disk of the agent is full: nothing was changed. What is there can be read; the rest works again once there is room.'
  return new Problem('error:InsufficientStorage', detail, { cause })
}
