/** `agent profile list` */
import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../../cli/client/settings.ts'
import { profileColumns, showProfiles } from '../../cli/format/profile.ts'
import { table } from '../../cli/format/table.ts'
import { PlainCommand } from '../../cli/plain.ts'

export default class ProfileList extends PlainCommand {
  static override summary = 'List the profiles: the daemons that this user’s commands know'
  static override examples = ['<%= config.bin %> profile list', '<%= config.bin %> profile list --json']
  static override flags = { quiet: Flags.boolean({ char: 'q', description: 'print names only' }) }

  async run() {
    const { flags } = await this.parse(ProfileList)
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE: inUse } = fromProcess()
    const contents = showProfiles(configDir, inUse)
    if (contents.length === 0)
      this.say('There are no profiles. `agent daemon start` writes one, and so does `agent profile add`.')
    else
      this.log(
        flags.quiet
          ? contents.map(({ name }) => name).join('\n')
          : table(contents, profileColumns, this.width, this.paint),
      )
    return { contents }
  }
}
