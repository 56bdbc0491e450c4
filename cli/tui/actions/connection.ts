/** Actions on connections, and the choice of a connection for an offer or a request. */
import { ping } from '../../client/ping.ts'
import { connectionName } from '../../format/text.ts'
import { meanings } from '../../format/states.ts'
import type { Connection } from '../data/data.ts'
import { copying, tracing, type Action, type Desk } from './action.ts'
import { showMessages } from './messages.ts'

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

/** Shows the invitation until it is accepted. */
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

/** The time limit of a ping, in seconds. */
const pingSeconds = 10

async function pingPeer(desk: Desk, connection: Connection): Promise<string> {
  const name = connectionName(connection)
  desk.say(`Pinging ${name} …`)
  const { milliseconds } = await ping(desk.call, { connectionId: connection.connectionId }, `${pingSeconds}s`)
  return `${name} answered after ${milliseconds} ms.`
}

/** Asks for a connection. Returns `null` as its id for an invitation, undefined on Esc. */
export function choosePartner(
  desk: Desk,
  title: string,
): Promise<{ connectionId: string | null } | undefined> {
  const connected = desk.data().connections.filter(({ state }) => meanings.connection[state]?.ends === 0)
  return desk.choose<{ connectionId: string | null }>(title, [
    ...connected.toReversed().map((connection) => ({
      label: connectionName(connection),
      detail: connection.connectionId,
      value: { connectionId: connection.connectionId },
    })),
    { label: 'Anyone', detail: 'creates an invitation, as a QR code', value: { connectionId: null } },
  ])
}

export async function invite(desk: Desk): Promise<string | undefined> {
  const said = await desk.fill('Invite someone to connect', [
    { name: 'label', label: 'label', value: '', hint: 'your name for the connection; it is not sent' },
    { name: 'goal', label: 'goal', value: '', hint: 'its purpose, which the other side sees' },
  ])
  if (!said) return undefined
  desk.say('Creating the invitation …')
  const body = { label: said.label || undefined, goal: said.goal || undefined }
  const made = await desk.call('POST /connections', { body })
  await desk.until('the invitation is in the list', ({ connections }) =>
    connections.some((each) => each.connectionId === made.connectionId),
  )
  desk.goTo('connections')
  await showInvitation(desk, made)
  return 'The invitation is created. Its state changes when it is accepted.'
}
