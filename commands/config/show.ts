import { statSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { fromProcess } from '../../cli/client/settings.ts'
import { configFlag, inspectNextStart } from '../../cli/daemon/configuration.ts'
import { findOthers } from '../../cli/daemon/conflicts.ts'
import { findDaemon } from '../../cli/daemon/find.ts'
import { defineLocalCommand } from '../../cli/define-command.ts'
import { CommandError } from '../../cli/errors/errors.ts'
import { inStyle } from '../../cli/format/colour.ts'
import { type Column, table } from '../../cli/format/table.ts'
import { wrap } from '../../cli/format/text.ts'
import type { Output } from '../../cli/output.ts'
import { optionalArgument } from '../../cli/input/arguments.ts'
import { ConfigError } from '../../src/foundation/config/fault.ts'
import type { Row } from '../../src/foundation/config/report.ts'
import type { Inspected } from '../../src/foundation/config/configure.ts'

export default defineLocalCommand({
  summary: 'Show the settings that the next `agent daemon start` would use, and their sources',
  description:
    'A source is flag, environment, file (the configuration file), profile (what the last start has kept) or default. Without --all or a name, settings with their default are left out. Secrets are printed as ***.',
  examples: [
    'agent config show',
    'agent config show --all --config ./agent.yaml',
    'agent config show AGENT_HTTP_PORT',
    'agent config show mediator',
  ],
  args: {
    name: optionalArgument('name of a setting, or a part of names'),
  },
  flags: {
    all: Flags.boolean({ description: 'include settings that have their default' }),
    config: configFlag,
    profile: Flags.string({ char: 'p', description: 'profile of the daemon (AGENT_PROFILE)' }),
  },
  async run(context) {
    const { args, flags, log, say, width, paint } = context
    const around = fromProcess()
    const inspected = await inspectNextStart(around, flags.profile, flags.config)
    if (!inspected.config) throw new ConfigError(inspected.faults)
    const { toRows, nearestSetting } = await import('../../src/foundation/config/report.ts')
    const all = toRows(inspected)
    const part = args.name?.toUpperCase()
    const rows = all.filter(({ name, source }) =>
      part === undefined ? flags.all || source !== 'default' : name.includes(part),
    )
    if (part !== undefined && rows.length === 0) {
      const near = nearestSetting(part)
      const meant = near === undefined ? '' : ` Did you mean ${near}?`
      throw new CommandError(`There is no setting ${args.name}.${meant}`, 3, 'agent config show --all')
    }
    const daemon = await compare(inspected)
    const [only] = rows
    if (only && rows.length === 1 && part !== undefined) printOne(only, context)
    else if (only) log(table(rows, columns, width, paint))
    const files = inspected.layers.flatMap(({ source, path }) =>
      path === undefined ? [] : [{ source, path }],
    )
    for (const { source, path } of files)
      if (rows.length > 1 && rows.some((row) => row.source === source)) say(`${source}: ${path}`)
    const left = all.length - rows.length
    if (left > 0 && part === undefined)
      say(`${left} settings have their default. \`agent config show --all\` prints them too.`)
    const other = daemon && describeOther(daemon)
    if (other !== undefined) say(wrap(other, width).join('\n'))
    return { profile: flags.profile ?? around.AGENT_PROFILE, files, settings: rows, daemon }
  },
})

const columns: Column<Row>[] = [
  { head: 'name', of: ({ name }) => name },
  { head: 'value', of: valueWords, cut: 'middle' },
  { head: 'source', of: ({ source }) => (source === 'default' ? inStyle('faint', source) : source) },
]

function valueWords({ value, secretFile }: Row) {
  if (value === null) return inStyle('faint', 'none')
  return secretFile === undefined ? value : `${value} in ${secretFile}`
}

function printOne(
  row: Row,
  { log, width, printFields }: Pick<Output, 'log' | 'width' | 'printFields'>,
): void {
  printFields([
    ['name', row.name],
    ['value', valueWords(row)],
    ['source', row.source],
    ['file', row.path],
    ['default', row.default],
  ])
  log(`\n${wrap(row.description, width).join('\n')}`)
}

type RunningDaemon = { url: string; pid: number; startedAt: string; differs: string[]; fileChanged: boolean }

/** The running daemon of the data folder, and what is known to differ from the next start. */
async function compare({ layers, config }: Inspected): Promise<RunningDaemon | undefined> {
  const running = await findDaemon(config!.AGENT_DATA_DIR)
  if (!running) return undefined
  const [flags, environment, file, profile] = layers
  const { AGENT_HTTP_PORT, AGENT_DIDCOMM_PORT } = config!
  const ports = {
    AGENT_HTTP_PORT: String(AGENT_HTTP_PORT),
    AGENT_DIDCOMM_PORT: String(AGENT_DIDCOMM_PORT),
  }
  const requested = { ...environment!.values, ...flags!.values, ...ports }
  const { url, pid, startedAt } = running
  const fileChanged = file!.path !== undefined && statSync(file!.path).mtime > new Date(startedAt)
  const differs = findOthers(running, requested, [profile!.values, file!.values])
  return { url, pid, startedAt, differs, fileChanged }
}

function describeOther({ url, startedAt, differs, fileChanged }: RunningDaemon): string | undefined {
  const reasons = [
    ...(differs.length > 0 ? [`has other values of ${differs.join(', ')}`] : []),
    ...(fileChanged ? ['has read the configuration file before its last change'] : []),
  ]
  if (reasons.length === 0) return undefined
  return `The daemon at ${url}, started at ${startedAt}, ${reasons.join(', and ')}. A restart uses the settings above.`
}
