/** The pane of connections. */
import { connectionFields } from '../../format/records.ts'
import { connectionName } from '../../format/text.ts'
import { isExpired, meanings, openInvitation, renewal } from '../../format/states.ts'
import { connectionActions } from '../actions/connection.ts'
import type { Connection } from '../data/data.ts'
import { age, roleCell, stateCell, timeline, toInvitation, type Pane, type Piece } from './pane.ts'

export const connections: Pane<Connection> = {
  name: 'connections',
  title: 'Connections',
  short: 'Conns',
  items: (data) => data.connections,
  id: ({ connectionId }) => connectionId,
  columns: [
    { head: 'id', width: 8, of: ({ connectionId }) => connectionId.slice(-8), from: 100 },
    { head: 'name', width: 'rest', of: nameCell },
    { head: 'role', width: 7, of: ({ role }) => roleCell(role), from: 74 },
    { head: 'state', width: 26, of: (item, _, now) => stateCell('connection', item.state, item, now) },
    { head: 'means', width: 44, of: meaningOf, from: 130 },
    {
      head: 'changed',
      width: 10,
      isSteady: true,
      of: (item, data, now) => age(item.connectionId, item, data, now),
      from: 55,
    },
  ],
  text: (item) =>
    [item.connectionId, connectionName(item), item.goal, item.role, item.state, item.theirDid].join(' '),
  sections: (item, look) => [
    { lines: [...connectionFields(item), ['renew', renewal('connection', item.state, item, look.now)]] },
    ...timeline(item.thid, look),
  ],
  thread: ({ thid }) => thid,
  invitation: (item) =>
    toInvitation(
      item.label === undefined ? 'Invitation' : `Invitation “${item.label}”`,
      openInvitation(item.state, item),
    ),
  actions: connectionActions,
  empty: 'There are no connections. n creates or accepts an invitation.',
}

/** The words for a state, or the command that makes a new invitation. */
function meaningOf(item: Connection, _: unknown, now: number): string | undefined {
  const { words, renew } = meanings.connection[item.state] ?? {}
  return isExpired(item, now) ? renew : words
}

function nameCell(connection: Connection): Piece {
  return {
    text: connectionName(connection),
    style: connection.label === undefined && connection.goal === undefined ? 'faint' : undefined,
  }
}
