import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'issuerCertificate',
  summary: 'Remove an issuing key with its certificates',
  description:
    'The agent deletes the private key: it can never sign with this key again. Credentials that the key has signed stay valid.',
  question: 'Remove the issuing key {id} with its certificates? This cannot be undone.',
  remove: (call, id) => call('DELETE /issuer-certificates/{id}', { path: { id } }),
})
