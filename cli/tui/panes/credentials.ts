/** The pane of credential records. */
import type { CredentialRecord } from '../data/data.ts'
import { inStyle } from '../../format/colour.ts'
import { credentialAbout, labelsOf, namesOf, withLabels } from '../../format/parties.ts'
import { credentialFields, expiryOf, invalidityOf } from '../../format/records.ts'
import { isMine, openInvitation, renewal } from '../../format/states.ts'
import { credentialActions, removeCredential } from '../actions/credential.ts'
import {
  age,
  type Line,
  type Look,
  roleCell,
  stateCell,
  timeline,
  toInvitation,
  type Pane,
  type Piece,
  type Section,
} from './pane.ts'

export const credentials: Pane<CredentialRecord> = {
  name: 'credentials',
  title: 'Credentials',
  short: 'Creds',
  items: (data) => data.credentials,
  id: ({ recordId }) => recordId,
  columns: [
    { head: 'id', width: 8, of: ({ recordId }) => recordId.slice(-8), from: 100 },
    { head: 'claims', width: 'rest', of: credentialAbout },
    { head: 'role', width: 6, of: ({ role }) => roleCell(role), from: 74 },
    { head: 'format', width: 6, of: ({ credentialFormat }) => credentialFormat, from: 110 },
    {
      head: 'state',
      width: 22,
      of: (item, _, now) => standingCell(item, now) ?? stateCell('credential', item.protocolState, item, now),
    },
    {
      head: 'changed',
      width: 10,
      isSteady: true,
      of: (item, data, now) => age(item.recordId, item, data, now),
      from: 55,
    },
  ],
  text: ({ recordId, claims, role, protocolState, revoked, issuingDID, subjectId, thid }) =>
    [
      recordId,
      JSON.stringify(claims),
      role,
      protocolState,
      revoked && 'revoked',
      issuingDID,
      subjectId,
      thid,
    ].join(' '),
  sections: (item, look) => [contentSection(item, look), ...timeline(item.thid, look)],
  thread: ({ thid }) => thid,
  isMine: (item) => isMine('credential', item.protocolState, item),
  invitation: (item) =>
    toInvitation('Invitation to accept the offer', openInvitation(item.protocolState, item)),
  actions: credentialActions,
  remove: removeCredential,
  empty: 'There are no credentials. n offers one, or accepts an invitation to one.',
}

/** Returns `revoked`, `suspended` or `expired`, for a credential that is, and how long ago its list was read. */
function standingCell(item: CredentialRecord, now: number): Piece | undefined {
  const { word, checked } = invalidityOf(item, now) ?? {}
  if (word !== undefined) return { text: checked === undefined ? word : `${word} (${checked})`, style: 'bad' }
  return (expiryOf(item) ?? Infinity) <= now ? { text: 'expired', style: 'faint' } : undefined
}

/** The cache key of a decoded credential. */
export function contentKey({ recordId, protocolState, revoked, updatedAt }: CredentialRecord): string {
  return [recordId, protocolState, revoked, updatedAt].join(' ')
}

type Content = Parameters<typeof credentialFields>[1] | { error: string }

function contentSection(item: CredentialRecord, { contents, data, now }: Look): Section {
  const content: Content = contents.credential(contentKey(item))
  const isRead = content !== undefined && !('error' in content)
  const lines: Line[] = [
    ...withLabels(
      credentialFields(item, isRead ? content : undefined, namesOf(data.connections)),
      labelsOf(data.dids),
    ),
    ['renew', renewal('credential', item.protocolState, item, now)],
  ]
  if (content === undefined || isRead) return { lines }
  return { lines: [...lines, ['not decoded', inStyle('bad', content.error)]] }
}
