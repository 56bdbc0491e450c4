/** The presentation records, of both roles. */
import { connectionName } from '../../format/names.ts'
import { proofRequestText } from '../../format/proof-request.ts'
import { presentationFields } from '../../format/records.ts'
import { proofActions } from '../actions/proof.ts'
import type { Data, PresentationRecord } from '../data/data.ts'
import type { Pane } from './pane.ts'
import { presentedClaims } from './presented.ts'
import { age, isMine, stateCell } from './state.ts'
import { timeline } from './timeline.ts'

export const proofs: Pane<PresentationRecord> = {
  title: 'Proofs',
  items: (data) => data.proofs,
  id: ({ presentationId }) => presentationId,
  columns: [
    { head: 'id', width: 8, of: ({ presentationId }) => presentationId.slice(-8), from: 100 },
    { head: 'about', width: 'rest', of: (item, data) => aboutOf(item, data) },
    { head: 'role', width: 8, of: ({ role }) => role, from: 74 },
    { head: 'state', width: 30, of: ({ status }) => stateCell('proof', status) },
    { head: 'changed', width: 10, of: (item, data, now) => age(item.presentationId, {}, data, now) },
  ],
  text: ({ presentationId, role, status, goal, thid, requestData }) =>
    [presentationId, role, status, goal, thid, ...requestData].join(' '),
  sections: (item, look) => [
    {
      lines: [...presentationFields(item), ...(item.role === 'Verifier' ? presentedClaims(item.data) : [])],
    },
    ...timeline(item.thid, look),
  ],
  thread: ({ thid }) => thid,
  isMine: ({ status }) => isMine('proof', status),
  actions: proofActions,
  empty: 'There are no proofs. n asks for one, or takes a request from an invitation.',
}

/** The purpose, the other side, or the content of the request. */
function aboutOf({ goal, connectionId, ...asked }: PresentationRecord, { connections }: Data): string {
  const connection = connections.find((each) => each.connectionId === connectionId)
  return goal ?? (connection ? connectionName(connection) : proofRequestText(asked))
}
