import { whichRecord } from '../../cli/prompts/questions.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'credential',
  summary: 'Remove a credential record and, for the holder, its credential',
  description:
    'The other side is not notified. An issuer must revoke a valid credential before removing its record.',
  askId: whichRecord('credential'),
  remove: (call, id) => call('DELETE /issue-credentials/records/{recordId}', { path: { recordId: id } }),
})
