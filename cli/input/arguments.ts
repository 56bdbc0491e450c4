/** Arguments and flags that many commands share. */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'

/** A required argument. oclif would otherwise read a missing one from standard input. */
export const argument = (description: string) =>
  Args.string({ required: true, ignoreStdin: true, description })

/** An argument that may be omitted. */
export const optionalArgument = (description: string) => Args.string({ ignoreStdin: true, description })

/** A DID of the wallet. */
export const ownDidArgument = argument('a DID of this wallet; a did:prism in its short or long form')

/** Options of a flag that may be repeated, and takes one value each time. */
export const repeatable = { multiple: true, multipleNonGreedy: true } as const

export const yesFlag = Flags.boolean({ char: 'y', description: 'do not ask for confirmation' })
