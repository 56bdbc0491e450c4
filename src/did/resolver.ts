/**
 * The DID resolver (W3C DID Resolution), over the methods of `methods.ts`.
 *
 * Documents that cannot change (those of DIDs that contain them, unpublished did:prism) are cached. Fetched
 * ones are cached as long as `ResolverSources` allows. Cached values are shared, and therefore frozen.
 */
import { LRUCache } from 'lru-cache'
import { Problem } from '../foundation/problem.ts'
import { Did, type Resolve } from './document.ts'
import { createFetchCache, deepFreeze } from './fetch-cache.ts'
import { type DidMethod, type DidSources, findMethod, type LedgerSources, methods as all } from './methods.ts'
import { methodOf, namesOf } from '../definitions/did-names.ts'
import { found, ResolutionError, type ResolutionResult } from './resolution.ts'

export type ResolverSources = DidSources & {
  /** The methods by name. Default: those of `methods.ts`. */
  methods?: Readonly<Record<string, DidMethod>>
  /** Cache lifetime of the documents of hosts. Default: 0, not cached. */
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

/** Limits on the cached results of DIDs that cannot change. The size is the total length of the DIDs. */
const immutableCache = { max: 1_000, maxSize: 4_000_000 }

/** Errors of a source other than `error:DIDResolution:*` are rethrown: they say nothing about the DID. */
export function createResolver(sources: ResolverSources): Resolver {
  const { methods = all, documentLifetimeMs = 0, stateLifetimeMs, now } = sources
  const states =
    stateLifetimeMs === undefined
      ? undefined
      : createFetchCache(sources.getState, { lifetimeMs: stateLifetimeMs, now })
  const once = createResultCache()
  const cached: LedgerSources = { ...sources, getState: states?.get ?? sources.getState, once }
  const documents = createFetchCache(
    async (did) => {
      const method = findMethod(did, methods)
      return method?.kind === 'fetched' ? method.resolve(did, sources) : undefined
    },
    { lifetimeMs: documentLifetimeMs, now },
  )

  async function resolveBy(method: DidMethod, did: string): Promise<ResolutionResult> {
    if (method.kind === 'self') return once(did, () => found(method.resolve(did)))
    if (method.kind === 'ledger') return method.resolve(did, cached)
    return found((await documents.get(did))!)
  }

  async function resolve(did: string): Promise<ResolutionResult> {
    try {
      const method = findMethod(did, methods)
      if (!method) throw unsupported(did, Object.keys(methods))
      return await resolveBy(method, did)
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
      if (findMethod(didOrSuffix, methods)?.kind === 'fetched') documents.invalidate(didOrSuffix)
      else states?.invalidate(didOrSuffix.split(':')[2] ?? didOrSuffix)
    },
  }
}

function createResultCache(): LedgerSources['once'] {
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

function unsupported(did: string, supported: readonly string[]): Problem {
  const method = methodOf(did)
  if (method === undefined || !Did.safeParse(did).success)
    return new Problem(
      'error:DIDResolution:invalidDid',
      `${did.slice(0, 100)} is not a DID: did:, a method in lower case, a colon, and an identifier`,
    )
  return new Problem(
    'error:DIDResolution:methodNotSupported',
    `did:${method.slice(0, 30)} is not supported; ${namesOf(supported, 'and')} are`,
  )
}
