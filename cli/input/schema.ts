/** Credential schemas from flags. */

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The kinds of schemas by the names they have here, as the registry calls them (service §2.1). */
export const kinds = {
  json: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
  'json-ld': 'http://www.w3.org/ns/json-ld#context',
  anoncreds: 'AnoncredSchemaV1',
} as const

/** True for a guid of the registry. */
export function isGuid(schema: string): boolean {
  return uuid.test(schema)
}

/** The URL of a schema: a URL stays as it is, a guid is one of the daemon at `baseUrl` (service §2.1). */
export function schemaUrl(schema: string, baseUrl: string): string {
  return isGuid(schema) ? `${baseUrl}/schema-registry/schemas/${schema}` : schema
}
