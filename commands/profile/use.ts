/** `agent profile use` */
import * as Args from '@oclif/core/args'
import { readProfile, writeProfileInUse } from '../../src/base/profile.ts'
import { defaultProfile, fromVariables } from '../../cli/client/settings.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { PlainCommand } from '../../cli/plain.ts'

export default class ProfileUse extends PlainCommand {
  static override summary = 'Put a profile into use: commands go to its daemon, with its keys'
  static override description = `A --profile or --url, and AGENT_PROFILE or AGENT_URL, go over it. \`agent profile use ${defaultProfile}\` goes back to what there was before.`
  static override examples = [
    '<%= config.bin %> profile use acme',
    `<%= config.bin %> profile use ${defaultProfile}`,
  ]
  static override args = {
    name: Args.string({ required: true, ignoreStdin: true, description: 'name of the profile' }),
  }

  async run() {
    const { args } = await this.parse(ProfileUse)
    const { name } = args
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE, AGENT_URL } = fromVariables()
    const profile = readProfile(configDir, name)
    if (!profile && name !== defaultProfile)
      throw new CommandError(`There is no profile ${name}.`, 3, 'agent profile list')
    writeProfileInUse(configDir, name === defaultProfile ? undefined : name)
    this.say(
      profile
        ? `Commands go to ${profile.url}.`
        : 'Commands go to the daemon on this machine, once there is one.',
    )
    const over =
      AGENT_URL !== undefined ? 'AGENT_URL' : AGENT_PROFILE !== undefined ? 'AGENT_PROFILE' : undefined
    if (over !== undefined)
      this.say(`Not where ${over} is set, as it is here: it goes over the profile in use.`)
    return { name, inUse: over === undefined }
  }
}
