import { shownServer } from '../../cli/issuer.ts'
import { nameOf } from '../../cli/format/locale.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the wallet’s OpenID4VCI issuers',
  examples: ['agent issuer list'],
  read: ({ call, paging }) => call('GET /oid4vci/issuers', { query: paging }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'name', of: ({ display }) => nameOf(display) },
    { head: 'authorization server', of: shownServer, cut: 'middle' },
  ],
  empty: 'There are no issuers. `agent issuer create` creates one.',
})
