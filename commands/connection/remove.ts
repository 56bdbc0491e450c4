/** `agent connection remove` */
import { whichRecord } from '../../cli/prompts/questions.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'connection',
  summary: 'Withdraw an invitation that was not accepted yet',
  description: 'A later acceptance is refused. An established connection cannot be removed (403).',
  question: 'Withdraw the invitation {id}? This cannot be undone.',
  askId: whichRecord('connection'),
  remove: (call, id) => call('DELETE /connections/{connectionId}', { path: { connectionId: id } }),
})
