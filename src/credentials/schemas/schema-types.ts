/** The three types of credential schema that can be registered, distinguished by the record's `type`. */
import type * as z from 'zod'
import { quote } from '../../foundation/faults.ts'
import { Problem } from '../../foundation/problem.ts'
import { AnonCredsSchema, anonCredsType } from './anoncreds-schema.ts'
import { checkUsable } from './claims.ts'
import { JsonLdSchema, jsonLdType } from './json-ld.ts'
import { PlainSchema } from './json-schema.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { findExcess } from './limits.ts'
import { schemaLimits } from './validator.ts'

/** The `type` of a registry record that holds a JSON Schema. */
export const jsonSchemaType = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'

const schemaTypes: Readonly<Record<string, z.ZodType>> = {
  [jsonSchemaType]: PlainSchema,
  [jsonLdType]: JsonLdSchema,
  [anonCredsType]: AnonCredsSchema,
}

/**
 * Checks a schema before it is registered.
 *
 * @throws {Problem} `error:CredentialSchemaError:UnsupportedCredentialSchemaType`, or
 *   `error:CredentialSchemaError:InvalidSchema` with the path of every invalid keyword, which starts with
 *   `schema`.
 */
export async function checkSchema(type: string, schema: JsonObject): Promise<void> {
  const definition = Object.hasOwn(schemaTypes, type) ? schemaTypes[type] : undefined
  if (!definition) {
    throw new Problem(
      'error:CredentialSchemaError:UnsupportedCredentialSchemaType',
      `type: must be ${Object.keys(schemaTypes).join(' or ')}, and is ${quote(type)}.`,
    )
  }
  const excess = findExcess(schema, schemaLimits)
  if (excess !== undefined) throw invalid([`schema: ${excess}`])
  const { error } = definition.safeParse(schema)
  if (error) throw invalid(error.issues.flatMap(toSentences))
  if (type !== anonCredsType) await checkUsable(schema)
}

function toSentences(issue: z.core.$ZodIssue): string[] {
  const path = ['schema', ...issue.path].join('.')
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${path}.${key}: is not an accepted keyword`)
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
