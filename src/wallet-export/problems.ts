/** Why a file is not imported. */
import { Problem, type ProblemType } from '../base/problem.ts'

type Name = 'NotAnExport' | 'NewerExport' | 'WrongPassphrase' | 'DamagedExport' | 'BelongsToAnother'

const refuse = (name: Name, detail: string, options?: ErrorOptions) =>
  new Problem(
    `error:WalletPortabilityError:${name}` satisfies ProblemType,
    `${detail} Nothing was changed.`,
    options,
  )

/** `reason` goes on after "The file is damaged: ". */
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
    'The file is no export of a wallet. Give one that `agent wallet export` has made.',
  )
}

/** `what` is what this release does not know. */
export function newer(what: string): Problem {
  return refuse(
    'NewerExport',
    `The file was made by a newer release of the agent: it has ${what}. Import it with that release.`,
  )
}

export function wrongPassphrase(): Problem {
  return refuse(
    'WrongPassphrase',
    'The passphrase does not open the file, or the first lines of the file were changed.',
  )
}

/** `what` is the thing that is another wallet's here already. */
export function belongsToAnother(what: string): Problem {
  return refuse(
    'BelongsToAnother',
    `${what} belongs to another wallet of this agent, and cannot come with this one as well.`,
  )
}
