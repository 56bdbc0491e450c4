import { readNames } from '../../cli/client/names.ts'
import { partnerInProof } from '../../cli/format/parties.ts'
import { shortProofRequest } from '../../cli/format/proof-request.ts'
import { shortProofState } from '../../cli/format/proofs.ts'
import { expiresCell, renewal } from '../../cli/format/states.ts'
import { ago } from '../../cli/format/time.ts'
import { recordFlags, toRecordQuery } from '../../cli/input/filters.ts'
import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List presentation records',
  examples: ['agent proof list', 'agent proof list --quiet'],
  flags: recordFlags,
  read: ({ call, flags }) =>
    call('GET /present-proof/presentations', { query: toRecordQuery('proof', flags) }),
  id: ({ presentationId }) => presentationId,
  columns: async ({ call }, items) => {
    const names = await readNames(call, items)
    return [
      { head: 'id', of: ({ presentationId }) => presentationId, isId: true },
      { head: 'state', of: (record) => shortProofState(record) },
      { head: 'with', of: (record) => partnerInProof(record, names), cut: 'end' },
      { head: 'asked for', of: (record) => shortProofRequest(record), cut: 'end' },
      { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()) },
      { head: 'expires', of: (item) => expiresCell(item), optional: true },
      { head: 'role', of: ({ role }) => role, optional: true },
    ]
  },
  next: ({ contents: [newest] }) => newest && renewal('proof', newest.status, newest),
  empty: 'There are no presentation records. `agent proof request` makes one.',
})
