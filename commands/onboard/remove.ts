import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'didRequest',
  summary: 'Remove a DID request and close its link',
  remove: (call, id) => call('DELETE /onboard/did-requests/{didRequestId}', { path: { didRequestId: id } }),
})
