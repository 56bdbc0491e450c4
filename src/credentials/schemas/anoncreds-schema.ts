/** AnonCreds schemas (https://hyperledger.github.io/anoncreds-spec/#schema-publisher-publish-schema-object). */
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { Problem } from '../../foundation/problem.ts'
import type { JsonObject } from '../../foundation/json.ts'
import { dialect, Names } from './json-schema.ts'

/** The `type` of a registry record that holds an AnonCreds schema. */
export const anonCredsType = 'AnoncredSchemaV1'

/** The name under which the holder's link secret is signed among the attributes. */
export const linkSecretName = 'master_secret'

/**
 * An attribute name as signatures use it: lower case, without spaces. Names with the same key are one
 * attribute.
 */
export function attributeKey(name: string): string {
  return name.replaceAll(' ', '').toLowerCase()
}

const keysDiffer = (names: string[]) => new Set(names.map(attributeKey)).size === names.length
const isFree = (name: string) => !['', '__proto__', linkSecretName].includes(attributeKey(name))

export const AnonCredsSchema = z.strictObject({
  name: z.string().min(1).max(1_000),
  version: z.string().min(1).max(100),
  attrNames: Names.min(1)
    .refine(keysDiffer, 'must not contain a name twice; capitals and spaces make no difference')
    .refine(
      (names) => names.every(isFree),
      `must not contain ${linkSecretName}, __proto__ or a name of spaces only`,
    ),
  issuerId: z.string().min(1).max(70_000),
})
export type AnonCredsSchema = z.output<typeof AnonCredsSchema>

/** True for a document that is meant as an AnonCreds schema. As a JSON Schema it would accept any claims. */
export function isAnonCreds(schema: JsonObject): boolean {
  return (
    Object.hasOwn(schema, 'attrNames') &&
    !['$schema', 'type', 'properties'].some((keyword) => Object.hasOwn(schema, keyword))
  )
}

/**
 * Converts an AnonCreds schema to a JSON Schema of its claims: every attribute is a required string, and no
 * others are allowed.
 *
 * @throws {Problem} `error:CredentialSchemaError:InvalidSchema`
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const { data, error } = AnonCredsSchema.loose().safeParse(schema)
  if (error)
    throw new Problem(
      'error:CredentialSchemaError:InvalidSchema',
      `The credential schema cannot be used: ${firstFault(error, 'schema')}`,
    )
  const { attrNames } = data
  return {
    $schema: dialect,
    type: 'object',
    properties: Object.fromEntries(attrNames.map((name) => [name, { type: 'string' }])),
    required: attrNames,
    additionalProperties: false,
  }
}
