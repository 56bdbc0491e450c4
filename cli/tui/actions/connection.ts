/** What can be done with a connection. */
import { ping } from '../../client/ping.ts'
import { connectionName } from '../../format/names.ts'
import { meanings } from '../../format/states.ts'
import type { Connection } from '../data/data.ts'
import type { Action, Desk } from './action.ts'
import { copying } from './copying.ts'
import { showMessages } from './messages.ts'
import { tracing } from './tracing.ts'

export function connectionActions(connection: Connection): Action[] {
  const { connectionId, invitation, state, thid } = connection
  const isConnected = meanings.connection[state]?.ends === 0
  return [
    ...(isConnected
      ? [
          { key: 'm', word: 'messages', run: (desk: Desk) => showMessages(desk, connection) },
          { key: 'p', word: 'ping', run: (desk: Desk) => pingPeer(desk, connection) },
        ]
      : []),
    ...(isOpen(connection)
      ? [
          { key: 'Q', word: 'QR', run: (desk: Desk) => showInvitation(desk, connection) },
          { key: 'x', word: 'withdraw', run: (desk: Desk) => withdraw(desk, connection) },
        ]
      : []),
    { key: 'L', word: 'label', run: (desk) => label(desk, connection) },
    ...tracing(thid),
    ...copying('id', connectionId, isOpen(connection) ? invitation.invitationUrl : undefined),
  ]
}

/** Shows the invitation until somebody has accepted it. */
export function showInvitation(
  desk: Desk,
  { connectionId, invitation, label }: Connection,
): Promise<undefined> {
  desk.showQr(
    `Invitation${label === undefined ? '' : ` “${label}”`}`,
    invitation.invitationUrl,
    ({ connections }) => connections.some((each) => each.connectionId === connectionId && isOpen(each)),
  )
  return Promise.resolve(undefined)
}

function isOpen({ role, state }: Connection): boolean {
  return role === 'Inviter' && state === 'InvitationGenerated'
}

async function withdraw(desk: Desk, { connectionId }: Connection): Promise<string | undefined> {
  if (!(await desk.confirm('Withdraw this invitation? It can no longer be accepted.'))) return undefined
  await desk.call('DELETE /connections/{connectionId}', { path: { connectionId } })
  desk.store.amend(({ connections }) => ({
    connections: connections.filter((each) => each.connectionId !== connectionId),
  }))
  return 'The invitation is withdrawn.'
}

async function label(desk: Desk, connection: Connection): Promise<string | undefined> {
  const { connectionId } = connection
  const field = {
    name: 'label',
    label: 'label',
    value: connection.label ?? '',
    hint: 'your name for the connection; it is not sent',
  }
  const said = await desk.fill('Label the connection', [field])
  if (!said) return undefined
  const changed = await desk.call('PATCH /connections/{connectionId}', {
    path: { connectionId },
    body: { label: said.label ?? '' },
  })
  desk.store.amend(({ connections }) => ({
    connections: connections.map((each) => (each.connectionId === connectionId ? changed : each)),
  }))
  return changed.label === undefined ? 'The label is removed.' : `The label is “${changed.label}”.`
}

/** How long, in seconds, the other side of a connection has to answer a ping. */
const pingSeconds = 10

async function pingPeer(desk: Desk, connection: Connection): Promise<string> {
  const name = connectionName(connection)
  desk.say(`Pinging ${name} …`)
  const { milliseconds } = await ping(desk.call, { connectionId: connection.connectionId }, `${pingSeconds}s`)
  return `${name} answered after ${milliseconds} ms.`
}
