import * as Flags from '@oclif/core/flags'
import { defineLocalCommand } from '../cli/define-command.ts'
import { UsageError } from '../cli/errors/errors.ts'
import { argument, repeatable } from '../cli/input/arguments.ts'
import { readScenario } from '../cli/scenario/model.ts'
import { runScenario } from '../cli/scenario/run.ts'

export default defineLocalCommand({
  summary: 'Run the commands of a scenario file, for demonstrations and tests',
  description:
    'The file (YAML or JSON) lists commands. A later one refers to the --json output of an earlier one by ${step.field}. Ends with the exit code of the first step that fails.',
  examples: ['agent run scenario.yaml', 'agent run scenario.yaml --var name=Alice --json'],
  args: { file: argument('the scenario, - for standard input') },
  flags: {
    var: Flags.string({ ...repeatable, description: 'a variable of the scenario: name=value' }),
    quiet: Flags.boolean({ char: 'q', description: 'print nothing but errors', helpGroup: 'GLOBAL' }),
  },
  async run({ args, flags, ...output }) {
    const scenario = readScenario(args.file)
    const given = Object.fromEntries((flags.var ?? []).map((text) => readVariable(text, scenario.vars)))
    return { steps: await runScenario(scenario, output, given) }
  },
})

/** @throws {UsageError} for a variable that the scenario does not have */
function readVariable(text: string, known: Readonly<Record<string, string>>): [name: string, value: string] {
  const equals = text.indexOf('=')
  const name = text.slice(0, equals)
  if (equals <= 0) throw new UsageError(`--var ${JSON.stringify(text)} is not in the form name=value.`)
  if (!Object.hasOwn(known, name)) {
    const names = Object.keys(known)
    throw new UsageError(
      `--var: the scenario has no variable ${name}. ${names.length > 0 ? `It has ${names.join(', ')}.` : 'It has none.'}`,
    )
  }
  return [name, text.slice(equals + 1)]
}
