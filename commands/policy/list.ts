import * as Flags from '@oclif/core/flags'
import { acceptedBy } from '../../cli/format/administration.ts'
import { ago } from '../../cli/format/time.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List verification policies',
  examples: ['agent policy list', 'agent policy list --name licences'],
  flags: { name: Flags.string({ description: 'only items with this name' }) },
  read: ({ call, flags, paging }) =>
    call('GET /verification/policies', {
      query: { name: flags.name, ...paging },
    }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'name', of: ({ name }) => name, cut: 'end' },
    {
      head: 'accepts',
      of: ({ constraints }) => constraints.map(acceptedBy).join('; ') || 'any credential',
      cut: 'end',
    },
    { head: 'updated', of: ({ updatedAt }) => ago(updatedAt, Date.now()), optional: true },
  ],
  empty: 'There are no verification policies. `agent policy create` makes one.',
})
