/** What may be registered as a credential schema: one of three kinds, told apart by the record's `type` (service §2.1, api.md 4.10). */
import type { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { AnonCredsSchema, anonCredsType } from './anoncreds.ts'
import { JsonLdSchema, jsonLdType } from './json-ld.ts'
import { judge } from './judge.ts'
import { findExcess, type JsonObject } from './limits.ts'
import { PlainSchema } from './plain.ts'
import { schemaLimits } from './validator.ts'

/** Type of a record that holds a JSON schema. */
export const jsonSchemaType = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'

const kinds: Readonly<Record<string, z.ZodType>> = {
  [jsonSchemaType]: PlainSchema,
  [jsonLdType]: JsonLdSchema,
  [anonCredsType]: AnonCredsSchema,
}

/**
 * Checks a schema before it is registered.
 *
 * @throws {Problem} `error:CredentialSchemaError:UnsupportedCredentialSchemaType`, or `error:CredentialSchemaError:InvalidSchema` with
 * the path of every keyword that is wrong, beginning at `schema`.
 */
export async function checkSchema(type: string, schema: JsonObject): Promise<void> {
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (!kind) {
    throw new Problem(
      'error:CredentialSchemaError:UnsupportedCredentialSchemaType',
      `type: must be ${Object.keys(kinds).slice(0, -1).join(', ')} or ${Object.keys(kinds).at(-1)}.`,
    )
  }
  const excess = findExcess(schema, schemaLimits)
  if (excess !== undefined) throw invalid([`schema: ${excess}`])
  const { error } = kind.safeParse(schema)
  if (error) throw invalid(error.issues.flatMap(toSentences))
  if (type === anonCredsType) return
  const verdict = await judge({ schema })
  if ('spent' in verdict) throw invalid(['schema: takes too long to read; simplify it'])
  if (!('unusable' in verdict)) return
  const { path, reason } = verdict.unusable
  throw invalid([`${['schema', ...path].join('.')}: ${reason}`])
}

function toSentences(issue: z.core.$ZodIssue): string[] {
  const path = ['schema', ...issue.path].join('.')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${path}.${key}: is not a keyword that is accepted here`)
  if (issue.code === 'invalid_union' && issue.path[0] === '@context')
    return [`${path}: must be a JSON-LD context: a URL, an object that defines terms, or a list of these`]
  if (issue.code === 'invalid_union')
    return [`${path}: must be string, integer, number, boolean, array or object`]
  return [`${path}: ${issue.message}`]
}

function invalid(reasons: string[]): Problem {
  return new Problem(
    'error:CredentialSchemaError:InvalidSchema',
    `The credential schema is not valid. ${reasons.slice(0, 20).join('; ')}`,
  )
}
