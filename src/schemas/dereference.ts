/** From the URL of a credential schema to the schema (service §4.3, wire.md 8.4, 8.5). */
import { Problem } from '../base/problem.ts'
import { isAnonCreds, toJsonSchema } from './anoncreds.ts'
import { isJsonObject, type JsonObject } from './limits.ts'
import { readResource, toFailure, type OwnCollection, type ResourceSources } from './resource.ts'
import { schemasPath, type CredentialSchema } from './schema.ts'

export type SchemaSources = ResourceSources & {
  /** A record of our own registry. */
  ownRecord: (guid: string) => Promise<CredentialSchema | undefined>
}

/** The schema as it was published, and the registry's record around it if the URL leads to one. */
export type Dereferenced = { schema: JsonObject; record?: JsonObject }

const accept = 'application/schema+json, application/json'

/**
 * Reads what a URL stands for, as JSON schema of the claims: a JSON schema as it is or as member `schema` of a registry's record, or what
 * an AnonCreds schema comes to.
 *
 * @throws {Problem} `error:CredentialSchemaError:SchemaDereferencingError` naming the URL and the reason.
 */
export async function dereferenceSchema(url: string, sources: SchemaSources): Promise<JsonObject> {
  const { schema } = await dereference(url, sources)
  return isAnonCreds(schema) ? toJsonSchema(schema) : schema
}

/** Reads what a URL stands for. @throws {Problem} as `dereferenceSchema`; 503 when a DID cannot be resolved for now. */
export async function dereference(url: string, sources: SchemaSources): Promise<Dereferenced> {
  try {
    const found = await readResource(url, ownSchemas(sources), accept, sources)
    if (!isJsonObject(found['schema']) || found['$schema'] !== undefined) return { schema: found }
    return { schema: found['schema'], record: found }
  } catch (error) {
    throw toFailure(error, url, failed)
  }
}

function ownSchemas({ ownRecord }: SchemaSources): OwnCollection {
  return {
    path: schemasPath,
    part: 'schema',
    async read(guid, isRaw) {
      const record = await ownRecord(guid)
      if (!record) throw new SyntaxError(`this agent's registry has no schema with the guid ${guid}`)
      return isRaw ? record.schema : record
    },
  }
}

function failed(url: string, reason: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:SchemaDereferencingError',
    `The credential schema ${url} could not be read: ${reason}.`,
  )
}
