/** What can be done with a connection. */
import type { Connection } from '../data/data.ts'
import type { Action, Desk } from './action.ts'
import { copying } from './copying.ts'

export function connectionActions(connection: Connection): Action[] {
  const { connectionId, invitation } = connection
  if (!isOpen(connection)) return copying('id', connectionId)
  return [
    { key: 'Q', word: 'QR', run: (desk) => showInvitation(desk, connection) },
    { key: 'x', word: 'withdraw', run: (desk) => withdraw(desk, connection) },
    ...copying('id', connectionId, invitation.invitationUrl),
  ]
}

/** Shows the invitation until somebody has accepted it. */
export function showInvitation(desk: Desk, { connectionId, invitation, label }: Connection): Promise<undefined> {
  desk.showQr(`Invitation${label === undefined ? '' : ` “${label}”`}`, invitation.invitationUrl, ({ connections }) =>
    connections.some((each) => each.connectionId === connectionId && isOpen(each)),
  )
  return Promise.resolve(undefined)
}

function isOpen({ role, state }: Connection): boolean {
  return role === 'Inviter' && state === 'InvitationGenerated'
}

async function withdraw(desk: Desk, { connectionId }: Connection): Promise<string | undefined> {
  if (!(await desk.confirm('Withdraw this invitation? Nobody can accept it any more.'))) return undefined
  await desk.call('DELETE /connections/{connectionId}', { path: { connectionId } })
  desk.store.forgetConnection(connectionId)
  return 'The invitation is withdrawn.'
}
