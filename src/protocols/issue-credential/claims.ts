/** Claims against the schemas that an offer names (service §4.3, api.md 4.7). */
import { checkClaims } from '../../schemas/claims.ts'
import type { Environment } from '../../wallet/wallet.ts'

/** Checks claims against every schema. @throws {Problem} 422 when a schema cannot be fetched, or the claims do not fit it. */
export async function checkClaimsAgainst(env: Environment, claims: Record<string, unknown>, schemaIds: string[]): Promise<void> {
  for (const url of schemaIds) checkClaims(claims, await env.getSchema(url))
}
