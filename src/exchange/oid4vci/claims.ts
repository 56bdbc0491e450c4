/** The claims of a credential configuration: the properties of its schema. */
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { checkUsable } from '../../credentials/schemas/claims.ts'
import type { Wallet } from '../../wallet/wallet.ts'

/** The most claims that the metadata names. */
export const maxClaims = 200

const maxTitleLength = 200

/** `title` is what the schema calls the claim, for people. */
const StoredClaims = z.array(
  z.object({
    name: z.string(),
    mandatory: z.boolean(),
    title: z.string().exactOptional(),
    /** Of an element of a document. */
    namespace: z.string().exactOptional(),
    disclosable: z.boolean().exactOptional(),
  }),
)
export type StoredClaims = z.infer<typeof StoredClaims>

/** The claims of a configuration, for the issuer's metadata and for people. */
export function claimsOf({ claims }: { claims: string }): StoredClaims {
  return StoredClaims.parse(JSON.parse(claims))
}

/** @throws {Problem} 400 for a name that the schema does not have */
export function withDisclosure(claims: StoredClaims, alwaysDisclosed: readonly string[]): StoredClaims {
  const unknown = alwaysDisclosed.find((wanted) => !claims.some(({ name }) => name === wanted))
  if (unknown !== undefined)
    throw new Problem(
      'BadRequest',
      `alwaysDisclosed: the schema has no property ${JSON.stringify(unknown.slice(0, 100))}.`,
    )
  return claims.map((claim) => ({ ...claim, disclosable: !alwaysDisclosed.includes(claim.name) }))
}

/**
 * The properties of a JSON schema, without the subject's `id`, and its title.
 *
 * @throws {Problem} 400; 503 when the schema cannot be read for now
 */
export async function readClaims(
  { env }: Wallet,
  schemaId: string,
): Promise<{ claims: StoredClaims; schema: JsonObject; title?: string }> {
  try {
    const schema = await env.getSchema(schemaId)
    await checkUsable(schema)
    return { claims: propertiesOf(schema), schema: isJsonObject(schema) ? schema : {}, ...titleOf(schema) }
  } catch (cause) {
    if (!(cause instanceof Problem) || isTemporary(cause)) throw cause
    throw new Problem(
      'error:OID4VCIIssuerMetadataServiceError:InvalidSchemaId',
      `schemaId: Invalid schemaId. ${cause.message}`,
      { cause },
    )
  }
}

/** The properties of an object in a schema, without the subject's `id`. */
export function propertiesOf(schema: unknown): StoredClaims {
  const { properties, required } = isJsonObject(schema) ? schema : {}
  const all = isJsonObject(properties) ? Object.entries(properties) : []
  return all
    .filter(([name]) => name !== 'id')
    .slice(0, maxClaims)
    .map(([name, property]) => ({
      name,
      mandatory: Array.isArray(required) && required.includes(name),
      ...titleOf(property),
    }))
}

function titleOf(schema: unknown): { title?: string } {
  const title = isJsonObject(schema) ? schema['title'] : undefined
  if (typeof title !== 'string' || title.trim() === '') return {}
  return { title: title.trim().slice(0, maxTitleLength) }
}
