import { shortProofRequest } from '../../cli/format/proof-request.ts'
import { shortProofState } from '../../cli/format/proofs.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List presentation records',
  examples: ['agent proof list', 'agent proof list --quiet'],
  flags: recordFlags,
  read: ({ call, flags }) =>
    call('GET /present-proof/presentations', { query: toRecordQuery('proof', flags) }),
  id: ({ presentationId }) => presentationId,
  columns: [
    { head: 'id', of: ({ presentationId }) => presentationId, isId: true },
    { head: 'role', of: ({ role }) => role, optional: true },
    { head: 'state', of: (record) => shortProofState(record) },
    { head: 'asked for', of: (record) => shortProofRequest(record), cut: 'end' },
  ],
  empty: 'There are no presentation records. `agent proof request` makes one.',
})
