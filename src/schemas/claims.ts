/** Checking claims against a credential schema (service §4.3, wire.md 8.4). */
import { Problem } from '../base/problem.ts'
import { judge } from './judge.ts'
import { findExcess, isJsonObject } from './limits.ts'
import type { Unusable } from './unusable.ts'

const limits = { depth: 32, values: 10_000, characters: 2_000_000 }

/**
 * Checks claims against a JSON schema of draft 2020-12.
 *
 * @throws {Problem} `error:CredentialSchemaError:CredentialSchemaValidationError` with every violation and its JSON path, the first
 * hundred in full; `error:CredentialSchemaError:InvalidSchema` when the schema itself cannot be used, with the path of what is wrong in it.
 */
export async function checkClaims(claims: unknown, schema: unknown): Promise<void> {
  const excess = findExcess(claims, limits)
  if (excess !== undefined) throw failed([`the set of claims ${excess}`])
  if (!isJsonObject(schema)) throw unusable('it is not a JSON object')
  const verdict = await judge({ schema, claims })
  if ('unusable' in verdict) throw unusable(toSentence(verdict.unusable))
  if ('spent' in verdict)
    throw failed([
      'checking these claims against it takes too much work; shorten the claims or simplify the schema',
    ])
  if (verdict.violations.length > 0) throw failed(verdict.violations)
}

/** Checks that a JSON schema can be used. @throws {Problem} `error:CredentialSchemaError:InvalidSchema` with the path of what is wrong. */
export async function checkUsable(schema: unknown): Promise<void> {
  if (!isJsonObject(schema)) throw unusable('it is not a JSON object')
  const verdict = await judge({ schema })
  if ('unusable' in verdict) throw unusable(toSentence(verdict.unusable))
  if ('spent' in verdict) throw unusable('it takes too long to read; simplify it')
}

function toSentence({ path, reason }: Unusable): string {
  return path.length > 0 ? `${path.join('.')}: ${reason}` : `it ${reason}`
}

function unusable(reason: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:InvalidSchema',
    `The credential schema cannot be used: ${reason}`,
  )
}

function failed(reasons: string[]): Problem {
  return new Problem(
    'error:CredentialSchemaError:CredentialSchemaValidationError',
    `The credential schema validation failed: ${reasons.join('; ')}`,
  )
}
