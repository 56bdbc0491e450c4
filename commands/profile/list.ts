import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../../cli/client/settings.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { profileColumns, showProfiles } from '../../cli/format/administration.ts'
import { table } from '../../cli/format/table.ts'

export default defineLocalCommand({
  summary: 'List profiles: the daemons that commands of this user can call',
  examples: ['agent profile list', 'agent profile list --json'],
  flags: { quiet: Flags.boolean({ char: 'q', description: 'print names only' }) },
  async run({ flags, say, log, width, paint }) {
    const { AGENT_CONFIG_DIR: configDir, AGENT_PROFILE: inUse } = fromProcess()
    const contents = showProfiles(configDir, inUse)
    if (contents.length === 0)
      say('There are no profiles. `agent daemon start` and `agent profile add` create one.')
    else
      log(
        flags.quiet
          ? contents.map(({ name }) => name).join('\n')
          : table(contents, profileColumns, width, paint),
      )
    return { contents }
  },
})
