/** Reads the credential schema at a URL. */
import { Problem } from '../../foundation/problem.ts'
import { isAnonCreds, toJsonSchema } from './anoncreds-schema.ts'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { readResource, toFailure, type Registry, type ResourceSources } from './resource.ts'
import { schemasPath, type CredentialSchema } from './schema.ts'

export type SchemaSources = ResourceSources & {
  /** Reads a record of this agent's registry. */
  findSchema: (guid: string) => Promise<CredentialSchema | undefined>
}

/** The schema as published, and the registry record around it if the URL names one. */
export type Dereferenced = { schema: JsonObject; record?: JsonObject }

const accept = 'application/schema+json, application/json'

/**
 * Reads a schema as JSON Schema of the claims. An AnonCreds schema is converted.
 *
 * @throws {Problem} `error:CredentialSchemaError:SchemaDereferencingError` naming the URL and the reason.
 */
export async function dereferenceSchema(url: string, sources: SchemaSources): Promise<JsonObject> {
  return toClaimsSchema((await dereference(url, sources)).schema)
}

/**
 * Reads a schema or its record.
 *
 * @throws {Problem} as `dereferenceSchema`; 503 when a DID cannot be resolved for now.
 */
export async function dereference(url: string, sources: SchemaSources): Promise<Dereferenced> {
  try {
    return unwrap(await readResource(url, schemaRegistry(sources), accept, sources))
  } catch (error) {
    throw toFailure(error, url, failed)
  }
}

/** Accepts a schema, or a registry record with the schema as a member. */
export function unwrap(document: JsonObject): Dereferenced {
  return isJsonObject(document['schema']) && document['$schema'] === undefined
    ? { schema: document['schema'], record: document }
    : { schema: document }
}

/** @throws {Problem} `error:CredentialSchemaError:InvalidSchema` for an invalid AnonCreds schema. */
export function toClaimsSchema(schema: JsonObject): JsonObject {
  return isAnonCreds(schema) ? toJsonSchema(schema) : schema
}

function schemaRegistry({ findSchema }: SchemaSources): Registry {
  return {
    path: schemasPath,
    part: 'schema',
    async read(guid, isSchemaOnly) {
      const record = await findSchema(guid)
      if (!record) throw new SyntaxError(`this agent's registry has no schema with the guid ${guid}`)
      return isSchemaOnly ? record.schema : record
    },
  }
}

function failed(url: string, reason: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:SchemaDereferencingError',
    `The credential schema ${url} could not be read: ${reason}.`,
  )
}
