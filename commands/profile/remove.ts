import { fromVariables } from '../../cli/client/settings.ts'
import { findDaemon } from '../../cli/daemon/find.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { argument, yesFlag } from '../../cli/input/arguments.ts'
import { removeLogin } from '../../cli/login/store.ts'
import { confirm } from '../../cli/prompts/ask.ts'
import {
  profileNames,
  readProfile,
  readProfileInUse,
  removeProfile,
  writeProfileInUse,
} from '../../src/foundation/config/profile.ts'
import { removeSettings } from '../../src/foundation/config/settings.ts'

export default defineLocalCommand({
  summary: 'Remove a profile and its keys',
  description:
    'The daemon and its data stay. Without its profile, a daemon on this machine creates a new administrator’s key at the next start. Asks for confirmation; in scripts use --yes.',
  examples: ['agent profile remove acme', 'agent profile remove acme --yes'],
  args: {
    name: argument('name of the profile'),
  },
  flags: { yes: yesFlag },
  async run({ args, flags, printFields }) {
    const { name } = args
    const { AGENT_CONFIG_DIR: configDir } = fromVariables()
    if (!profileNames(configDir).includes(name))
      throw new CommandError(`There is no profile ${name}.`, 3, 'agent profile list')
    const dataDir = dataDirOf(configDir, name)
    if (dataDir !== undefined && (await findDaemon(dataDir)))
      throw new CommandError(
        `The daemon of the profile ${name} runs and uses the profile.`,
        5,
        `agent daemon stop --profile ${name}`,
      )
    if (!flags.yes) await confirm(`Remove the profile ${name}, with the keys in it? This cannot be undone.`)
    removeProfile(configDir, name)
    removeSettings(configDir, name)
    removeLogin(configDir, name)
    if (readProfileInUse(configDir) === name) writeProfileInUse(configDir, undefined)
    printFields([['removed', name]])
    return { name, removed: true }
  },
})

/** The data folder of a local profile; undefined for a profile that is not valid, which may be removed. */
function dataDirOf(configDir: string, name: string): string | undefined {
  try {
    const profile = readProfile(configDir, name)
    return profile?.kind === 'local' ? profile.dataDir : undefined
  } catch {
    return undefined
  }
}
