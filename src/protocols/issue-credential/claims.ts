/** Claims against the schemas that an offer names (service §4.3, api.md 4.7), and against the format that is to carry them. */
import { Problem } from '../../base/problem.ts'
import { reserved } from '../../credentials/sd-jwt/disclosure.ts'
import { registeredClaims } from '../../credentials/sd-jwt/sd-jwt.ts'
import { checkClaims } from '../../schemas/claims.ts'
import type { Environment } from '../../wallet/wallet.ts'
import type { CredentialFormat } from '../formats.ts'

type Terms = {
  credentialFormat: CredentialFormat
  claims: Record<string, unknown>
  schemaIds: string[]
  validityPeriod?: number | undefined
}

/** Checks claims against every schema. @throws {Problem} 422 when a schema cannot be fetched, or the claims do not fit it. */
export async function checkClaimsAgainst(env: Environment, claims: Record<string, unknown>, schemaIds: string[]): Promise<void> {
  for (const url of schemaIds) await checkClaims(claims, await env.getSchema(url))
}

/**
 * Checks that a credential of the format can say what is offered: an SD-JWT has the claims beside its own, and one type.
 *
 * @throws {Problem} 400 naming the claim, or what else cannot be.
 */
export function checkFormat({ credentialFormat, claims, schemaIds, validityPeriod }: Terms): void {
  if (credentialFormat !== 'SDJWT') return
  const { exp, ...others } = claims
  const taken = Object.keys(others).find((name) => (registeredClaims as readonly string[]).includes(name))
  if (taken !== undefined) throw unfit(`claims.${taken}: an SD-JWT has a claim of this name of its own. Call it something else.`)
  const reservedPath = findReserved(others, ['claims'])
  if (reservedPath) throw unfit(`${reservedPath.join('.')}: no claim in an SD-JWT can have this name. Call it something else.`)
  if (exp !== undefined) {
    if (typeof exp !== 'number' || exp <= Date.now() / 1_000)
      throw unfit('claims.exp: in an SD-JWT this is when the credential ends, a time to come in seconds since 1970.')
    if (validityPeriod !== undefined) throw unfit('claims.exp and validityPeriod both say when the credential ends: leave one out.')
  }
  if (schemaIds.length > 1) throw unfit(`schemaId: an SD-JWT is of one schema, not of ${schemaIds.length}.`)
}

/** Where a name stands by which SD-JWTs speak of disclosures. */
function findReserved(value: unknown, path: string[]): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, below] of Object.entries(value)) {
    const place = [...path, name]
    const found = reserved.has(name) ? place : findReserved(below, place)
    if (found) return found
  }
  return undefined
}

function unfit(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
