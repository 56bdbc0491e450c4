/** What a credential says of itself, in words. */
import type { Answer } from '../client/api.ts'
import { pathOf } from './claims.ts'
import { inStyle, type Styled } from './colour.ts'
import { ago, ahead } from './time.ts'

export type CredentialContent = Answer<'GET /issue-credentials/records/{recordId}/credential'>

// prettier-ignore
const standings: Record<CredentialContent['standing']['status'], string> = {
  'not-revoked': 'not revoked',
  'revoked':     'revoked',
  'suspended':   'suspended',
  'unknown':     'cannot be known',
}

/** Whether it is revoked, such as `cannot be known: its host answered with status 503`. */
export function standingOf({ standing: { status, detail } }: CredentialContent): string {
  return detail === undefined ? standings[status] : `${standings[status]}: ${detail}`
}

/** As `standingOf`, in its colour. */
export function shownStanding(content: CredentialContent): Styled {
  const { status } = content.standing
  return inStyle(
    status === 'not-revoked' ? 'good' : status === 'unknown' ? 'waiting' : 'bad',
    standingOf(content),
  )
}

/** Whether its time is now, such as `valid until 2026-11-24T08:00:00.000Z, in 3 d`. `now` is in milliseconds. */
export function validityOf(
  { validFrom, validUntil }: Pick<CredentialContent, 'validFrom' | 'validUntil'>,
  now: number,
): string {
  if (validUntil !== undefined && Date.parse(validUntil) <= now)
    return `expired ${ago(validUntil, now)}, valid until ${validUntil}`
  if (validFrom !== undefined && Date.parse(validFrom) > now)
    return `not valid yet, from ${validFrom}, ${ahead(validFrom, now)}`
  return validUntil === undefined
    ? 'valid without an end'
    : `valid until ${validUntil}, ${ahead(validUntil, now)}`
}

/** The claims of an SD-JWT that can be shown or kept back, by their paths; nothing of a credential that is shown as a whole. */
export function disclosableOf({ disclosable }: CredentialContent): string | undefined {
  if (disclosable === undefined) return undefined
  return disclosable.length === 0 ? 'none' : disclosable.map(pathOf).join(' ')
}
