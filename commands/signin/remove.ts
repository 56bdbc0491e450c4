import { removeCommand } from '../../cli/remove-command.ts'

export default removeCommand({
  resource: 'challenge',
  summary: 'Remove a challenge and close its link',
  remove: (call, id) =>
    call('DELETE /did-authentication/challenges/{challengeId}', { path: { challengeId: id } }),
})
