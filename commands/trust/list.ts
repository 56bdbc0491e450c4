import { contentOf, documentsOf } from '../../cli/format/trust-anchor.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the trusted authorities and issuers',
  examples: ['agent trust list'],
  read: ({ call, paging }) => call('GET /trust-anchors', { query: paging }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'type', of: ({ type }) => type },
    { head: 'anchor', of: contentOf, cut: 'end' },
    { head: 'for', of: documentsOf, cut: 'end', optional: true },
    { head: 'name', of: ({ name }) => name, cut: 'end', optional: true },
    { head: 'ends', of: ({ notAfter }) => notAfter?.slice(0, 10), optional: true },
  ],
  empty: 'There are no trust anchors. `agent trust add <file of a root certificate>` adds one.',
})
