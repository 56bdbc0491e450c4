/** The credentials that answer a request for a proof, and those that do not, as lines to choose from. */
import type { Answer } from '../_client/answer.ts'
import { table } from './table.ts'

export type Candidates = Answer<'GET /present-proof/presentations/{presentationId}/candidates'>
type Candidate = Candidates['candidates'][number]

/** A table of credentials that fit; of those that do not, why. */
export function candidatesTable(candidates: readonly Candidate[], width?: number): string {
  return table(
    candidates,
    [
      { head: 'credential', of: ({ recordId }) => recordId },
      ...(candidates.some(({ reason }) => reason !== undefined)
        ? [{ head: 'why not', of: ({ reason }: Candidate) => reason, cut: 'end' as const }]
        : []),
      { head: 'claims', of: ({ claims }) => claims.join(' '), cut: 'end' },
      { head: 'issuer', of: ({ issuer }) => issuer, cut: 'middle', optional: true },
    ],
    width,
  )
}

/** What comes next for a request: one command for each credential that fits, or the refusal where none does. */
export function presentCommands(presentationId: string, { candidates }: Candidates): string[] {
  if (candidates.length === 0) return [`agent proof reject ${presentationId}`]
  if (candidates.length === 1) return [`agent proof present ${presentationId}`]
  return candidates.slice(0, 5).map(({ recordId }) => `agent proof present ${presentationId} --credential ${recordId}`)
}
