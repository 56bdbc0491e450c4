/** From the URLs in offers and proofs to schemas and definitions, all of them checked (wire.md 9): others may publish anything. */
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { canonicalDid } from '../did/document.ts'
import { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import { parseResourceUrl } from '../schemas/did-url.ts'
import { isJsonObject, type JsonObject } from '../schemas/limits.ts'
import { readResource, toFailure, type Registry, type ResourceSources } from '../schemas/resource.ts'
import { schemasPath } from '../schemas/schema.ts'
import { definitionsPath } from './definitions.ts'
import { CredentialDefinition } from './model.ts'
import { findWeakness } from './strength.ts'

export type DefinitionSources = ResourceSources & {
  /** What the URL of a definition of our own registry answers, or that of the definition alone. @throws {Problem} when there is none. */
  ownDefinition: (guid: string, isRaw: boolean) => Promise<unknown>
}

/**
 * Reads the definition that a URL or a DID URL stands for: by itself, or in a registry's record.
 *
 * @throws {Problem} `error:CredentialDefinitionError:DereferencingError` naming the URL and the reason, 503 when it cannot be had for now.
 */
export async function dereferenceDefinition(
  url: string,
  sources: DefinitionSources,
): Promise<CredentialDefinition> {
  try {
    const own: Registry = { path: definitionsPath, part: 'definition', read: sources.ownDefinition }
    const found = await readResource(url, own, 'application/json', sources)
    const definition = parse(
      CredentialDefinition,
      isJsonObject(found['definition']) ? found['definition'] : found,
    )
    const weakness = findWeakness(definition.value.primary)
    if (weakness !== undefined) throw new SyntaxError(weakness)
    mustBeOfIssuer(url, definition.issuerId)
    return definition
  } catch (error) {
    throw toFailure(error, url, (shown, reason) => failed(`credential definition ${shown}`, reason))
  }
}

/**
 * Reads the AnonCreds schema that a URL or a DID URL stands for.
 *
 * @param read what stands for a URL, as `dereference` of the schemas does.
 * @throws {Problem} `error:CredentialSchemaError:SchemaDereferencingError`, or what `read` throws.
 */
export async function dereferenceAnonCredsSchema(
  url: string,
  read: (url: string) => Promise<{ schema: JsonObject }>,
): Promise<AnonCredsSchema> {
  const { schema } = await read(url)
  try {
    const parsed = parse(AnonCredsSchema.strip(), schema)
    mustBeOfIssuer(url, parsed.issuerId)
    return parsed
  } catch (error) {
    throw toFailure(
      error,
      url,
      (shown, reason) =>
        new Problem(
          'error:CredentialSchemaError:SchemaDereferencingError',
          `${shown} is no AnonCreds schema that can be used: ${reason}.`,
        ),
    )
  }
}

function parse<Type>(
  type: { safeParse(value: unknown): { success: boolean; data?: Type; error?: unknown } },
  value: unknown,
): Type {
  const { success, data, error } = type.safeParse(value)
  if (!success) throw new SyntaxError(reasonOf(error))
  return data as Type
}

/**
 * Whether what a URL leads to is its issuer's own: a DID URL names whose it is, and our own registries take a DID only from the wallet that has it.
 * At any other URL anybody may publish in anybody's name.
 */
export function vouchesForIssuer(url: string, baseUrls: readonly string[]): boolean {
  if (url.startsWith('did:')) return true
  return baseUrls.some((base) =>
    [schemasPath, definitionsPath].some((path) => url.startsWith(`${base.replace(/\/+$/, '')}/${path}/`)),
  )
}

/** What is found at a DID URL is the DID's; at any other URL, anybody's. */
function mustBeOfIssuer(url: string, issuerId: string): void {
  const resource = parseResourceUrl(url)
  if (resource && canonicalDid(resource.did) !== canonicalDid(issuerId))
    throw new SyntaxError(`issuerId: must be the DID in the URL, not ${issuerId.slice(0, 100)}`)
}

function failed(what: string, reason: string): Problem {
  return new Problem(
    'error:CredentialDefinitionError:DereferencingError',
    `The ${what} could not be read: ${reason}.`,
  )
}
