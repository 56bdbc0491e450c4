import { requestColumns } from '../../cli/enterprise.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List challenges',
  examples: ['agent auth list'],
  read: ({ call, paging }) => call('GET /did-authentication/challenges', { query: paging }),
  id: ({ id }) => id,
  columns: requestColumns('auth'),
  empty: 'There are no challenges. `agent auth create` makes one.',
})
