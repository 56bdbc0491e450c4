/** `agent connection remove` */
import { whichRecord } from '../../cli/prompts/questions.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'connection',
  summary: 'Remove a connection, or withdraw an invitation that was not accepted yet',
  description:
    'Messages of the other side are refused afterwards; it is not notified. Credentials, proofs and messages that were exchanged stay, but a revocation is not announced any more. Refused (403) while a credential or a proof over the connection waits for its next step.',
  askId: whichRecord('connection'),
  remove: (call, id) => call('DELETE /connections/{connectionId}', { path: { connectionId: id } }),
})
