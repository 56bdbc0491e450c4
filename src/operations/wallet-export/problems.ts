/** The problems of an import. */
import { Problem, type ProblemType } from '../../foundation/problem.ts'

type Name = 'NotAnExport' | 'NewerExport' | 'WrongPassphrase' | 'DamagedExport' | 'BelongsToAnother'

const refuse = (name: Name, detail: string, options?: ErrorOptions) =>
  new Problem(
    `error:WalletPortabilityError:${name}` satisfies ProblemType,
    `${detail} Nothing was changed.`,
    options,
  )

/** `reason` continues the sentence "The file is damaged: ". */
export function damaged(reason: string, options?: ErrorOptions): Problem {
  return refuse(
    'DamagedExport',
    `The file is damaged: ${reason}. Export the wallet again, or take another copy of the file.`,
    options,
  )
}

export function notAnExport(): Problem {
  return refuse(
    'NotAnExport',
    'The file is not an export of a wallet. Use a file that `agent wallet export` has written.',
  )
}

/** `what` is the part that this release does not know. */
export function newer(what: string): Problem {
  return refuse(
    'NewerExport',
    `A newer release of the agent wrote the file: it has ${what}. Import it with that release.`,
  )
}

export function wrongPassphrase(): Problem {
  return refuse(
    'WrongPassphrase',
    'The passphrase does not open the file, or the first lines of the file were changed.',
  )
}

/** `what` is the row that another wallet of this agent has. */
export function belongsToAnother(what: string): Problem {
  return refuse('BelongsToAnother', `${what} belongs to another wallet of this agent.`)
}
