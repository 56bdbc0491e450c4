/**
 * The DID resolver (W3C DID Resolution). It resolves did:prism, did:peer, did:key and did:jwk itself, and
 * other methods with the functions in `ResolverSources`.
 *
 * Documents that cannot change (did:peer, did:key, did:jwk, unpublished did:prism) are cached. Fetched ones
 * are cached as long as `ResolverSources` allows. Cached values are shared, and therefore frozen.
 */
import { LRUCache } from 'lru-cache'
import { Problem } from '../base/problem.ts'
import { Did, type DidDocument, type Resolve } from './document.ts'
import { createFetchCache, deepFreeze } from './fetch-cache.ts'
import { resolveJwkDid } from './jwk.ts'
import { resolveKeyDid } from './key.ts'
import { resolvePeerDid } from './peer.ts'
import { embeddedState, parsePrismDid } from './prism/did.ts'
import { toDocument, toMetadata } from './prism/document.ts'
import type { DidState } from './prism/state.ts'
import { type DidDocumentMetadata, ResolutionError, type ResolutionResult } from './resolution.ts'

export type ResolverSources = {
  /** Reads the state of a published did:prism. */
  getState: (suffix: string) => Promise<DidState | undefined>
  /** Resolvers of the methods that need the network, by method name (`web`). */
  methods?: Readonly<Record<string, Resolve>>
  /** Cache lifetime of the documents of `methods`. Default: 0, not cached. */
  documentLifetimeMs?: number
  /**
   * Cache lifetime of states. Without it, each resolution calls `getState`, and concurrent ones do not share
   * a call: for a ledger file that other processes may write to.
   */
  stateLifetimeMs?: number | undefined
  /** A monotonic clock in milliseconds. */
  now?: () => number
}

export type Resolver = {
  /** A failure is a result with `didResolutionMetadata.error`. @throws {Problem} 503: the DID may exist */
  resolve: (did: string) => Promise<ResolutionResult>
  /**
   * Resolves a DID to its document.
   *
   * @throws {Problem} `error:DIDResolution:*` when there is no document or the DID is deactivated;
   * `error:ServiceUnavailable` as `resolve`.
   */
  document: Resolve
  /** Removes what is cached about a fetched DID in any of its forms, or about the did:prism with a suffix. */
  invalidate: (didOrSuffix: string) => void
}

const immutable: Readonly<Record<string, (did: string) => DidDocument>> = {
  peer: resolvePeerDid,
  key: resolveKeyDid,
  jwk: resolveJwkDid,
}

/** Limits on the cached results of DIDs that cannot change. The size is the total length of the DIDs. */
const immutableCache = { max: 1_000, maxSize: 4_000_000 }

/** Errors of a source other than `error:DIDResolution:*` are rethrown: they say nothing about the DID. */
export function createResolver(sources: ResolverSources): Resolver {
  const { getState, methods = {}, documentLifetimeMs = 0, stateLifetimeMs, now } = sources
  const fetched = new Map(
    Object.entries(methods).map(([method, fetch]) => [
      method,
      createFetchCache(fetch, { lifetimeMs: documentLifetimeMs, now }),
    ]),
  )
  const states =
    stateLifetimeMs === undefined
      ? undefined
      : createFetchCache(getState, { lifetimeMs: stateLifetimeMs, now })
  const cached = createResultCache()
  const resolvePrism = createPrismResolver(states ? states.get : getState, cached)
  const supported = ['prism', ...Object.keys(immutable), ...fetched.keys()].map((method) => `did:${method}`)

  async function resolveFetched(method: string, did: string): Promise<ResolutionResult> {
    const document = await fetched.get(method)?.get(did)
    if (document) return found(document)
    if (!Did.safeParse(did).success) throw notADid(did)
    throw new Problem(
      'error:DIDResolution:methodNotSupported',
      `did:${method.slice(0, 30)} is not supported; ${supported.slice(0, -1).join(', ')} and ${supported.at(-1)} are`,
    )
  }

  async function resolve(did: string): Promise<ResolutionResult> {
    try {
      const method = /^did:([a-z0-9]+):/.exec(did)?.[1]
      if (!method) throw notADid(did)
      if (method === 'prism') return await resolvePrism(did)
      return Object.hasOwn(immutable, method)
        ? cached(did, () => found(immutable[method]!(did)))
        : await resolveFetched(method, did)
    } catch (error) {
      const code =
        error instanceof Problem && ResolutionError.safeParse(error.type.replace('error:DIDResolution:', ''))
      if (!code || !code.success) throw error
      return { didDocumentMetadata: {}, didResolutionMetadata: { error: code.data, message: error.message } }
    }
  }

  return {
    resolve,
    async document(did) {
      const { didDocument, didResolutionMetadata } = await resolve(did)
      if (didDocument) return didDocument
      const { error, message } = didResolutionMetadata
      throw new Problem(
        `error:DIDResolution:${error ?? 'notFound'}`,
        message ?? `${did.slice(0, 100)} has no document`,
      )
    },
    invalidate(didOrSuffix) {
      const [, method, id] = /^did:([a-z0-9]+):([^:]*)/.exec(didOrSuffix) ?? []
      if (method === undefined || method === 'prism') states?.invalidate(id ?? didOrSuffix)
      else fetched.get(method)?.invalidate(didOrSuffix)
    },
  }
}

/** Runs a resolution unless its result is cached. */
type ResultCache = (did: string, resolve: () => ResolutionResult) => ResolutionResult

function createResultCache(): ResultCache {
  const results = new LRUCache<string, ResolutionResult>({
    ...immutableCache,
    sizeCalculation: (_, did) => did.length,
  })
  return (did, resolve) => {
    const result = results.get(did) ?? deepFreeze(resolve())
    results.set(did, result)
    return result
  }
}

/** Resolves a did:prism: its published state, or the state in an unpublished long form. */
function createPrismResolver(getState: ResolverSources['getState'], cached: ResultCache) {
  return async (did: string): Promise<ResolutionResult> => {
    const { suffix, operation } = parsePrismDid(did)
    const published = await getState(suffix)
    if (published) return toResult(published, did)
    if (operation) return cached(did, () => toResult(embeddedState(did, operation), did))
    throw new Problem(
      'error:DIDResolution:notFound',
      `${did} is not published; an unpublished DID resolves in its long form only`,
    )
  }
}

function toResult(state: DidState, did: string): ResolutionResult {
  const didDocumentMetadata = toMetadata(state)
  if (!state.deactivated) return found(toDocument(state, did), didDocumentMetadata)
  return {
    didDocumentMetadata,
    didResolutionMetadata: { error: 'deactivated', message: `${did.slice(0, 100)} is deactivated` },
  }
}

function notADid(did: string): Problem {
  const detail = `${did.slice(0, 100)} is not a DID: did:, a method in lower case, a colon, and an identifier`
  return new Problem('error:DIDResolution:invalidDid', detail)
}

function found(didDocument: DidDocument, didDocumentMetadata: DidDocumentMetadata = {}): ResolutionResult {
  return {
    didDocument,
    didDocumentMetadata,
    didResolutionMetadata: { contentType: 'application/did+ld+json' },
  }
}
