import { readNames } from '../../cli/client/names.ts'
import { credentialAbout, partnerInCredential } from '../../cli/format/parties.ts'
import { shortCredentialState } from '../../cli/format/records.ts'
import { expiresCell, renewal } from '../../cli/format/states.ts'
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
  columns: async ({ call }, items) => {
    const names = await readNames(call, items)
    return [
      { head: 'id', of: ({ recordId }) => recordId, isId: true },
      { head: 'state', of: shortCredentialState },
      { head: 'claims', of: (item) => credentialAbout(item), cut: 'end' },
      { head: 'with', of: (record) => partnerInCredential(record, names), cut: 'end' },
      { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()) },
      { head: 'expires', of: (item) => expiresCell(item), optional: true },
      { head: 'role', of: ({ role }) => role, optional: true },
    ]
  },
  next: ({ contents: [newest] }) => newest && renewal('credential', newest.protocolState, newest),
  empty: 'There are no credential records. `agent credential offer` makes one.',
})
