/** What commands print of credential and presentation records. */
import type { Answer } from '../_client/answer.ts'
import type { Column } from './table.ts'
import { explain } from './states.ts'
import { ago } from './time.ts'

export type CredentialRecord = Answer<'GET /issue-credentials/records/{recordId}'>
export type PresentationRecord = Answer<'GET /present-proof/presentations/{presentationId}'>
type Pair = readonly [name: string, value: unknown]

/** A credential record as names and values. */
export function credentialFields(record: CredentialRecord): Pair[] {
  return [
    ['credential', record.recordId],
    ['role', record.role],
    ['state', explain('credential', record.protocolState)],
    ...Object.entries(record.claims).map(([name, value]): Pair => [`claim ${name}`, value]),
    ['issuer', record.issuingDID],
    ['subject', record.subjectId],
    ['goal', record.goal],
    ['valid for', record.validityPeriod === undefined ? undefined : `${record.validityPeriod} s`],
    ['thread', record.thid],
    ['created', record.createdAt],
    ['updated', record.updatedAt],
    ['last failure', record.metaLastFailure?.detail ?? record.metaLastFailure?.title],
  ]
}

/** The columns of a list of credential records. */
export const credentialColumns: Column<CredentialRecord>[] = [
  { head: 'id', of: ({ recordId }) => recordId },
  { head: 'role', of: ({ role }) => role, optional: true },
  { head: 'state', of: ({ protocolState }) => protocolState },
  {
    head: 'claims',
    of: ({ claims }) =>
      Object.entries(claims)
        .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(' '),
    cut: 'end',
  },
  { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
]

/** A presentation record as names and values. */
export function presentationFields(record: PresentationRecord): Pair[] {
  return [
    ['proof', record.presentationId],
    ['role', record.role],
    ['state', explain('proof', record.status)],
    ['connection', record.connectionId],
    ['goal', record.goal],
    ['asked for', record.requestData[0]],
    ['presented', record.data.length === 0 ? undefined : `${record.data.length} presentation${record.data.length === 1 ? '' : 's'}`],
    ['thread', record.thid],
    ['last failure', record.metaLastFailure?.detail ?? record.metaLastFailure?.title],
  ]
}

/** The columns of a list of presentation records. */
export const presentationColumns: Column<PresentationRecord>[] = [
  { head: 'id', of: ({ presentationId }) => presentationId },
  { head: 'role', of: ({ role }) => role, optional: true },
  { head: 'state', of: ({ status }) => status },
  { head: 'thread', of: ({ thid }) => thid, cut: 'end', optional: true },
]
