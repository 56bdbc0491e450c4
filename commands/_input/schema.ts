/** Credential schemas from flags. */

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The URL of a schema: a URL stays as it is, a guid is one of the daemon at `baseUrl` (service §2.1). */
export function schemaUrl(schema: string, baseUrl: string): string {
  return uuid.test(schema) ? `${baseUrl}/schema-registry/schemas/${schema}` : schema
}
