import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../../cli/client/settings.ts'
import { inspectNextStart } from '../../cli/daemon/configuration.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { safeLine } from '../../cli/format/text.ts'
import { optionalArgument } from '../../cli/input/arguments.ts'
import { remedyOf, type Fault } from '../../src/foundation/config/fault.ts'

export default defineLocalCommand({
  summary: 'Check the settings that the next `agent daemon start` would use',
  description:
    'Checks the environment, the configuration file and the settings of the profile, without starting anything. Exits with 2 if a setting is not valid, otherwise with 0: an unknown environment variable is a warning.',
  examples: ['agent config validate', 'agent config validate ./agent.yaml'],
  args: {
    file: optionalArgument('configuration file; default: that of the next start'),
  },
  flags: {
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  },
  async run({ args, flags, log, say, printFields, paint }) {
    const inspected = await inspectNextStart(fromProcess(), flags.profile, args.file)
    const { findUnknownVariables } = await import('../../src/foundation/config/report.ts')
    const faults = inspected.faults.map((fault) => ({ ...fault, remedy: remedyOf(fault) }))
    const strangers = findUnknownVariables(process.env)
      .filter(({ near }) => near === undefined)
      .map(({ name }) => `The environment variable ${name} is not known.`)
    const warnings = [...inspected.warnings, ...strangers]
    const files = inspected.layers.flatMap(({ path }) => path ?? [])
    for (const fault of faults) log(`${paint('bad', '✖')} ${safeLine(sentence(fault))}`)
    if (faults.length === 0) printFields([['valid', ['environment', ...files].join(', ')]])
    else process.exitCode = 2
    for (const warning of warnings) say(`Warning: ${warning}`)
    return { valid: faults.length === 0, files, faults, warnings }
  },
})

function sentence({ name, source, path, reason, remedy }: Fault): string {
  const text = `${reason}. ${remedy}`
  return name === undefined ? `${path} ${text}` : `${name} (${path ?? source}): ${text}`
}
