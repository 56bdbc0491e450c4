/** Actions on connections, and the choice of a connection for an offer or a request. */
import { ping } from '../../client/ping.ts'
import { connectionName, shortId } from '../../format/text.ts'
import { ago } from '../../format/time.ts'
import { isConnected } from '../../format/states.ts'
import type { Connection } from '../data/data.ts'
import type { Action, ActionContext } from './action.ts'

export const connectionActions: readonly Action<Connection>[] = [
  { key: 'x', word: 'withdraw', when: isOpen, run: removeConnection },
  { key: 'd', word: 'delete', isAlias: true, when: isOpen, run: removeConnection },
  { key: 'd', word: 'delete', when: (connection) => !isOpen(connection), run: removeConnection },
  { key: 'p', word: 'ping', isAlias: true, when: isConnected, run: pingPeer },
]

/** Returns true for an invitation that nobody has answered. */
function isOpen({ state }: Connection): boolean {
  return state === 'InvitationGenerated'
}

const lost = [
  'The other side is not told, and its messages are refused.',
  'Credentials, proofs and messages stay.',
]

async function removeConnection(context: ActionContext, connection: Connection): Promise<string | undefined> {
  const { connectionId } = connection
  const isConfirmed = isOpen(connection)
    ? await context.confirm('Withdraw this invitation? It can no longer be accepted.')
    : await context.confirm('Delete this connection? This cannot be undone.', lost)
  if (!isConfirmed) return undefined
  await context.call('DELETE /connections/{connectionId}', { path: { connectionId } })
  context.store.amend(({ connections }) => ({
    connections: connections.filter((each) => each.connectionId !== connectionId),
  }))
  return isOpen(connection) ? 'The invitation is withdrawn.' : 'The connection is deleted.'
}

export async function label(context: ActionContext, connection: Connection): Promise<string | undefined> {
  const { connectionId } = connection
  const field = {
    name: 'label',
    label: 'label',
    value: connection.label ?? '',
    hint: 'your name for the connection; it is not sent',
  }
  const values = await context.fill('Label the connection', [field])
  if (!values) return undefined
  const changed = await context.call('PATCH /connections/{connectionId}', {
    path: { connectionId },
    body: { label: values.label ?? '' },
  })
  context.store.amend(({ connections }) => ({
    connections: connections.map((each) => (each.connectionId === connectionId ? changed : each)),
  }))
  return changed.label === undefined ? 'The label is removed.' : `The label is “${changed.label}”.`
}

/** The time limit of a ping, in seconds. */
const pingSeconds = 10

export async function pingPeer(context: ActionContext, connection: Connection): Promise<string> {
  const name = connectionName(connection)
  context.say(`Pinging ${name} …`)
  const { milliseconds } = await ping(
    context.call,
    { connectionId: connection.connectionId },
    `${pingSeconds}s`,
  )
  return `${name} answered after ${milliseconds} ms.`
}

/**
 * The other side of an offer or a request: a connection, anyone with the invitation (`null`), or a wallet of
 * OpenID4VC.
 */
type Partner = { connectionId: string | null; isWallet?: boolean }

/** Asks for the other side. `wallets` is the name of the wallets that read links. Undefined on Esc. */
export function choosePartner(
  context: ActionContext,
  title: string,
  wallets: string,
): Promise<Partner | undefined> {
  const connected = context.data().connections.filter(isConnected)
  return context.choose<Partner>(title, [
    ...connected.toReversed().map((connection) => ({
      label: connectionName(connection),
      detail: [connection.goal, shortId(connection.connectionId), ago(connection.createdAt, Date.now())]
        .filter((text) => text !== undefined && text !== connectionName(connection))
        .join('  '),
      value: { connectionId: connection.connectionId },
    })),
    { label: 'Anyone', detail: 'creates an invitation, as a QR code', value: { connectionId: null } },
    { label: wallets, detail: 'creates a link, as a QR code', value: { connectionId: null, isWallet: true } },
  ])
}

/** The goal of an invitation, in a form. */
export const goalField = {
  name: 'goal',
  label: 'goal',
  value: '',
  hint: 'its purpose, which the other side sees',
}

export async function invite(context: ActionContext): Promise<string | undefined> {
  const values = await context.fill('Invite someone to connect', [
    { name: 'label', label: 'label', value: '', hint: 'your name for the connection; it is not sent' },
    goalField,
  ])
  if (!values) return undefined
  context.say('Creating the invitation …')
  const body = { label: values.label || undefined, goal: values.goal || undefined }
  const made = await context.call('POST /connections', { body })
  await context.showNewInvitation('connections', made)
  return 'The invitation is created. Its state changes when it is accepted.'
}
