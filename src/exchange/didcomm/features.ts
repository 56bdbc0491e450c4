/** Discover Features 2.0: queries for the features of an agent, and their disclosure. */
import * as z from 'zod'

export const Queries = z.looseObject({
  queries: z.array(z.looseObject({ 'feature-type': z.string(), match: z.string() })).max(100),
})
type Query = z.infer<typeof Queries>['queries'][number]

/** A disclosure: `roles` for protocols, `value` for constraints. */
export type Disclosure = { 'feature-type': string; id: string; roles?: string[]; value?: string }

/** Discloses protocols by their ids, each with the roles of this agent. */
export function toProtocols(roles: Readonly<Record<string, string[]>>): Disclosure[] {
  return Object.entries(roles).map(([id, ofId]) => ({ 'feature-type': 'protocol', id, roles: ofId }))
}

/** The features that match one of the queries. */
export function disclose(features: readonly Disclosure[], queries: readonly Query[]): Disclosure[] {
  return features.filter((feature) =>
    queries.some(
      (query) => query['feature-type'] === feature['feature-type'] && matches(query.match, feature.id),
    ),
  )
}

/** The longest accepted query, in characters. */
const maxLength = 500

/**
 * Whether a feature's id matches a query. The specification allows `*` at the end; a widespread mediator
 * accepts regular expressions, and its peers send `.*routing.*`. Both `*` and `.*` match any text here. No
 * regular expression is built from a peer's text.
 */
export function matches(match: string, id: string): boolean {
  if (match.length > maxLength) return false
  const pattern = match.replace(/^\^/, '').replace(/\$$/, '').replaceAll('\\', '')
  const [first, ...rest] = pattern.split(/\.?\*/)
  const last = rest.pop()
  if (last === undefined) return pattern === id
  if (!id.startsWith(first!) || !id.endsWith(last)) return false
  // The first occurrence of a piece leaves the most text for the pieces after it.
  let at = first!.length
  for (const piece of rest) {
    const found = id.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= id.length - last.length
}
