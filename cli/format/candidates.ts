/** The credentials that answer a request for a proof, and those that do not, as lines to choose from. */
import type { Answer } from '../client/api.ts'
import { table } from './table.ts'

export type Candidates = Answer<'GET /present-proof/presentations/{presentationId}/candidates'>
type Candidate = Candidates['candidates'][number]
type Line = Candidates['lines'][number]

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
export function presentCommands(presentationId: string, { candidates, lines, choice }: Candidates): string[] {
  const present = `agent proof present ${presentationId}`
  if (choice) return [present]
  if (candidates.length === 0 || unanswered(lines)) return [`agent proof reject ${presentationId}`]
  if (lines.length > 1) {
    const first = new Set(lines.map((line) => line.candidates[0]!))
    return [[present, ...[...first].map((id) => `--credential ${id}`)].join(' ')]
  }
  return candidates.slice(0, 5).map(({ recordId }) => `${present} --credential ${recordId}`)
}

/** The first line of a request that no credential of the wallet satisfies, in words. */
export function unanswered(lines: Candidates['lines']): string | undefined {
  const index = lines.findIndex((line) => line.candidates.length === 0)
  return index < 0 ? undefined : describeLine(lines[index]!, index)
}

/** A line of a request in words, by its place in `proofs`. */
export function describeLine({ schemaId, trustIssuers }: Line, index: number): string {
  return `proofs.${index}, the schema ${schemaId}${trustIssuers.length > 0 ? ` by ${trustIssuers.join(' or ')}` : ''}`
}

/** Why an answer with these credentials would not satisfy the request, as one sentence without its full stop; `undefined` when it would. */
export function findMisfit({ others, lines }: Candidates, proofId: readonly string[]): string | undefined {
  const other = others.find(({ recordId }) => proofId.includes(recordId))
  if (other)
    return `the credential ${other.recordId} does not answer the request, and the verifier may refuse it: ${other.reason}`
  const index = lines.findIndex((line) => !line.candidates.some((id) => proofId.includes(id)))
  if (index < 0) return undefined
  return `none of the credentials satisfies ${describeLine(lines[index]!, index)}, and the verifier may refuse the presentation`
}
