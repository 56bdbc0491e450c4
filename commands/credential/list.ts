/** `agent credential list` */
import { credentialColumns } from '../../cli/format/records.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List credential records',
  examples: ['agent credential list', 'agent credential list --json | jq -r .contents[].recordId'],
  flags: recordFlags,
  read: ({ call, flags }) =>
    call('GET /issue-credentials/records', {
      query: toRecordQuery('credential', flags),
    }),
  id: ({ recordId }) => recordId,
  columns: credentialColumns,
  empty: 'There are no credential records. `agent credential offer` makes one.',
})
