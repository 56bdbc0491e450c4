import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'tenant',
  summary: 'Remove a tenant and its keys; its wallet stays',
  description:
    '`agent tenant delete` deletes the wallet too, and `agent wallet remove` does it later. Needs the administrator’s key.',
  question: 'Remove the tenant {id}? Its keys stop working permanently.',
  remove: (call, id) => call('DELETE /iam/entities/{id}', { path: { id } }),
})
