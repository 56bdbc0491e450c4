import { fromProcess } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { profileFields, showProfile } from '../../cli/format/administration.ts'
import { optionalArgument } from '../../cli/input/arguments.ts'
import { readProfile } from '../../src/foundation/config/profile.ts'

export default defineLocalCommand({
  summary: 'Show a profile: the daemon, the available keys, and the file',
  description: 'Keys are not printed. They are in the file, which only its owner can read.',
  examples: ['agent profile show', 'agent profile show acme'],
  args: {
    name: optionalArgument('name of the profile; default: the selected profile'),
  },
  async run({ args, printFields }) {
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE: inUse } = fromProcess()
    const name = args.name ?? inUse
    const profile = readProfile(configDir, name)
    if (!profile) throw new CommandError(`There is no profile ${name}.`, 3, 'agent profile list')
    const shown = showProfile(configDir, name, profile, inUse)
    printFields(profileFields(shown))
    return shown
  },
})
