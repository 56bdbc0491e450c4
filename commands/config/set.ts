import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../../cli/client/settings.ts'
import { readName, requireValid, sayConsequences, settingFiles } from '../../cli/daemon/change-setting.ts'
import { configFlag } from '../../cli/daemon/configuration.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readInput } from '../../cli/input/files.ts'

export default defineLocalCommand({
  summary: 'Set a setting for the next start of the daemon',
  description:
    'Writes the configuration file of the profile, whose comments and order stay, or else the settings of the profile. Names and values that are not valid are refused. `agent config show --all` lists the names.',
  examples: [
    'agent config set AGENT_HTTP_PORT 9085',
    'agent config set AGENT_MEDIATOR true --config ./agent.yaml',
    'agent config set ADMIN_TOKEN -',
  ],
  args: {
    name: argument('name of the setting'),
    value: argument('the value, as in the environment; - for standard input'),
  },
  flags: {
    config: configFlag,
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  },
  async run({ args, flags, printFields, say, suggest }) {
    const name = await readName(args.name)
    const value = args.value === '-' ? readInput('-').replace(/\r?\n$/, '') : args.value
    await requireValid(name, value)
    const where = { around: fromProcess(), profile: flags.profile, config: flags.config }
    const [path = ''] = await settingFiles(name, where)
    const { changeSetting, isSecret, isSettingName } = await import('../../src/foundation/config/report.ts')
    changeSetting(path, name, value)
    const shown = isSettingName(name) && isSecret(name) ? '***' : value
    printFields([
      ['name', name],
      ['value', shown],
      ['file', path],
    ])
    await sayConsequences(name, where, { say, suggest })
    return { name, value: shown, path }
  },
})
