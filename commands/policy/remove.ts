/** `agent policy remove` */
import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'policy',
  summary: 'Remove a verification policy',
  description: 'Proof requests that were made with it stay as they are.',
  question: 'Remove the verification policy {id}? It cannot be taken back.',
  remove: (call, id) => call('DELETE /verification/policies/{id}', { path: { id } }),
})
