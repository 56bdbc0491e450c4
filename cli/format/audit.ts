/** Entries of the audit log as a person reads them. */
import type { Answer } from '../client/api.ts'
import { inStyle, type Styled } from './colour.ts'
import { safeLine } from './safe.ts'
import type { Column } from './table.ts'

export type AuditEntry = Answer<'GET /audit'>['contents'][number]

const styles = { succeeded: 'good', failed: 'waiting', refused: 'bad', unknown: 'waiting' } as const

/** What became of it, such as `refused 401 ×20`. */
export function outcomeOf({ outcome, status, count }: AuditEntry): Styled {
  return inStyle(styles[outcome], [outcome, status, count && `×${count}`].filter(Boolean).join(' '))
}

/** Whose deed it was: of a tenant the entity, of nobody known the address. */
function doerOf({ actor, entityId, address }: AuditEntry): string {
  if (actor === 'tenant') return `tenant ${entityId}`
  return actor === 'anonymous' ? (address ?? 'many addresses') : actor
}

/** The ids of what it is about, such as `id=… keyId=…`. */
function aboutOf({ subject = {} }: AuditEntry): string {
  return Object.entries(subject)
    .map(([name, id]) => `${name}=${id}`)
    .join(' ')
}

/** The columns of a list. */
export const auditColumns: Column<AuditEntry>[] = [
  { head: 'no.', of: ({ sequence }) => String(sequence) },
  { head: 'time', of: ({ at }) => at },
  { head: 'who', of: doerOf, cut: 'end' },
  { head: 'what', of: ({ action }) => safeLine(action), cut: 'end' },
  { head: 'outcome', of: outcomeOf },
  { head: 'about', of: aboutOf, cut: 'end', optional: true },
]
