/** `agent profile show` */
import * as Args from '@oclif/core/args'
import { readProfile } from '../../src/base/profile.ts'
import { fromProcess } from '../../cli/client/settings.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { profileFields, showProfile } from '../../cli/format/profile.ts'
import { fields } from '../../cli/format/table.ts'
import { PlainCommand } from '../../cli/plain.ts'

export default class ProfileShow extends PlainCommand {
  static override summary = 'Show a profile: the daemon, which keys there are, and the file'
  static override description =
    'Keys are not shown; they are in the file, which is readable by its owner alone.'
  static override examples = ['<%= config.bin %> profile show', '<%= config.bin %> profile show acme']
  static override args = {
    name: Args.string({
      ignoreStdin: true,
      description: 'name of the profile; the one in use when left out',
    }),
  }

  async run() {
    const { args } = await this.parse(ProfileShow)
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE: inUse } = fromProcess()
    const name = args.name ?? inUse
    const profile = readProfile(configDir, name)
    if (!profile) throw new CommandError(`There is no profile ${name}.`, 3, 'agent profile list')
    const shown = showProfile(configDir, name, profile, inUse)
    this.log(fields(profileFields(shown), this.width, this.paint))
    return shown
  }
}
