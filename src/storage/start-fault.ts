/** Why the agent's files do not let it start. */
import { StartError } from '../base/start-error.ts'
import { DamagedFileError } from './damaged-file-error.ts'
import { isDiskFull } from './fault.ts'
import { NewerFileError } from './newer-file-error.ts'

/** The same error, or for a fault of a file one sentence that names it and the way out. */
export function toStartError(error: unknown): unknown {
  const text = describe(error)
  return text === undefined ? error : new StartError(text, 1, { cause: error })
}

function describe(error: unknown): string | undefined {
  if (error instanceof NewerFileError)
    return `${error.message}. Start that release, or put back a copy of the folder from before.`
  if (error instanceof DamagedFileError) {
    return `${error.message}. Put a copy of the file back from a backup, and start again; nothing else in the folder was changed.`
  }
  if (isDiskFull(error))
    return 'The disk is full: a first start needs room for its files. Make room on it, or name a folder elsewhere in AGENT_DATA_DIR.'
  return undefined
}
