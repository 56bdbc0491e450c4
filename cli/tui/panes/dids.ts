/** The pane of DIDs. */
import { inStyle, type Style } from '../../format/colour.ts'
import { documentFields } from '../../format/did-document.ts'
import { explainDid } from '../../format/records.ts'
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
    { head: 'did', width: 'rest', of: ({ did }) => did },
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
  text: ({ did, status, deactivated }) => [did, status, deactivated && 'deactivated'].join(' '),
  sections: (item, look) => [
    {
      lines: [
        ['did', item.did],
        ['state', inStyle(styleOfDid(item), explainDid(item))],
        ...documentFields(look.contents.did(item)),
        ['long form', item.longFormDid],
        ['operation', item.pendingOperation],
        ['last failure', item.metaLastFailure?.detail ?? item.metaLastFailure?.title],
      ],
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
