/**
 * From the URL of a credential schema to the JSON schema (service §4.3, wire.md 8.4).
 *
 * Our own registry's URLs are answered from the store: this agent may not be allowed, or able, to call itself. What others publish is
 * fetched and kept for a minute, so that a thousand offers of one kind ask once.
 */
import { Problem } from '../base/problem.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import { isJsonObject, type JsonObject } from './limits.ts'

export type SchemaSources = {
  http: HttpClient
  /** The JSON schema of a record in our own registry. */
  ownSchema: (guid: string) => Promise<JsonObject | undefined>
  /** Base URLs under which our own registry is known. */
  ownBaseUrls: readonly string[]
  /** Milliseconds since 1970; the system's clock when absent. */
  now?: () => number
}

const fetching = { timeoutMs: 5_000, maxBytes: 262_144, maxRedirects: 3, accept: 'application/schema+json, application/json' }
const cacheSize = 200
const cacheMs = 60_000

/** Answers by URL, those under way included; the oldest is dropped first. */
type Cache = Map<string, { schema: Promise<JsonObject>; until: number }>

/** What a client has fetched goes with the client. */
const caches = new WeakMap<HttpClient, Cache>()

/**
 * Reads the JSON schema that a URL stands for, either as it is or as member `schema` of a registry's record.
 *
 * @throws {Problem} `error:CredentialSchemaError:SchemaDereferencingError` naming the URL and the reason.
 */
export async function dereferenceSchema(url: string, sources: SchemaSources): Promise<JsonObject> {
  const guid = ownGuid(url, sources.ownBaseUrls)
  if (guid === undefined) return fetchOnce(url, sources)
  const schema = await sources.ownSchema(guid)
  if (!schema) throw failed(url, `this agent's registry has no schema with the guid ${guid}`)
  return schema
}

/** The guid in a URL of our own registry: `<base>/schema-registry/schemas/{guid}`, with or without `/schema`. */
function ownGuid(text: string, baseUrls: readonly string[]): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  for (const base of baseUrls) {
    const prefix = `${base.replace(/\/+$/, '')}/schema-registry/schemas/`
    if (!(origin + pathname).startsWith(prefix)) continue
    const match = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/schema)?\/?$/i.exec((origin + pathname).slice(prefix.length))
    if (match) return match[1]!.toLowerCase()
  }
  return undefined
}

function fetchOnce(url: string, { http, now = Date.now }: SchemaSources): Promise<JsonObject> {
  const cache: Cache = caches.get(http) ?? new Map()
  caches.set(http, cache)
  const known = cache.get(url)
  if (known && now() < known.until) return known.schema
  const schema = fetchSchema(url, http)
  cache.delete(url)
  cache.set(url, { schema, until: now() + cacheMs })
  if (cache.size > cacheSize) cache.delete(cache.keys().next().value!)
  // A failure is told to those who wait for it and not remembered.
  schema.catch(() => cache.get(url)?.schema === schema && cache.delete(url))
  return schema
}

async function fetchSchema(url: string, http: HttpClient): Promise<JsonObject> {
  try {
    const answer = await http.getJson(url, fetching)
    if (!isJsonObject(answer)) throw failed(url, 'the answer is not a JSON object')
    return isJsonObject(answer['schema']) && answer['$schema'] === undefined ? answer['schema'] : answer
  } catch (error) {
    if (error instanceof UnreachableError) throw failed(url, `${error.message} (${error.code})`)
    throw error
  }
}

function failed(url: string, reason: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:SchemaDereferencingError',
    `The credential schema ${shown(url)} could not be read: ${reason}.`,
  )
}

/** A URL without its user name and password, and not longer than anybody reads. */
function shown(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//').slice(0, 300)
}
