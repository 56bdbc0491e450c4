/**
 * DID → document, whatever the method: did:prism, did:peer, did:key and did:jwk here, others by functions handed in.
 *
 * What can never change (peer, key, jwk, the state inside a long form) is worked out once and kept, the least recently used
 * leaving first; such documents are shared and therefore frozen. A ledger is asked every time.
 */
import { Problem } from '../base/problem.ts'
import type { DidDocument, Resolve } from './document.ts'
import { resolveJwkDid } from './jwk.ts'
import { resolveKeyDid } from './key.ts'
import { resolvePeerDid } from './peer.ts'
import { embeddedState, parsePrismDid } from './prism/did.ts'
import { toDocument, toMetadata } from './prism/document.ts'
import type { DidState } from './prism/state.ts'
import { ResolutionError, type ResolutionResult } from './resolution.ts'

/** Where states of published did:prism come from, and who resolves the methods that need the network (`web`), by method name. */
export type ResolverSources = {
  getState: (suffix: string) => Promise<DidState | undefined>
  methods?: Readonly<Record<string, Resolve>>
}

export type Resolver = {
  /** The full answer; a DID that does not resolve is an answer too, with `didResolutionMetadata.error`. */
  resolve: (did: string) => Promise<ResolutionResult>
  /** The document alone. @throws {Problem} `error:DIDResolution:*` when there is none, also when the DID is deactivated. */
  document: Resolve
}

const immutable: Readonly<Record<string, (did: string) => DidDocument>> = { peer: resolvePeerDid, key: resolveKeyDid, jwk: resolveJwkDid }

/** Makes a resolver. Anything else than a `Problem` that a source throws passes through: it says nothing about the DID. */
export function createResolver({ getState, methods = {} }: ResolverSources): Resolver {
  const documents = new Kept<DidDocument>()
  const states = new Kept<DidState>()

  async function resolvePrism(did: string): Promise<ResolutionResult> {
    const { suffix, operation } = parsePrismDid(did)
    const state = (await getState(suffix)) ?? (operation && states.get(did, () => embeddedState(did, operation)))
    if (!state)
      throw new Problem('error:DIDResolution:notFound', `${did} is not published; an unpublished DID resolves in its long form only`)
    const didDocumentMetadata = toMetadata(state)
    if (!state.deactivated) return found(toDocument(state, did), didDocumentMetadata)
    return { didDocumentMetadata, didResolutionMetadata: { error: 'deactivated', message: `${did.slice(0, 100)} is deactivated` } }
  }

  async function resolve(did: string): Promise<ResolutionResult> {
    try {
      const method = /^did:([a-z0-9]+):/.exec(did)?.[1]
      if (!method)
        throw new Problem('error:DIDResolution:invalidDid', `${did.slice(0, 100)} is not a DID: it does not begin with did:<method>:`)
      if (method === 'prism') return await resolvePrism(did)
      if (Object.hasOwn(immutable, method)) return found(documents.get(did, () => immutable[method]!(did)))
      if (Object.hasOwn(methods, method)) return found(await methods[method]!(did))
      throw new Problem(
        'error:DIDResolution:methodNotSupported',
        `did:${method.slice(0, 30)} is not supported; did:prism, did:peer, did:key and did:jwk are`,
      )
    } catch (error) {
      const name = error instanceof Problem && ResolutionError.safeParse(error.type.replace('error:DIDResolution:', ''))
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
      throw new Problem(`error:DIDResolution:${error ?? 'notFound'}`, message ?? `${did.slice(0, 100)} has no document`)
    },
  }
}

function found(didDocument: DidDocument, didDocumentMetadata = {}): ResolutionResult {
  return { didDocument, didDocumentMetadata, didResolutionMetadata: { contentType: 'application/did+ld+json' } }
}

/** A bounded memory of what has been worked out, by DID. */
class Kept<T extends object> {
  readonly #entries = new Map<string, T>()

  get(did: string, make: () => T): T {
    const entry = this.#entries.get(did) ?? freeze(make())
    // A Map keeps the order of insertion: whatever was asked for last goes to the end.
    this.#entries.delete(did)
    this.#entries.set(did, entry)
    if (this.#entries.size > 1_000) this.#entries.delete(this.#entries.keys().next().value!)
    return entry
  }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}
