/** Claims in the lists. */
import type { CredentialRecord } from '../data/data.ts'

/** Claims in one line: `name=Alice age=42`. */
export function claimsLine(claims: CredentialRecord['claims']): string {
  return Object.entries(claims)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
}
