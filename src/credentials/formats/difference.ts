/** Compares a credential with its offer. */
import { canonicalize, type JsonObject, tryParseJson } from '../../foundation/json.ts'

type ClaimsAndSchemas = { claims: JsonObject; schemas: readonly string[] }

/** Why a credential differs from its offer. Undefined if it does not. */
export function findDifference(offered: ClaimsAndSchemas, issued: ClaimsAndSchemas): string | undefined {
  return (
    findClaimDifference(offered.claims, issued.claims) ??
    findSchemaDifference(offered.schemas, issued.schemas)
  )
}

/** Compares claims: all offered claims, and no others. */
function findClaimDifference(offered: JsonObject, issued: JsonObject): string | undefined {
  for (const name of Object.keys(offered)) {
    if (!Object.hasOwn(issued, name)) return `it lacks the claim ${name}, which was offered`
    if (!isAsOffered(offered[name], issued[name])) return `its claim ${name} is not what was offered`
  }
  const surplus = Object.keys(issued).find((name) => !Object.hasOwn(offered, name))
  return surplus === undefined ? undefined : `it has the claim ${surplus}, which was not offered`
}

function findSchemaDifference(offered: readonly string[], issued: readonly string[]): string | undefined {
  const surplus = issued.find((id) => !offered.includes(id))
  if (surplus !== undefined) return `it is of the schema ${surplus}, which was not offered`
  const missing = offered.find((id) => !issued.includes(id))
  return missing === undefined ? undefined : `it is not of the schema ${missing}, which was offered`
}

/** Whether two JSON values are equal. A preview may contain a value as its JSON text. */
function isAsOffered(offered: unknown, issued: unknown): boolean {
  const isSame = (value: unknown) => value !== undefined && canonicalize(value) === canonicalize(issued)
  return isSame(offered) || (typeof offered === 'string' && isSame(tryParseJson(offered)))
}
