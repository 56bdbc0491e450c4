/** `agent credential remove` */
import { whichRecord } from '../../cli/prompts/questions.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'credential',
  summary: 'Remove a credential record; the holder’s with its credential',
  description:
    'The other side is not told. An issuer revokes a credential that still holds before it removes the record.',
  askId: whichRecord('credential'),
  remove: (call, id) => call('DELETE /issue-credentials/records/{recordId}', { path: { recordId: id } }),
})
