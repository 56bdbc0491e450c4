/** Arguments and flags that many commands share. */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { ownDidText } from '../../src/definitions/did-names.ts'
import { UsageError } from '../errors/errors.ts'

/** A required argument. oclif would otherwise read a missing one from standard input. */
export const argument = (description: string, { canBeEmpty = false } = {}) =>
  Args.string({
    required: true,
    ignoreStdin: true,
    description,
    // An empty id would name a list in the API.
    async parse(text) {
      if (text === '' && !canBeEmpty) throw new UsageError(`An argument is empty: ${description}.`)
      return text
    },
  })

export const optionalArgument = (description: string) => Args.string({ ignoreStdin: true, description })

/** The argument `id` of a command about one item. */
export const idOf = (noun: string) => ({ id: argument(`id of the ${noun}`) })

export const connectionArgument = argument('the connection: its id, the end of the id, or its label')

export const ownDidArgument = argument(ownDidText)

/** Options of a flag that may be repeated, and takes one value each time. */
export const repeatable = { multiple: true, multipleNonGreedy: true } as const

/** The flags of commands about the daemon of this machine. */
export const localDaemonFlags = {
  'data-dir': Flags.string({ description: 'data folder of the daemon (AGENT_DATA_DIR)' }),
  profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
}

export const yesFlag = Flags.boolean({ char: 'y', description: 'do not ask for confirmation' })
