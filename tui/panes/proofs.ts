/** The presentation records, of both roles. */
import { presentationFields } from '../../commands/_format/records.ts'
import { meanings } from '../../commands/_format/states.ts'
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
    { head: 'role', width: 8, of: ({ role }) => role },
    { head: 'state', width: 30, of: ({ status }) => stateCell('proof', status) },
    { head: 'changed', width: 10, of: (item, data, now) => age(item.presentationId, {}, data, now) },
  ],
  text: ({ presentationId, role, status, goal, thid, requestData }) => [presentationId, role, status, goal, thid, ...requestData].join(' '),
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

/** What it is for, with whom, or what there is to say in words. */
function aboutOf({ goal, connectionId, status }: PresentationRecord, { connections }: Data): string {
  const label = connectionId && connections.find((each) => each.connectionId === connectionId)?.label
  return goal ?? label ?? meanings.proof[status]?.words ?? ''
}
