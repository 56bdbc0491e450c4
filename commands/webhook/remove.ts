/** `agent webhook remove` */
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'webhook',
  summary: 'Remove a webhook',
  description: 'What it was not told yet is dropped.',
  remove: (call, id) => call('DELETE /events/webhooks/{id}', { path: { id } }),
})
