/**
 * Reads the JSON resource at a URL or DID URL: a credential schema or a credential definition.
 *
 * URLs of this agent's registries are answered from the database, because the agent may be unable to call
 * itself. Other resources are fetched and cached for a minute.
 */
import { LRUCache } from 'lru-cache'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import type { Resolve } from '../../did/document.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { openEnvelope, parseResourceUrl, toUrl } from './did-url.ts'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { findExcess } from './limits.ts'

export type ResourceSources = {
  http: HttpClient
  resolve: Resolve
  /** Base URLs of this agent's registries. */
  baseUrls: readonly string[]
  /** Milliseconds since 1970. Default: the system clock. */
  now?: () => number
}

/** A registry of this agent. `part` is the member of a record that has its own URL. */
export type Registry = {
  /** Such as `schema-registry/schemas`. */
  path: string
  part: string
  /** Reads a record, or its part. @throws {SyntaxError} when there is none. */
  read: (guid: string, isPart: boolean) => Promise<unknown>
}

const fetchOptions = { timeoutMs: 5_000, maxBytes: 262_144, maxRedirects: 3 }
const limits = { depth: 80, values: 10_000, characters: fetchOptions.maxBytes }
const cacheMs = 60_000

/** Pending and completed fetches of each client, by URL. */
const caches = new WeakMap<HttpClient, LRUCache<string, { body: Promise<unknown>; until: number }>>()

/**
 * Reads a JSON object.
 *
 * @throws {SyntaxError} when the body is not a JSON object or not the one whose digest is in the URL,
 *   {UnreachableError}, {Problem} when a DID cannot be resolved.
 */
export async function readResource(
  url: string,
  registry: Registry,
  accept: string,
  sources: ResourceSources,
): Promise<JsonObject> {
  const resource = parseResourceUrl(url)
  const location = resource ? toUrl(resource, await sources.resolve(resource.did)) : url
  const entry = findEntry(location, registry, sources.baseUrls)
  const body = entry
    ? await registry.read(entry.guid, entry.isPart)
    : await fetchCached(location, accept, sources)
  const { resource: opened, hash } = openEnvelope(body)
  const excess = findExcess(opened, limits)
  if (excess !== undefined) throw new SyntaxError(`the answer ${excess}`)
  if (!isJsonObject(opened)) throw new SyntaxError('the answer is not a JSON object')
  if (resource?.hash !== undefined && resource.hash !== hash())
    throw new SyntaxError('it is not the one whose digest is in the URL')
  return opened
}

/** Parses a URL of this agent's registry: `<base>/<path>/[did-url/]{guid}[/<part>]`. */
function findEntry(
  url: string,
  { path, part }: Registry,
  baseUrls: readonly string[],
): { guid: string; isPart: boolean } | undefined {
  if (!URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  for (const base of baseUrls.map((each) => each.replace(/\/+$/, ''))) {
    if (!(origin + pathname).startsWith(`${base}/`)) continue
    // The HTTP API accepts repeated slashes after its base URL.
    const below = (origin + pathname).slice(base.length).replace(/^\/+/, '')
    if (!below.startsWith(`${path}/`)) continue
    const [, guid, tail] =
      /^(?:did-url\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\/\w+)?\/?$/i.exec(
        below.slice(path.length + 1),
      ) ?? []
    if (guid !== undefined && (tail === undefined || tail === `/${part}`))
      return { guid: guid.toLowerCase(), isPart: tail !== undefined }
  }
  return undefined
}

function fetchCached(
  url: string,
  accept: string,
  { http, now = Date.now }: ResourceSources,
): Promise<unknown> {
  const cache = caches.get(http) ?? new LRUCache({ max: 200 })
  caches.set(http, cache)
  const cached = cache.get(url)
  if (cached && now() < cached.until) return cached.body
  const body = http.getJson(url, { ...fetchOptions, accept, purpose: 'document' })
  cache.set(url, { body, until: now() + cacheMs })
  // Failures are not cached.
  body.catch(() => cache.peek(url)?.body === body && cache.delete(url))
  return body
}

/**
 * Converts a failure of `readResource` to the caller's problem. `fail` gets the URL, shortened and without
 * user name and password, and the reason. Temporary problems and bugs are returned unchanged.
 */
export function toFailure(
  error: unknown,
  url: string,
  fail: (safeUrl: string, reason: string) => Problem,
): unknown {
  const reason = reasonFor(error)
  if (reason === undefined) return error
  const problem = fail(url.replace(/\/\/[^/@]*@/, '//').slice(0, 300), reason.replace(/\.$/, ''))
  problem.cause ??= error
  return problem
}

function reasonFor(error: unknown): string | undefined {
  if (error instanceof UnreachableError) return `${error.message} (${error.code})`
  if (error instanceof SyntaxError || (error instanceof Problem && !isTemporary(error))) return error.message
  return undefined
}
