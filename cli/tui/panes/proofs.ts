/** The pane of presentation records. */
import { connectionName } from '../../format/text.ts'
import { proofRequestText } from '../../format/proof-request.ts'
import { presentationFields } from '../../format/records.ts'
import { isMine } from '../../format/states.ts'
import { proofActions, removeProof } from '../actions/proof.ts'
import type { Data, PresentationRecord } from '../data/data.ts'
import { age, roleCell, stateCell, timeline, toInvitation, type Pane } from './pane.ts'

export const proofs: Pane<PresentationRecord> = {
  name: 'proofs',
  title: 'Proofs',
  items: (data) => data.proofs,
  id: ({ presentationId }) => presentationId,
  columns: [
    { head: 'id', width: 8, of: ({ presentationId }) => presentationId.slice(-8), from: 100 },
    { head: 'about', width: 'rest', of: (item, data) => aboutOf(item, data) },
    { head: 'role', width: 8, of: ({ role }) => roleCell(role), from: 74 },
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
  invitation: ({ status, invitation, openid4vp }) => {
    if (status === 'InvitationGenerated' && invitation)
      return toInvitation('Invitation to present a proof', invitation)
    return status === 'RequestCreated' && openid4vp
      ? toInvitation('Request for a wallet', { invitationUrl: openid4vp.authorizationRequest })
      : undefined
  },
  actions: proofActions,
  remove: removeProof,
  empty: 'There are no proofs. n requests one, or accepts an invitation to present one.',
}

/** Returns the goal, the other side, or the content of the request. */
function aboutOf({ goal, connectionId, ...asked }: PresentationRecord, { connections }: Data): string {
  const connection = connections.find((each) => each.connectionId === connectionId)
  return goal ?? (connection ? connectionName(connection) : proofRequestText(asked))
}

type Pair = readonly [name: string, value: unknown]

/** Returns the claims and issuers in JWT presentations, which the daemon has verified. Skips unreadable ones. */
function presentedClaims(presentations: readonly string[]): Pair[] {
  return presentations.flatMap((presentation) =>
    credentialsIn(presentation).flatMap((credential): Pair[] => {
      const { iss, vc } = payloadOf(credential) as { iss?: unknown; vc?: { credentialSubject?: object } }
      const claims = Object.entries(vc?.credentialSubject ?? {}).filter(([name]) => name !== 'id')
      return [...claims.map(([name, value]): Pair => [`shown ${name}`, value]), ['issuer', iss]]
    }),
  )
}

function credentialsIn(presentation: string): string[] {
  const { vp } = payloadOf(presentation) as { vp?: { verifiableCredential?: unknown } }
  return [vp?.verifiableCredential ?? []].flat().filter((each) => typeof each === 'string')
}

function payloadOf(jwt: string): object {
  try {
    const payload: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    return typeof payload === 'object' && payload !== null ? payload : {}
  } catch {
    return {}
  }
}
