/** Claims against the schemas that an offer names (service §4.3, api.md 4.7). */
import { checkClaims } from '../../schemas/claims.ts'
import type { Environment } from '../../wallet/wallet.ts'

/** True when a value has a member `__proto__` anywhere: what is stored would lack it, so that the two sides would not have the same claims. */
export function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype)
}

/** Checks claims against every schema. @throws {Problem} 422 when a schema cannot be fetched, or the claims do not fit it. */
export async function checkClaimsAgainst(env: Environment, claims: Record<string, unknown>, schemaIds: string[]): Promise<void> {
  for (const url of schemaIds) checkClaims(claims, await env.getSchema(url))
}
