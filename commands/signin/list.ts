import { requestColumns } from '../../cli/enterprise.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List challenges',
  examples: ['agent signin list'],
  read: ({ call, paging }) => call('GET /did-authentication/challenges', { query: paging }),
  id: ({ id }) => id,
  columns: requestColumns('signin'),
  empty: 'There are no challenges. `agent signin create` makes one.',
})
