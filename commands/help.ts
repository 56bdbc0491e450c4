import * as Flags from '@oclif/core/flags'
import type { Command } from '../cli/define-command.ts'
import Help, { type Config } from '../cli/help.ts'
import { optionalArgument } from '../cli/input/arguments.ts'

/** oclif runs it with its configuration. Its words are those of the command in question. */
const command: Omit<Command, 'run'> & { run: (argv: string[], config: unknown) => Promise<void> } = {
  summary: 'Show the help of a topic or a command',
  description: undefined,
  examples: ['agent help', 'agent help --all', 'agent help credential', 'agent help credential offer'],
  hidden: false,
  usage: 'help [TOPIC] [COMMAND] [--all]',
  args: { topic: optionalArgument('topic'), command: optionalArgument('command') },
  flags: { all: Flags.boolean({ description: 'list all topics and commands' }) },
  baseFlags: {},
  strict: true,
  run: (argv, config) => {
    const { pjson } = config as Config
    return new Help(config as Config, pjson.oclif.helpOptions).showHelp(argv)
  },
}

export default command
