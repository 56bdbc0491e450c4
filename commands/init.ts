import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../cli/client/settings.ts'
import { inspectNextStart } from '../cli/daemon/configuration.ts'
import { type Answers, askSettings, requireValidAnswers, toFile } from '../cli/daemon/new-settings.ts'
import { defineLocalCommand } from '../cli/define-command.ts'
import { CommandError, UsageError } from '../cli/errors/errors.ts'
import { typed } from '../cli/prompts/missing.ts'
import { canAsk } from '../cli/prompts/ask.ts'
import { optionalArgument } from '../cli/input/arguments.ts'
import { ConfigError } from '../src/foundation/config/fault.ts'
import { writeNewFile } from '../src/foundation/private-files.ts'
import { systemReason } from '../src/foundation/system-reason.ts'

export default defineLocalCommand({
  summary: 'Write a configuration file, by five questions',
  description:
    'Asks for the name, the port, the public URLs, the storage and a webhook, or takes them from flags. Starts nothing, and never replaces a file.',
  examples: [
    'agent init',
    'agent init --yes',
    'agent init acme.yaml --yes --name acme --port 9085',
    'agent init --public-url https://agent.example --didcomm-url https://didcomm.agent.example',
  ],
  args: { file: optionalArgument('the new file; default: agent.yaml') },
  flags: {
    name: Flags.string({ description: 'name of the agent, its profile on this machine' }),
    port: Flags.string({ description: 'port of the HTTP API; DIDComm has the port 5 above it' }),
    'public-url': Flags.string({ description: 'public URL of the HTTP API' }),
    'didcomm-url': Flags.string({
      dependsOn: ['public-url'],
      description: 'public URL of the DIDComm endpoint',
    }),
    'database-url': Flags.string({ description: 'URL of a PostgreSQL database, instead of files' }),
    webhook: Flags.string({ description: 'URL that receives the events of all wallets' }),
    yes: Flags.boolean({ char: 'y', description: 'ask nothing: defaults for what is not given' }),
  },
  async run({ args, flags, printFields, say, suggest }) {
    const { yes, ...given } = flags as Answers & { yes?: boolean; json?: boolean }
    const path = resolve(args.file ?? 'agent.yaml')
    if (existsSync(path)) throw exists(path)
    const asks = !yes && canAsk({ json: given.json })
    if (!asks && !yes)
      throw new UsageError(
        'There is no terminal to ask at: add --yes, and flags for what differs from the defaults.',
      )
    const { name, port, webhook } = given
    const known: Answers = {
      name,
      port,
      webhook,
      'database-url': given['database-url'],
      'public-url': given['public-url'],
      'didcomm-url': given['didcomm-url'],
    }
    await requireValidAnswers(known, asks)
    const answers = asks ? await askSettings(known) : known
    try {
      await writeNewFile(path, toFile(answers))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(path)
      throw new CommandError(`${path} cannot be written: ${systemReason(error)}.`, 5)
    }
    printFields([['file', path]])
    const profile = answers.name
    const { faults } = await inspectNextStart(fromProcess(), profile, path)
    for (const fault of faults) say(`Warning: ${new ConfigError([fault]).message}`)
    const start = typed(['agent', 'daemon', 'start', '--config', args.file ?? 'agent.yaml'])
    suggest(
      `${start}${profile === undefined || profile === 'local' ? '' : ` --profile ${profile}`}`,
      `agent config validate ${typed([args.file ?? 'agent.yaml'])}`,
    )
    return { file: path, profile: profile ?? 'local' }
  },
})

function exists(path: string): CommandError {
  return new CommandError(
    `${path} is there already, and stays as it is. Name another file, or change it.`,
    5,
    'agent config set <name> <value> --config <file>',
  )
}
