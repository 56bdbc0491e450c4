import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'issuer',
  summary: 'Remove an OpenID4VCI issuer with its configurations',
  description: 'Issued credentials stay valid. Wallets get no credentials for open offers.',
  remove: (call, issuerId) => call('DELETE /oid4vci/issuers/{issuerId}', { path: { issuerId } }),
})
