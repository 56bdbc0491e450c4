import { defaultProfile, fromVariables } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readProfile, writeProfileInUse } from '../../src/foundation/config/profile.ts'

export default defineLocalCommand({
  summary: 'Select the profile that commands use by default',
  description: `--profile, --url, AGENT_PROFILE and AGENT_URL take precedence. \`agent profile use ${defaultProfile}\` restores the default.`,
  examples: ['agent profile use acme', `agent profile use ${defaultProfile}`],
  args: {
    name: argument('name of the profile'),
  },
  async run({ args, say }) {
    const { name } = args
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE, AGENT_URL } = fromVariables()
    const profile = readProfile(configDir, name)
    if (!profile && name !== defaultProfile)
      throw new CommandError(`There is no profile ${name}.`, 3, 'agent profile list')
    writeProfileInUse(configDir, name === defaultProfile ? undefined : name)
    say(
      profile
        ? `Commands use the daemon at ${profile.url}.`
        : 'Commands use the daemon on this machine, once it runs.',
    )
    const over =
      AGENT_URL !== undefined ? 'AGENT_URL' : AGENT_PROFILE !== undefined ? 'AGENT_PROFILE' : undefined
    if (over !== undefined) say(`${over} is set here, and takes precedence over the selected profile.`)
    return { name, inUse: over === undefined }
  },
})
