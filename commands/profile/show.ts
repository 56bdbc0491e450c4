import { fromProcess } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { profileFields, showLoginOnly, showProfile } from '../../cli/format/administration.ts'
import { optionalArgument } from '../../cli/input/arguments.ts'
import { loginPath, readLogin } from '../../cli/login/store.ts'
import { readProfile } from '../../src/foundation/config/profile.ts'

export default defineLocalCommand({
  summary: 'Show a profile: the daemon, the available keys, who is signed in, and the file',
  description: 'Keys are not printed. They are in the file, which only its owner can read.',
  examples: ['agent profile show', 'agent profile show acme'],
  args: {
    name: optionalArgument('name of the profile; default: the selected profile'),
  },
  async run({ args, printFields }) {
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE: inUse } = fromProcess()
    const name = args.name ?? inUse
    const [profile, login] = [readProfile(configDir, name), readLogin(configDir, name)]
    if (!profile && !login) throw new CommandError(`There is no profile ${name}.`, 3, 'agent profile list')
    const shown = profile
      ? showProfile(configDir, name, profile, inUse)
      : showLoginOnly(name, login!, loginPath(configDir, name), inUse)
    printFields(profileFields(shown))
    return shown
  },
})
