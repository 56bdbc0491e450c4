import { claimsLine } from '../../cli/format/credential.ts'
import { shortCredentialState } from '../../cli/format/records.ts'
import { ago } from '../../cli/format/time.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List credential records',
  examples: ['agent credential list', 'agent credential list --json | jq -r .contents[].recordId'],
  flags: recordFlags,
  read: ({ call, flags }) =>
    call('GET /issue-credentials/records', { query: toRecordQuery('credential', flags) }),
  id: ({ recordId }) => recordId,
  columns: [
    { head: 'id', of: ({ recordId }) => recordId, isId: true },
    { head: 'role', of: ({ role }) => role, optional: true },
    {
      head: 'state',
      of: shortCredentialState,
    },
    { head: 'claims', of: ({ claims }) => claimsLine(claims), cut: 'end' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ],
  empty: 'There are no credential records. `agent credential offer` makes one.',
})
