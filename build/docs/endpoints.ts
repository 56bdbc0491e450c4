/** Writes `docs/reference/endpoints.md`: the table of the endpoints. */
import { scopesOf, type Contract, type Route } from '../../daemon/http/route.ts'
import { routes } from '../../daemon/routes/index.ts'
import { allScopes } from '../../src/wallet/model.ts'

export function endpointsPage(): string {
  const rows = (routes as readonly Route[]).map(
    ({ key, contract }) =>
      `| \`${key}\` | ${contract.access.replaceAll('-', ' ')} | ${scopeWords(contract)} | ${contract.extension ? 'yes' : ''} | ${contract.summary} |`,
  )
  return `${[
    '# Endpoints',
    'The endpoints of the [HTTP API](api.md), which explains the columns. `npm run docs` writes this page.',
    ['| endpoint | for | scopes | extension | |', '|---|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`
}

function scopeWords(contract: Contract): string {
  const scopes = scopesOf(contract)
  if (!scopes) return ''
  if (scopes.length === allScopes.length) return 'any'
  return scopes.join(', ') || 'none'
}
