/** `agent proof list` */
import { presentationColumns } from '../../cli/format/records.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List presentation records',
  examples: ['agent proof list', 'agent proof list --quiet'],
  flags: recordFlags,
  read: ({ call, flags }) =>
    call('GET /present-proof/presentations', { query: toRecordQuery('proof', flags) }),
  id: ({ presentationId }) => presentationId,
  columns: presentationColumns,
  empty: 'There are no presentation records. `agent proof request` makes one.',
})
