import { shownDid } from '../../cli/format/records.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the wallet’s DIDs',
  examples: ['agent did list'],
  read: ({ call, paging }) => call('GET /did-registrar/dids', { query: paging }),
  id: ({ did }) => did,
  columns: [
    { head: 'label', of: ({ label }) => label, cut: 'end', optional: true },
    { head: 'did', of: ({ did }) => did, cut: 'middle' },
    { head: 'state', of: shownDid },
  ],
  empty:
    'The wallet has no DIDs. `agent did create` makes one, `agent did restore` finds those of its seed again.',
})
