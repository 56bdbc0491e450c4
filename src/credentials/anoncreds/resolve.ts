/** Reads and checks the AnonCreds schemas and credential definitions at the URLs in offers and proofs. */
import type * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { canonicalDid } from '../../did/document.ts'
import { AnonCredsSchema, attributeKey, linkSecretName } from '../schemas/anoncreds-schema.ts'
import { parseResourceUrl } from '../schemas/did-url.ts'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { readResource, toFailure, type Registry, type ResourceSources } from '../schemas/resource.ts'
import { schemasPath } from '../schemas/schema.ts'
import { definitionsPath } from './definitions.ts'
import { modulusBits } from './keys.ts'
import { CredentialDefinition, type PrimaryPublicKey } from './model.ts'

export type DefinitionSources = ResourceSources & {
  /**
   * Reads a record of this agent's registry, or its definition only.
   *
   * @throws {Problem} when there is none.
   */
  readDefinition: (guid: string, isDefinitionOnly: boolean) => Promise<unknown>
}

/**
 * Reads the definition at a URL or DID URL, which may return the definition or its registry record.
 *
 * @throws {Problem} `error:CredentialDefinitionError:DereferencingError` naming the URL and the reason, 503
 *   for a temporary failure.
 */
export async function dereferenceDefinition(
  url: string,
  sources: DefinitionSources,
): Promise<CredentialDefinition> {
  try {
    const registry: Registry = { path: definitionsPath, part: 'definition', read: sources.readDefinition }
    const document = await readResource(url, registry, 'application/json', sources)
    const definition = parse(
      CredentialDefinition,
      isJsonObject(document['definition']) ? document['definition'] : document,
    )
    const weakness = findWeakness(definition.value.primary)
    if (weakness !== undefined) throw new SyntaxError(weakness)
    assertIssuer(url, definition.issuerId)
    return definition
  } catch (error) {
    throw toFailure(error, url, (safeUrl, reason) => {
      const detail = `The credential definition ${safeUrl} could not be read: ${reason}.`
      return new Problem('error:CredentialDefinitionError:DereferencingError', detail)
    })
  }
}

/**
 * Reads the AnonCreds schema at a URL or DID URL. `read` is `dereference` of `schemas/`.
 *
 * @throws {Problem} `error:CredentialSchemaError:SchemaDereferencingError`, or what `read` throws.
 */
export async function dereferenceAnonCredsSchema(
  url: string,
  read: (url: string) => Promise<{ schema: JsonObject }>,
): Promise<AnonCredsSchema> {
  const { schema } = await read(url)
  try {
    const parsed = parse(AnonCredsSchema.strip(), schema)
    assertIssuer(url, parsed.issuerId)
    return parsed
  } catch (error) {
    throw toFailure(error, url, (safeUrl, reason) => {
      const detail = `${safeUrl} is not a usable AnonCreds schema: ${reason}.`
      return new Problem('error:CredentialSchemaError:SchemaDereferencingError', detail)
    })
  }
}

function parse<Type>(type: z.ZodType<Type>, value: unknown): Type {
  const { success, data, error } = type.safeParse(value)
  if (!success) throw new SyntaxError(reasonOf(error))
  return data
}

/**
 * Whether the `issuerId` of the document at a URL is authentic. It is at a DID URL, and in this agent's
 * registries, which check that the author owns the DID. At another URL, anyone can publish under any DID.
 */
export function isIssuerAuthentic(url: string, baseUrls: readonly string[]): boolean {
  if (url.startsWith('did:')) return true
  return baseUrls.some((base) =>
    [schemasPath, definitionsPath].some((path) => url.startsWith(`${base.replace(/\/+$/, '')}/${path}/`)),
  )
}

/** At a DID URL, the issuer must be that DID. */
function assertIssuer(url: string, issuerId: string): void {
  const resource = parseResourceUrl(url)
  if (resource && canonicalDid(resource.did) !== canonicalDid(issuerId))
    throw new SyntaxError(`issuerId: must be the DID in the URL, not ${issuerId.slice(0, 100)}`)
}

/** The fault of a public key, as far as it can be checked without the factors of n: "member: reason". */
function findWeakness({ n: modulus, r, ...others }: PrimaryPublicKey): string | undefined {
  const n = BigInt(modulus)
  // Some implementations do not set the two highest bits of both factors, so the product may have one bit
  // less.
  if (n < 1n << BigInt(modulusBits - 2)) return `value.primary.n: must have ${modulusBits} bits`
  if (n % 2n === 0n) return 'value.primary.n: must be odd'
  if (r[linkSecretName] === undefined) return `value.primary.r: must have ${linkSecretName}`
  const numbers = [
    ...Object.entries(others),
    ...Object.entries(r).map(([name, number]) => [`r.${name}`, number] as const),
  ]
  const outside = numbers.find(([, number]) => BigInt(number) <= 1n || BigInt(number) >= n - 1n)
  return outside && `value.primary.${outside[0]}: must be between 1 and n - 1`
}

/** The difference between the signed attributes of a definition and the attributes of its schema. */
export function findSchemaMismatch(
  { value }: CredentialDefinition,
  { attrNames }: AnonCredsSchema,
): string | undefined {
  const signed = new Set(Object.keys(value.primary.r))
  const expected = [linkSecretName, ...attrNames.map(attributeKey)]
  const missing = expected.find((name) => !signed.has(name))
  if (missing !== undefined) return `value.primary.r: must have ${missing}, an attribute of the schema`
  return signed.size > expected.length
    ? 'value.primary.r: has an attribute that the schema does not have'
    : undefined
}
