/** The filters of presentation definitions: JSON schemas of strangers, checked as safely as credential schemas are. */
import { Problem } from '../base/problem.ts'
import { checkClaims, checkUsable } from '../schemas/claims.ts'
import type { JsonObject } from '../schemas/limits.ts'

/** Presentation Exchange was written for this draft (§ JSON Schemas); what filters use of it has kept its meaning. */
const draft7 = /^http:\/\/json-schema\.org\/draft-07\/schema#?$/

/** Checks that a filter is a legal JSON schema. @throws {Problem} `error:CredentialSchemaError:InvalidSchema`, saying what about it is not. */
export function checkFilter(filter: JsonObject): Promise<void> {
  return checkUsable(modern(filter))
}

/** True when a value fits a filter; what takes too much work to find out does not. */
export async function fitsFilter(value: unknown, filter: JsonObject): Promise<boolean> {
  try {
    await checkClaims(value, modern(filter))
    return true
  } catch (error) {
    if (
      error instanceof Problem &&
      error.type === 'error:CredentialSchemaError:CredentialSchemaValidationError'
    )
      return false
    throw error
  }
}

function modern(filter: JsonObject): JsonObject {
  const { $schema, ...rest } = filter
  return typeof $schema === 'string' && draft7.test($schema) ? rest : filter
}
