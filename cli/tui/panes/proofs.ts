/** The pane of presentation records. */
import { labelsOf, namesOf, proofAbout, withLabels } from '../../format/parties.ts'
import { isUnchecked, presentationFields } from '../../format/proofs.ts'
import { isExpired, isMine, openInvitation, renewal } from '../../format/states.ts'
import { proofActions, removeProof } from '../actions/proof.ts'
import type { PresentationRecord } from '../data/data.ts'
import { age, roleCell, stateCell, timeline, toInvitation, type Pane, type Piece } from './pane.ts'

export const proofs: Pane<PresentationRecord> = {
  name: 'proofs',
  title: 'Proofs',
  items: (data) => data.proofs,
  id: ({ presentationId }) => presentationId,
  columns: [
    { head: 'id', width: 8, of: ({ presentationId }) => presentationId.slice(-8), from: 100 },
    { head: 'about', width: 'rest', of: (item, data) => proofAbout(item, namesOf(data.connections)) },
    { head: 'role', width: 8, of: ({ role }) => roleCell(role), from: 74 },
    { head: 'state', width: 30, of: proofCell },
    {
      head: 'changed',
      width: 10,
      isSteady: true,
      of: (item, data, now) => age(item.presentationId, item, data, now),
      from: 55,
    },
  ],
  text: ({ presentationId, role, status, goal, thid, requestData }) =>
    [presentationId, role, status, goal, thid, ...requestData].join(' '),
  sections: (item, look) => [
    {
      lines: [
        ...withLabels(presentationFields(item, namesOf(look.data.connections)), labelsOf(look.data.dids)),
        ['renew', renewal('proof', item.status, item, look.now)],
      ],
    },
    ...timeline(item.thid, look),
  ],
  thread: ({ thid }) => thid,
  isMine: (item) => isMine('proof', item.status, item),
  invitation: (item) =>
    toInvitation('Invitation to present a proof', openInvitation(item.status, item)) ??
    toInvitation('Request for a wallet', openRequest(item)),
  actions: proofActions,
  remove: removeProof,
  empty: 'There are no proofs. n requests one, or accepts an invitation to present one.',
}

/** The link of a request, if a wallet can still answer it. */
function openRequest({
  status,
  openid4vp,
  ...item
}: PresentationRecord): { invitationUrl: string } | undefined {
  const isOpen = status === 'RequestCreated' && !isExpired(item)
  return isOpen && openid4vp ? { invitationUrl: openid4vp.authorizationRequest } : undefined
}

function proofCell(item: PresentationRecord, _: unknown, now: number): Piece {
  return isUnchecked(item)
    ? {
        text: `${item.status === 'PresentationAccepted' ? 'accepted' : 'valid'}, issuer not checked`,
        style: 'waiting',
      }
    : stateCell('proof', item.status, item, now)
}
