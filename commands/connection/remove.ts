import { whichRecord } from '../../cli/prompts/questions.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'connection',
  summary: 'Remove a connection, or withdraw an invitation that was not accepted yet',
  description:
    'The agent deletes its record of the connection. It then refuses messages of the other side, who is not told. To connect again, invite them again. Credentials, proofs and messages that were exchanged stay. When you revoke a credential later, its holder gets no message about it. An invitation that you withdraw can no longer be accepted. The agent refuses the removal (403) while a credential or a proof over the connection waits for its next step.',
  askId: whichRecord('connection'),
  remove: (call, id) => call('DELETE /connections/{connectionId}', { path: { connectionId: id } }),
})
