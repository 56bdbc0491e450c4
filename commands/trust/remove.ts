import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'trustAnchor',
  summary: 'Trust an authority or an issuer no longer',
  description: 'Results of earlier verifications do not change.',
  question: 'Remove the trust anchor {id}?',
  remove: (call, id) => call('DELETE /trust-anchors/{id}', { path: { id } }),
})
