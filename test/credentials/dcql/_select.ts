import { type DcqlCredential, matchQuery } from '../../../src/credentials/dcql/match.ts'
import type { DcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { selectMatches, type Selection } from '../../../src/credentials/dcql/select.ts'

/** Finds the credentials that answer a query. */
export function selectCredentials(query: DcqlQuery, held: readonly DcqlCredential[]): Selection {
  const results = held.map((credential) => matchQuery(credential, query))
  return selectMatches(query, results)
}
