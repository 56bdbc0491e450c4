import { ago } from '../../cli/format/time.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the wallet’s webhooks',
  examples: ['agent webhook list'],
  read: ({ call, paging }) => call('GET /events/webhooks', { query: paging }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'url', of: ({ url }) => url, cut: 'middle' },
    {
      head: 'headers',
      of: ({ customHeaders }) => Object.keys(customHeaders).join(' '),
      cut: 'end',
      optional: true,
    },
    { head: 'events', of: ({ types }) => types?.join(' '), cut: 'end', optional: true },
    { head: 'signed', of: ({ signed }) => (signed ? 'yes' : 'no'), optional: true },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ],
  empty: 'There are no webhooks. `agent webhook add <url>` registers one.',
})
