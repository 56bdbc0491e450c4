import * as Flags from '@oclif/core/flags'
import { ago } from '../../cli/format/time.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List basic messages, sent and received',
  examples: ['agent message list', 'agent message list --connection <id>'],
  flags: {
    connection: Flags.string({ description: 'only messages of this connection' }),
  },
  read: ({ call, flags, paging }) =>
    call('GET /messages', {
      query: { ...paging, connectionId: flags.connection },
    }),
  id: ({ messageId }) => messageId,
  columns: [
    { head: 'id', of: ({ messageId }) => messageId, isId: true, optional: true },
    {
      head: 'direction',
      of: ({ direction, failure }) => (failure === undefined ? direction : 'abandoned'),
    },
    { head: 'content', of: ({ content }) => content, cut: 'end' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ],
  empty: 'There are no messages. `agent message send <text> --connection <id>` sends one.',
})
