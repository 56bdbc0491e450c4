import { ago } from '../../cli/format/time.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List tenants',
  description: 'Needs the administrator’s key.',
  examples: ['agent tenant list'],
  read: ({ call, paging }) => call('GET /iam/entities', { query: paging }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'name', of: ({ name }) => name, cut: 'end' },
    { head: 'wallet', of: ({ walletId }) => walletId, isId: true, optional: true },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ],
  empty: 'There are no tenants. `agent tenant create <name>` makes one.',
})
