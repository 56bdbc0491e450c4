/** The faults of the machine, told apart from those of the program: a full disk, a damaged file. */
import { Problem } from '../base/problem.ts'
import { DamagedFileError } from './damaged-file-error.ts'

/** The same error, or what it means where that is known: {Problem} `error:InsufficientStorage`, {DamagedFileError}. */
export function translate(error: unknown, path: string): unknown {
  const { code = '', message } = error as Partial<NodeJS.ErrnoException>
  if (['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(code)) return storageFull(error)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return new DamagedFileError(path, `is damaged: ${message}`, { cause: error })
  return error
}

/** The problem of a full disk. */
export function storageFull(cause: unknown): Problem {
  const detail = 'The disk of the agent is full: nothing was changed. What is there can be read; the rest works again once there is room.'
  return new Problem('error:InsufficientStorage', detail, { cause })
}
