/** Which credentials answer a query (OpenID4VP 1.0 §6.4.2): those of a wallet, and those of a presentation. */
import type { Match, MatchResult } from './match.ts'
import type { DcqlQuery } from './query.ts'

/** A credential that matches a credential query, by its index in the list of candidates. */
export type Candidate = Pick<Match, 'paths'> & { index: number }

/** The candidates of each credential query by its id, and whether they can answer the query. */
export type Selection = {
  candidates: Record<string, Candidate[]>
  /**
   * The ids to answer: all, or those of the first option of each credential set that can be satisfied.
   * Undefined: the query cannot be answered.
   */
  answer: string[] | undefined
}

/** Finds the credentials of a wallet that answer a query, by the results of `matchQuery` for each. */
export function selectMatches(query: DcqlQuery, results: readonly MatchResult[][]): Selection {
  const candidates = Object.fromEntries(
    query.credentials.map(({ id }, position) => [
      id,
      results.flatMap((matches, index): Candidate[] => {
        const match = matches[position]!
        return match.isMatch ? [{ index, paths: match.paths }] : []
      }),
    ]),
  )
  const answer = findAnswer(query, (id) => candidates[id]!.length > 0)
  return { candidates, answer }
}

function findAnswer(
  { credentials, credential_sets: sets }: DcqlQuery,
  isAvailable: (id: string) => boolean,
): string[] | undefined {
  if (!sets) {
    const ids = credentials.map(({ id }) => id)
    return ids.every(isAvailable) ? ids : undefined
  }
  const chosen = new Set<string>()
  for (const { options, required = true } of sets) {
    const option = options.find((ids) => ids.every(isAvailable))
    if (!option && required) return undefined
    for (const id of option ?? []) chosen.add(id)
  }
  return [...chosen]
}

/** The reason why the presented credentials do not answer the query together. Undefined if they do. */
export function findSetFault(
  query: DcqlQuery,
  presented: Readonly<Record<string, number>>,
): string | undefined {
  for (const [id, count] of Object.entries(presented)) {
    const asked = query.credentials.find((each) => each.id === id)
    if (!asked) return `${id} is not an id of a requested credential`
    if (count === 0) return `${id} has no presentation`
    if (count > 1 && asked.multiple !== true) return `${id} has ${count} presentations instead of one`
  }
  const has = (id: string) => Object.hasOwn(presented, id)
  const { credential_sets: sets } = query
  if (!sets) {
    const missing = query.credentials.find(({ id }) => !has(id))
    return missing && `${missing.id} is missing`
  }
  const unsatisfied = sets.findIndex(
    ({ options, required = true }) => required && !options.some((ids) => ids.every(has)),
  )
  return unsatisfied < 0 ? undefined : `no option of credential_sets.${unsatisfied} is complete`
}
