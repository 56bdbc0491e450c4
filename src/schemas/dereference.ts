/**
 * From the URL of a credential schema to the schema (service §4.3, wire.md 8.4, 8.5).
 *
 * Our own registry's URLs are answered from the store: this agent may not be allowed, or able, to call itself. What others publish is
 * fetched and kept for a minute, so that a thousand offers of one kind ask once.
 */
import { LRUCache } from 'lru-cache'
import { isTemporary, Problem } from '../base/problem.ts'
import type { Resolve } from '../did/document.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import { isAnonCreds, toJsonSchema } from './anoncreds.ts'
import { locate, openEnvelope, parseResourceUrl } from './did-url.ts'
import { findExcess, isJsonObject, type JsonObject } from './limits.ts'
import type { CredentialSchema } from './schema.ts'

export type SchemaSources = {
  http: HttpClient
  resolve: Resolve
  /** A record of our own registry. */
  ownRecord: (guid: string) => Promise<CredentialSchema | undefined>
  /** Base URLs under which our own registry is known. */
  ownBaseUrls: readonly string[]
  /** Milliseconds since 1970; the system's clock when absent. */
  now?: () => number
}

/** The schema as it was published, and the registry's record around it if the URL leads to one. */
export type Dereferenced = { schema: JsonObject; record?: JsonObject }

const fetching = { timeoutMs: 5_000, maxBytes: 262_144, maxRedirects: 3, accept: 'application/schema+json, application/json' }
/** Of what is fetched, before anything is done with it; what it is used for has limits of its own. */
const limits = { depth: 80, values: 10_000, characters: fetching.maxBytes }
const cacheMs = 60_000

/** Answers by URL, those under way included. What a client has fetched goes with the client. */
const caches = new WeakMap<HttpClient, LRUCache<string, { answer: Promise<unknown>; until: number }>>()

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
    const resource = parseResourceUrl(url)
    const place = resource ? locate(resource, await sources.resolve(resource.did)) : url
    const { resource: found, hash } = openEnvelope(await read(place, sources))
    const excess = findExcess(found, limits)
    if (excess !== undefined) throw new SyntaxError(`the answer ${excess}`)
    if (!isJsonObject(found)) throw new SyntaxError('the answer is not a JSON object')
    if (resource?.hash !== undefined && resource.hash !== hash()) throw new SyntaxError('it is not the one whose digest is in the URL')
    if (!isJsonObject(found['schema']) || found['$schema'] !== undefined) return { schema: found }
    return { schema: found['schema'], record: found }
  } catch (error) {
    throw toProblem(error, url)
  }
}

/** Asks our own store or the network. */
async function read(url: string, sources: SchemaSources): Promise<unknown> {
  const own = findOwn(url, sources.ownBaseUrls)
  if (!own) return fetchOnce(url, sources)
  const record = await sources.ownRecord(own.guid)
  if (!record) throw new SyntaxError(`this agent's registry has no schema with the guid ${own.guid}`)
  return own.isRaw ? record.schema : record
}

/** What a URL of our own registry names: `<base>/schema-registry/schemas/[did-url/]{guid}[/schema]`. */
function findOwn(text: string, baseUrls: readonly string[]): { guid: string; isRaw: boolean } | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  for (const base of baseUrls) {
    const prefix = `${base.replace(/\/+$/, '')}/schema-registry/schemas/`
    if (!(origin + pathname).startsWith(prefix)) continue
    const rest = (origin + pathname).slice(prefix.length)
    const [, guid, raw] = /^(?:did-url\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\/schema)?\/?$/i.exec(rest) ?? []
    if (guid !== undefined) return { guid: guid.toLowerCase(), isRaw: raw !== undefined }
  }
  return undefined
}

function fetchOnce(url: string, { http, now = Date.now }: SchemaSources): Promise<unknown> {
  const cache = caches.get(http) ?? new LRUCache({ max: 200 })
  caches.set(http, cache)
  const known = cache.get(url)
  if (known && now() < known.until) return known.answer
  const answer = http.getJson(url, fetching)
  cache.set(url, { answer, until: now() + cacheMs })
  // A failure is told to those who wait for it and not remembered.
  answer.catch(() => cache.peek(url)?.answer === answer && cache.delete(url))
  return answer
}

function toProblem(error: unknown, url: string): unknown {
  if (error instanceof UnreachableError) return failed(url, `${error.message} (${error.code})`)
  if (error instanceof SyntaxError) return failed(url, error.message)
  if (error instanceof Problem && !isTemporary(error)) return failed(url, error.message)
  return error
}

function failed(url: string, reason: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:SchemaDereferencingError',
    `The credential schema ${shown(url)} could not be read: ${reason.replace(/\.$/, '')}.`,
  )
}

/** A URL without its user name and password, and not longer than anybody reads. */
function shown(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//').slice(0, 300)
}
