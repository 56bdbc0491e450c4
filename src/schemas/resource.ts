/**
 * Reading what a URL or a DID URL stands for, as JSON (wire.md 8.5): schemas, definitions of credentials.
 *
 * Our own registries' URLs are answered from the store: this agent may not be allowed, or able, to call itself. What others publish is
 * fetched and kept for a minute, so that a thousand offers of one kind ask once.
 */
import { LRUCache } from 'lru-cache'
import { isTemporary, Problem } from '../base/problem.ts'
import type { Resolve } from '../did/document.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import { locate, openEnvelope, parseResourceUrl } from './did-url.ts'
import { findExcess, isJsonObject, type JsonObject } from './limits.ts'

export type ResourceSources = {
  http: HttpClient
  resolve: Resolve
  /** Base URLs under which our own registries are known. */
  ownBaseUrls: readonly string[]
  /** Milliseconds since 1970; the system's clock when absent. */
  now?: () => number
}

/** A collection of our own registry, such as `schema-registry/schemas`, and the part of a record that has a URL of its own. */
export type OwnCollection = {
  path: string
  part: string
  /** What the URL of a record answers, or that of its part. @throws {SyntaxError} when there is none. */
  read: (guid: string, isPart: boolean) => Promise<unknown>
}

const fetching = { timeoutMs: 5_000, maxBytes: 262_144, maxRedirects: 3 }
/** Of what is fetched, before anything is done with it; what it is used for has limits of its own. */
const limits = { depth: 80, values: 10_000, characters: fetching.maxBytes }
const cacheMs = 60_000

/** Answers by URL, those under way included. What a client has fetched goes with the client. */
const caches = new WeakMap<HttpClient, LRUCache<string, { answer: Promise<unknown>; until: number }>>()

/**
 * Reads a JSON object.
 *
 * @throws {SyntaxError} when it is none or not the one that the URL names, {UnreachableError}, {Problem} when a DID cannot be resolved.
 */
export async function readResource(
  url: string,
  own: OwnCollection,
  accept: string,
  sources: ResourceSources,
): Promise<JsonObject> {
  const resource = parseResourceUrl(url)
  const place = resource ? locate(resource, await sources.resolve(resource.did)) : url
  const found = findOwn(place, own, sources.ownBaseUrls)
  const answer = found ? await own.read(found.guid, found.isPart) : await fetchOnce(place, accept, sources)
  const { resource: opened, hash } = openEnvelope(answer)
  const excess = findExcess(opened, limits)
  if (excess !== undefined) throw new SyntaxError(`the answer ${excess}`)
  if (!isJsonObject(opened)) throw new SyntaxError('the answer is not a JSON object')
  if (resource?.hash !== undefined && resource.hash !== hash())
    throw new SyntaxError('it is not the one whose digest is in the URL')
  return opened
}

/** What a URL of our own registry names: `<base>/<path>/[did-url/]{guid}[/<part>]`. */
function findOwn(
  text: string,
  { path, part }: OwnCollection,
  baseUrls: readonly string[],
): { guid: string; isPart: boolean } | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  for (const base of baseUrls.map((url) => url.replace(/\/+$/, ''))) {
    if (!(origin + pathname).startsWith(`${base}/`)) continue
    // The HTTP API takes several slashes after its base URL for one.
    const below = (origin + pathname).slice(base.length).replace(/^\/+/, '')
    if (!below.startsWith(`${path}/`)) continue
    const rest = below.slice(path.length + 1)
    const [, guid, tail] =
      /^(?:did-url\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\/\w+)?\/?$/i.exec(rest) ?? []
    if (guid !== undefined && (tail === undefined || tail === `/${part}`))
      return { guid: guid.toLowerCase(), isPart: tail !== undefined }
  }
  return undefined
}

function fetchOnce(url: string, accept: string, { http, now = Date.now }: ResourceSources): Promise<unknown> {
  const cache = caches.get(http) ?? new LRUCache({ max: 200 })
  caches.set(http, cache)
  const known = cache.get(url)
  if (known && now() < known.until) return known.answer
  const answer = http.getJson(url, { ...fetching, accept })
  cache.set(url, { answer, until: now() + cacheMs })
  // A failure is told to those who wait for it and not remembered.
  answer.catch(() => cache.peek(url)?.answer === answer && cache.delete(url))
  return answer
}

/**
 * What to tell whoever needs a resource that could not be read: a failure with the URL, without its user name and password and no longer than
 * anybody reads, and the reason; what waiting may solve, and what is no matter of the resource, as it is.
 */
export function toFailure(
  error: unknown,
  url: string,
  fail: (shown: string, reason: string) => Problem,
): unknown {
  const reason = reasonFor(error)
  return reason === undefined
    ? error
    : fail(url.replace(/\/\/[^/@]*@/, '//').slice(0, 300), reason.replace(/\.$/, ''))
}

function reasonFor(error: unknown): string | undefined {
  if (error instanceof UnreachableError) return `${error.message} (${error.code})`
  if (error instanceof SyntaxError || (error instanceof Problem && !isTemporary(error))) return error.message
  return undefined
}
