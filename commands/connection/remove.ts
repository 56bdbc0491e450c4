/** `agent connection remove` */
import { whichRecord } from '../../cli/prompts/questions.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'connection',
  summary: 'Take back an invitation that nobody has accepted',
  description: 'Who accepts it afterwards is refused. A connection that is made stays (403).',
  question: 'Take back the invitation {id}? It cannot be made again.',
  askId: whichRecord('connection'),
  remove: (call, id) => call('DELETE /connections/{connectionId}', { path: { connectionId: id } }),
})
