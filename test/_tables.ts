/** The tables of the docs pages, generated from the code. */
import { exitCodes } from '../cli/errors/errors.ts'
import { scopesOf, type Contract, type Route } from '../daemon/http/route.ts'
import { routes } from '../daemon/routes/index.ts'
import { allScopes } from '../src/wallet/model.ts'
import { variables } from '../src/base/config.ts'

/** Variables whose default depends on the user. */
const homely: Record<string, string> = { AGENT_DATA_DIR: 'by platform', AGENT_CONFIG_DIR: 'by platform' }

function defaultOf(name: string, type: (typeof variables)[keyof typeof variables]): string {
  if (homely[name] !== undefined) return homely[name]
  const { success, data } = type.safeParse(undefined)
  if (!success || data === undefined) return ''
  return `\`${(Array.isArray(data) ? (data as string[]) : [data as string]).join(',')}\``
}

/** Variable, default, meaning. */
export function variablesTable(): string {
  const rows = Object.entries(variables).map(
    ([name, type]) => `| \`${name}\` | ${defaultOf(name, type)} | ${type.description} |`,
  )
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n')
}

/** Endpoint, caller, scopes, description. */
export function endpointsTable(): string {
  const rows = (routes as readonly Route[]).map(
    ({ key, contract }) =>
      `| \`${key}\` | ${contract.access.replaceAll('-', ' ')} | ${scopeWords(contract)} | ${contract.extension ? 'yes' : ''} | ${contract.summary} |`,
  )
  return ['| endpoint | for | scopes | extension | |', '|---|---|---|---|---|', ...rows].join('\n')
}

function scopeWords(contract: Contract): string {
  const scopes = scopesOf(contract)
  if (!scopes) return ''
  if (scopes.length === allScopes.length) return 'any'
  return scopes.join(', ') || 'none'
}

/** The rows of the exit codes in docs/command-line.md. */
export function exitCodesTable(): string {
  return Object.entries(exitCodes)
    .map(([code, [name, what, , remedy]]) => `| ${code} | ${name} | ${what} | ${remedy} |`)
    .join('\n')
}
