import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../../cli/client/settings.ts'
import { readName, sayConsequences, settingFiles } from '../../cli/daemon/change-setting.ts'
import { configFlag } from '../../cli/daemon/configuration.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineLocalCommand({
  summary: 'Remove a setting, so that the next start uses its default',
  description: 'Removes it from the configuration file and from the settings of the profile.',
  examples: ['agent config unset AGENT_HTTP_PORT'],
  args: { name: argument('name of the setting') },
  flags: {
    config: configFlag,
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  },
  async run({ args, flags, printFields, say, suggest }) {
    const name = await readName(args.name)
    const where = { around: fromProcess(), profile: flags.profile, config: flags.config }
    const files = await settingFiles(name, where)
    const { changeSetting } = await import('../../src/foundation/config/report.ts')
    const removed = files.filter((path) => changeSetting(path, name, undefined))
    if (removed.length === 0) say(`No file sets ${name}: ${files.join(', ')}.`)
    else printFields([['removed', name], ...removed.map((path): [string, string] => ['file', path])])
    await sayConsequences(name, where, { say, suggest })
    return { name, removedFrom: removed }
  },
})
