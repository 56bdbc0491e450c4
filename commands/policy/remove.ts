import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'policy',
  summary: 'Remove a verification policy',
  description: 'Existing proof requests do not change.',
  question: 'Remove the verification policy {id}? This cannot be undone.',
  remove: (call, id) => call('DELETE /verification/policies/{id}', { path: { id } }),
})
