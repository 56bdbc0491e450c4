/** The tables of the docs pages, generated from the code. */
import { exitCodes } from '../../cli/errors/errors.ts'
import { variables } from '../../src/foundation/config/config.ts'
import { metricTable, type Definition } from '../../src/foundation/metric-table.ts'
import { defaultText } from '../../src/foundation/config/report.ts'
import { secretFiles, type Name } from '../../src/foundation/config/setting-names.ts'
import { remembered } from '../../src/foundation/config/settings.ts'

/** Variables whose default depends on the user. */
const homely: Record<string, string> = { AGENT_DATA_DIR: 'by platform', AGENT_CONFIG_DIR: 'by platform' }

function defaultOf(name: Name): string {
  if (homely[name] !== undefined) return homely[name]
  const text = defaultText(name)
  return text === null ? '' : `\`${text}\``
}

const listOf = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

/** The variables that name files of secrets. */
export const secretFilesList = () => listOf([...secretFiles.keys()])

/** The settings that a daemon keeps for the next start. */
export const rememberedList = () => listOf(remembered)

/** Variable, default, meaning. */
export function variablesTable(): string {
  const rows = Object.entries(variables).map(
    ([name, type]) => `| \`${name}\` | ${defaultOf(name as Name)} | ${type.description} |`,
  )
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
}

/** The rows of the exit codes in docs/reference/command-line.md. */
export function exitCodesTable(): string {
  return Object.entries(exitCodes)
    .map(([code, [name, what, , remedy]]) => `| ${code} | ${name} | ${what} | ${remedy} |`)
    .join('\n')
}

/** The metrics of the agent: name, type, labels with their values, meaning. */
export function metricsTable(): string {
  const rows = Object.entries(metricTable as Record<string, Definition>).map(
    ([name, { type, labels, help }]) => {
      const words = Object.entries(labels).map(
        ([label, values]) =>
          `\`${label}\`${values === 'any' ? '' : `: ${values.map((value) => `\`${value}\``).join(', ')}`}`,
      )
      return `| \`${name}\` | ${type} | ${words.join('; ')} | ${help} |`
    },
  )
  return ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n')
}
