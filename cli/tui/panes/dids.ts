/** The pane of DIDs. */
import type { Style } from '../../format/colour.ts'
import { documentFields } from '../../format/did-document.ts'
import { didFields } from '../../format/records.ts'
import { didActions } from '../actions/did.ts'
import type { Did } from '../data/data.ts'
import { age, timeline, type Pane } from './pane.ts'

export const dids: Pane<Did> = {
  name: 'dids',
  title: 'DIDs',
  items: (data) => data.dids,
  id: ({ did }) => did,
  idName: 'DID',
  columns: [
    {
      head: 'did',
      width: 'rest',
      of: ({ did, label }) => (label === undefined ? did : `${label}  ${did}`),
    },
    {
      head: 'state',
      width: 19,
      of: (item) => ({ text: item.deactivated ? 'deactivated' : item.status, style: styleOfDid(item) }),
    },
    {
      head: 'changed',
      width: 10,
      isSteady: true,
      of: (item, data, now) => age(item.did, {}, data, now),
      from: 55,
    },
  ],
  text: ({ did, label, status, deactivated }) => [did, label, status, deactivated && 'deactivated'].join(' '),
  sections: (item, look) => [
    {
      lines: [...didFields(item), ...documentFields(look.contents.did(item))],
    },
    ...timeline(item.did, look),
  ],
  thread: ({ did }) => did,
  actions: didActions,
  empty: 'There are no DIDs. n creates one.',
}

function styleOfDid({ status, deactivated }: Did): Style {
  if (deactivated) return 'bad'
  return status === 'PUBLISHED' ? 'good' : 'waiting'
}
