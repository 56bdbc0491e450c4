import { requestColumns } from '../../cli/enterprise.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List DID requests',
  examples: ['agent onboard list'],
  read: ({ call, paging }) => call('GET /onboard/did-requests', { query: paging }),
  id: ({ id }) => id,
  columns: requestColumns('onboard'),
  empty: 'There are no DID requests. `agent onboard create` makes one.',
})
