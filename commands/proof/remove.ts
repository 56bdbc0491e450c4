import { whichRecord } from '../../cli/prompts/questions.ts'
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'proof',
  summary: 'Remove a presentation record',
  description: 'The other side is not notified.',
  askId: whichRecord('proof'),
  remove: (call, id) =>
    call('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId: id } }),
})
