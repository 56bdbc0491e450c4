import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'webhook',
  summary: 'Remove a webhook',
  description: 'Pending events for this webhook are dropped.',
  remove: (call, id) => call('DELETE /events/webhooks/{id}', { path: { id } }),
})
