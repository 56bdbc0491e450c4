import * as Flags from '@oclif/core/flags'
import { auditColumns } from '../../cli/format/administration.ts'
import { readSeconds } from '../../cli/input/time.ts'
import { listCommand } from '../../cli/list-command.ts'

const actors = ['admin', 'tenant', 'anonymous', 'agent'] as const
const outcomes = ['succeeded', 'failed', 'refused', 'unknown'] as const

export default listCommand({
  summary: 'List audit log entries, newest first',
  description:
    'The log has changes by the administrator, operations on DIDs and keys, and refused requests. Entries older than AUDIT_RETENTION are deleted. Needs the administrator’s key.',
  examples: [
    'agent audit list --limit 20',
    'agent audit list --result refused --within 1d',
    'agent audit list --action "DELETE /iam/entities/{id}" --json',
  ],
  flags: {
    actor: Flags.option({ options: actors, description: 'only actions of this kind of actor' })(),
    result: Flags.option({ options: outcomes, description: 'only actions with this result' })(),
    action: Flags.string({ description: 'only this endpoint, such as "POST /wallets"' }),
    tenant: Flags.string({ description: 'only actions of this tenant, by its id' }),
    wallet: Flags.string({ description: 'only actions on this wallet, by its id' }),
    request: Flags.string({ description: 'only the request with this x-request-id' }),
    within: Flags.string({ description: 'only entries of this last period: 90m, 12h, 30d' }),
  },
  read: ({ flags, call }) => {
    const { limit, offset, actor, result: outcome, action, request: requestId, within } = flags
    const { tenant: entityId, wallet: walletId } = flags
    const since =
      within === undefined
        ? undefined
        : new Date(Date.now() - readSeconds('within', within) * 1_000).toISOString()
    const query = { limit, offset, actor, outcome, action, entityId, walletId, requestId, since }
    return call('GET /audit', { query })
  },
  id: ({ sequence }) => String(sequence),
  columns: auditColumns,
  empty: 'Nothing of the kind is in the audit log.',
})
