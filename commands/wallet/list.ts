import { ago } from '../../cli/format/time.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List wallets',
  description: 'Needs the administrator’s key.',
  examples: ['agent wallet list'],
  read: ({ call, paging }) => call('GET /wallets', { query: paging }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'name', of: ({ name }) => name, cut: 'end' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ],
  empty: 'There are no wallets. `agent tenant create <name>` makes one with a tenant.',
})
