/**
 * DID → document, whatever the method: did:prism, did:peer, did:key and did:jwk here, others by functions handed in.
 *
 * What can never change (peer, key, jwk, the state inside a long form) is worked out once and kept, the least recently used
 * leaving first; such documents are shared and therefore frozen. What others say is kept for as long as `ResolverSources` allows.
 */
import { LRUCache } from 'lru-cache'
import { Problem } from '../base/problem.ts'
import { Did, type DidDocument, type Resolve } from './document.ts'
import { freeze } from './freeze.ts'
import { resolveJwkDid } from './jwk.ts'
import { resolveKeyDid } from './key.ts'
import { createMemory } from './memory.ts'
import { resolvePeerDid } from './peer.ts'
import { embeddedState, parsePrismDid } from './prism/did.ts'
import { toDocument, toMetadata } from './prism/document.ts'
import type { DidState } from './prism/state.ts'
import { type DidDocumentMetadata, ResolutionError, type ResolutionResult } from './resolution.ts'

/** Where states of published did:prism come from, and who resolves the methods that need the network (`web`), by method name. */
export type ResolverSources = {
  getState: (suffix: string) => Promise<DidState | undefined>
  methods?: Readonly<Record<string, Resolve>>
  /** How long documents of `methods` are kept, in milliseconds; not at all when absent or 0. */
  documentLifetimeMs?: number
  /**
   * The same for states. A ledger of which this is absent is asked every time, by everybody: right for one that is a file here, which another
   * process may have written meanwhile.
   */
  stateLifetimeMs?: number | undefined
  /** A clock in milliseconds that never goes back. */
  now?: () => number
}

export type Resolver = {
  /**
   * The full answer; a DID that does not resolve is an answer too, with `didResolutionMetadata.error`.
   *
   * @throws {Problem} `error:ServiceUnavailable` when whoever has the answer does not give it now: nothing is known of the DID.
   */
  resolve: (did: string) => Promise<ResolutionResult>
  /**
   * The document alone.
   *
   * @throws {Problem} `error:DIDResolution:*` when there is none, also when the DID is deactivated; `error:ServiceUnavailable` as `resolve`.
   */
  document: Resolve
  /** Forgets what others said about a DID, in any of its forms, or about the did:prism of a suffix: they are asked anew. */
  forget: (didOrSuffix: string) => void
}

const immutable: Readonly<Record<string, (did: string) => DidDocument>> = {
  peer: resolvePeerDid,
  key: resolveKeyDid,
  jwk: resolveJwkDid,
}

/** DIDs whose documents, or states, are kept though nobody needs to be asked, and how long these DIDs may be together. */
const kept = { max: 1_000, maxSize: 4_000_000 }

/** Makes a resolver. Anything else than a problem of `error:DIDResolution:` that a source throws passes through: it says nothing about the DID. */
export function createResolver(sources: ResolverSources): Resolver {
  const { getState, methods = {}, documentLifetimeMs = 0, stateLifetimeMs, now } = sources
  const ofOthers = new Map(
    Object.entries(methods).map(([method, fetch]) => [
      method,
      createMemory(fetch, { lifetimeMs: documentLifetimeMs, now }),
    ]),
  )
  const ledger =
    stateLifetimeMs === undefined ? undefined : createMemory(getState, { lifetimeMs: stateLifetimeMs, now })
  const documents = new LRUCache<string, DidDocument>({ ...kept, sizeCalculation: (_, did) => did.length })
  const states = new LRUCache<string, DidState>({ ...kept, sizeCalculation: (_, did) => did.length })
  /** What a state says in each of the two forms that its DID has. */
  const shown = new WeakMap<DidState, Map<string, ResolutionResult>>()
  const supported = ['prism', ...Object.keys(immutable), ...ofOthers.keys()].map((method) => `did:${method}`)

  function resolveImmutable(method: string, did: string): ResolutionResult {
    const document = documents.get(did) ?? freeze(immutable[method]!(did))
    documents.set(did, document)
    return found(document)
  }

  function unpublished(did: string, operation: Uint8Array): DidState {
    const state = states.get(did) ?? freeze(embeddedState(did, operation))
    states.set(did, state)
    return state
  }

  async function resolvePrism(did: string): Promise<ResolutionResult> {
    const { suffix, operation } = parsePrismDid(did)
    const published = await (ledger ? ledger.get(suffix) : getState(suffix))
    const state = published ?? (operation && unpublished(did, operation))
    if (!state)
      throw new Problem(
        'error:DIDResolution:notFound',
        `${did} is not published; an unpublished DID resolves in its long form only`,
      )
    const forms = shown.get(state) ?? new Map<string, ResolutionResult>()
    const result = forms.get(did) ?? freeze(show(state, did))
    shown.set(state, forms.set(did, result))
    return result
  }

  async function resolveForeign(method: string, did: string): Promise<ResolutionResult> {
    const document = await ofOthers.get(method)?.get(did)
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
        ? resolveImmutable(method, did)
        : await resolveForeign(method, did)
    } catch (error) {
      const name =
        error instanceof Problem && ResolutionError.safeParse(error.type.replace('error:DIDResolution:', ''))
      if (!name || !name.success) throw error
      return { didDocumentMetadata: {}, didResolutionMetadata: { error: name.data, message: error.message } }
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
    forget(didOrSuffix) {
      const [, method, id] = /^did:([a-z0-9]+):([^:]*)/.exec(didOrSuffix) ?? []
      if (method === undefined || method === 'prism') ledger?.forget(id ?? didOrSuffix)
      else ofOthers.get(method)?.forget(didOrSuffix)
    },
  }
}

function show(state: DidState, did: string): ResolutionResult {
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
