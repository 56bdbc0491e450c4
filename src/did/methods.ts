/** The DID methods that this agent resolves: one row for each. */
import { Problem } from '../foundation/problem.ts'
import type { DidDocument } from './document.ts'
import { resolveJwkDid } from './jwk.ts'
import { resolveKeyDid } from './key.ts'
import { facts, type DidMethodName, type MethodFacts, methodOf } from '../definitions/did-names.ts'
import { resolvePeerDid } from './peer.ts'
import { findEmbeddedState, parsePrismDid, toShortForm } from './prism/did.ts'
import { resolvePrismDid } from './prism/resolve.ts'
import type { DidState } from './prism/state.ts'
import type { ResolutionResult } from './resolution.ts'
import { resolveWebDid, toUrl, type WebOptions } from './web.ts'

export type DidSources = {
  /** Reads the state of a published did:prism. */
  getState: (suffix: string) => Promise<DidState | undefined>
  /** How hosts are asked for documents. Absent: DIDs of hosts are not supported. */
  hosts?: WebOptions | undefined
  /** The document of a DID of which this agent is the host. */
  findHosted?: ((did: string) => Promise<DidDocument | undefined>) | undefined
}

/** `once` runs a resolution whose result cannot change, unless the result is cached. */
export type LedgerSources = DidSources & {
  once: (did: string, resolve: () => ResolutionResult) => ResolutionResult
}

/** The errors of `resolve` are {Problem} `error:DIDResolution:*`. Others say nothing about the DID. */
export type DidMethod = MethodFacts & {
  /** The canonical form of a DID that has several. @throws {Problem} `invalidDid` */
  canonical?: (did: string) => string
  /**
   * Checks a DID by the rules of its method, as far as it goes without a source.
   *
   * @throws {Problem} `invalidDid`
   */
  check?: (did: string) => void
  /** The DIDs and keys that may sign in, if not all. */
  signIn?: { form: RegExp; expected: string; curve: string }
} & (
    | { kind: 'self'; resolve: (did: string) => DidDocument }
    | { kind: 'fetched'; resolve: (did: string, sources: DidSources) => Promise<DidDocument> }
    | { kind: 'ledger'; resolve: (did: string, sources: LedgerSources) => Promise<ResolutionResult> }
  )

export const methods: Readonly<Record<DidMethodName, DidMethod>> = {
  prism: {
    ...facts.prism,
    resolve: resolvePrismDid,
    canonical: (did) => toShortForm(parsePrismDid(did).suffix),
    check: findEmbeddedState,
  },
  peer: {
    ...facts.peer,
    resolve: resolvePeerDid,
    // Numalgo 0 and 2 contain their keys.
    signIn: { form: /^did:peer:[02]/, expected: 'a did:peer of numalgo 0 or 2', curve: 'Ed25519' },
  },
  key: { ...facts.key, resolve: resolveKeyDid },
  jwk: { ...facts.jwk, resolve: resolveJwkDid },
  web: { ...facts.web, resolve: fromHost, check: (did) => void toUrl(did) },
}

async function fromHost(did: string, { findHosted, hosts }: DidSources): Promise<DidDocument> {
  const hosted = await findHosted?.(did)
  if (hosted) return hosted
  if (hosts) return resolveWebDid(did, hosts)
  throw new Problem('error:DIDResolution:methodNotSupported', 'did:web is not supported without a network')
}

/** The method of a DID. Undefined if it is not known here. */
export function findMethod(
  did: string,
  among: Readonly<Record<string, DidMethod>> = methods,
): DidMethod | undefined {
  const name = methodOf(did)
  return name !== undefined && Object.hasOwn(among, name) ? among[name] : undefined
}

/**
 * Checks a DID by the rules of its method, if that is known here.
 *
 * @throws {Problem} `error:DIDResolution:*`
 */
export function checkDid(did: string): void {
  const method = findMethod(did)
  method?.check?.(did)
  if (method?.kind === 'self') method.resolve(did)
}

/**
 * The document of a DID that is one key. Undefined for another DID.
 *
 * @throws {Problem} `error:DIDResolution:*`
 */
export function documentOfKey(did: string): DidDocument | undefined {
  const method = findMethod(did)
  return method?.kind === 'self' && method.managed?.isKey ? method.resolve(did) : undefined
}
