/** AnonCreds schemas (https://hyperledger.github.io/anoncreds-spec, §5.2; wire.md 8.4): the names of a credential's attributes. */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { attributeKey, linkSecretName } from './attribute-key.ts'
import type { JsonObject } from './limits.ts'
import { dialect, Names } from './plain.ts'

/** Type of a record that holds one (service §2.1). */
export const anonCredsType = 'AnoncredSchemaV1'

const keysDiffer = (names: string[]) => new Set(names.map(attributeKey)).size === names.length
const isFree = (name: string) => !['', '__proto__', linkSecretName].includes(attributeKey(name))

export const AnonCredsSchema = z.strictObject({
  name: z.string().min(1).max(1_000),
  version: z.string().min(1).max(100),
  attrNames: Names.min(1)
    .refine(keysDiffer, 'must not name anything twice, capitals and spaces aside')
    .refine(
      (names) => names.every(isFree),
      `must not have ${linkSecretName}, __proto__ or a name of spaces alone`,
    ),
  issuerId: z.string().min(1).max(70_000),
})
export type AnonCredsSchema = z.output<typeof AnonCredsSchema>

/** True for what is meant to be an AnonCreds schema: read as a JSON schema, it would take any claims. */
export function isAnonCreds(schema: JsonObject): boolean {
  return (
    Object.hasOwn(schema, 'attrNames') &&
    !['$schema', 'type', 'properties'].some((keyword) => Object.hasOwn(schema, keyword))
  )
}

/**
 * What an AnonCreds schema asks of claims, as a JSON schema: every attribute, as text, and nothing else.
 *
 * @throws {Problem} `error:CredentialSchemaError:InvalidSchema`
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const { data, error } = AnonCredsSchema.loose().safeParse(schema)
  if (error) {
    const [issue] = error.issues
    throw new Problem(
      'error:CredentialSchemaError:InvalidSchema',
      `The credential schema cannot be used: ${issue!.path.join('.')}: ${issue!.message}`,
    )
  }
  const { attrNames } = data
  return {
    $schema: dialect,
    type: 'object',
    properties: Object.fromEntries(attrNames.map((name) => [name, { type: 'string' }])),
    required: attrNames,
    additionalProperties: false,
  }
}
