/** The connections. */
import { connectionFields } from '../../commands/_format/connection.ts'
import { meanings } from '../../commands/_format/states.ts'
import { connectionActions } from '../actions/connection.ts'
import type { Connection } from '../data/data.ts'
import type { Pane } from './pane.ts'
import { age, stateCell } from './state.ts'
import { timeline } from './timeline.ts'

export const connections: Pane<Connection> = {
  title: 'Connections',
  items: (data) => data.connections,
  id: ({ connectionId }) => connectionId,
  columns: [
    { head: 'id', width: 8, of: ({ connectionId }) => connectionId.slice(-8), from: 100 },
    { head: 'label', width: 'rest', of: ({ label, goal }) => label ?? goal ?? { text: '(no label)', style: 'faint' } },
    { head: 'role', width: 7, of: ({ role }) => role },
    { head: 'state', width: 26, of: ({ state }) => stateCell('connection', state) },
    { head: 'means', width: 44, of: ({ state }) => meanings.connection[state]?.words, from: 130 },
    { head: 'changed', width: 10, of: (item, data, now) => age(item.connectionId, item, data, now) },
  ],
  text: ({ connectionId, label, goal, role, state, theirDid }) => [connectionId, label, goal, role, state, theirDid].join(' '),
  sections: (item, look) => [{ lines: connectionFields(item) }, ...timeline(item.thid, look)],
  thread: ({ thid }) => thid,
  actions: connectionActions,
  empty: 'There are no connections. n invites somebody, or takes an invitation.',
}
