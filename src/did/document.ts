/** DID documents (W3C DID 1.0): their shape, and how a key is found in one. */
import { z } from 'zod'
import type { PublicJwk } from '../crypto/keys.ts'
import { freeze, isFrozen } from './freeze.ts'
import { readKey } from './verification-key.ts'

/** A DID: `did:`, a method name and a method-specific id (DID 1.0 §3.1). */
export const Did = z
  .string()
  // Fifty keys and fifty services make a long form of did:prism this long.
  .max(60_000)
  .regex(
    /^did:[a-z0-9]+:(?:[A-Za-z0-9._:=-]|%[0-9A-Fa-f]{2})*(?:[A-Za-z0-9._=-]|%[0-9A-Fa-f]{2})$/,
    'is not a DID',
  )
export type Did = z.infer<typeof Did>

/** A public key as JWK; of any kind, since documents of other people carry keys we do not use. */
export const Jwk = z.looseObject({
  kty: z.string(),
  crv: z.string().optional(),
  x: z.string().optional(),
  y: z.string().optional(),
})

export const VerificationMethod = z.looseObject({
  id: z.string(),
  type: z.string(),
  controller: z.string(),
  publicKeyJwk: Jwk.optional(),
})
export type VerificationMethod = z.infer<typeof VerificationMethod>

/** A verification method whose key could be read; its id is always an absolute DID URL. */
export type VerificationKey = { id: string; publicKeyJwk: PublicJwk }

export const purposes = [
  'authentication',
  'assertionMethod',
  'keyAgreement',
  'capabilityInvocation',
  'capabilityDelegation',
] as const
export type Purpose = (typeof purposes)[number]

const Relationship = z.array(z.union([z.string(), VerificationMethod])).optional()

export const Service = z.looseObject({
  id: z.string(),
  type: z.union([z.string(), z.array(z.string())]),
  serviceEndpoint: z.union([
    z.string(),
    z.looseObject({}),
    z.array(z.union([z.string(), z.looseObject({})])),
  ]),
})
export type Service = z.infer<typeof Service>

export const DidDocument = z
  .looseObject({
    '@context': z.union([z.string(), z.array(z.unknown())]).optional(),
    id: Did,
    controller: z.union([z.string(), z.array(z.string())]).optional(),
    verificationMethod: z.array(VerificationMethod).optional(),
    authentication: Relationship,
    assertionMethod: Relationship,
    keyAgreement: Relationship,
    capabilityInvocation: Relationship,
    capabilityDelegation: Relationship,
    service: z.array(Service).optional(),
  })
  .meta({ id: 'DIDDocument' })
export type DidDocument = z.infer<typeof DidDocument>

/** Resolves a DID to its document. @throws {Problem} `error:DIDResolution:*` */
export type Resolve = (did: string) => Promise<DidDocument>

/** The DID of a DID URL: everything before a path, query or fragment. */
export function didOf(didUrl: string): string {
  const end = didUrl.search(/[/?#]/)
  return end < 0 ? didUrl : didUrl.slice(0, end)
}

/** The one form of a DID that two parties can compare: did:prism without its long-form state, any other DID as it is. */
export function canonicalDid(did: string): string {
  return /^did:prism:[0-9a-f]{64}(?=:|$)/.exec(did)?.[0] ?? did
}

/**
 * The keys of a document that serve a purpose, in the document's order, ids made absolute.
 *
 * Only keys that the document itself holds count: a reference into another DID's document is passed over, so that
 * nobody is impersonated by naming a foreign key.
 */
export function keysFor(document: DidDocument, purpose: Purpose): readonly VerificationKey[] {
  const known = keysOf.get(document)?.[purpose]
  if (known) return known
  const keys = readKeys(document, purpose)
  if (isFrozen(document)) keysOf.set(document, { ...keysOf.get(document), [purpose]: freeze(keys) })
  return keys
}

/** The keys of documents that cannot change: a resolver hands out the same one for every message of a peer. */
const keysOf = new WeakMap<DidDocument, Partial<Record<Purpose, readonly VerificationKey[]>>>()

function readKeys(document: DidDocument, purpose: Purpose): VerificationKey[] {
  const absolute = (id: string) => (id.startsWith('#') ? document.id + id : id)
  const methods = new Map((document.verificationMethod ?? []).map((method) => [absolute(method.id), method]))
  return (document[purpose] ?? []).flatMap((entry) => {
    const method = typeof entry === 'string' ? methods.get(absolute(entry)) : entry
    if (!method || didOf(absolute(method.id)) !== document.id) return []
    const publicKeyJwk = readKey(method)
    return publicKeyJwk ? [{ id: absolute(method.id), publicKeyJwk }] : []
  })
}

/** Whether a document has a verification method with a fragment, for whatever purpose. */
export function hasMethod(document: DidDocument, fragment: string): boolean {
  const methods = [document.verificationMethod, ...purposes.map((purpose) => document[purpose])].flatMap(
    (each) => each ?? [],
  )
  return methods.some((method) => {
    const id = typeof method === 'string' ? method : method.id
    return id === `#${fragment}` || id === `${document.id}#${fragment}`
  })
}

/**
 * The keys of a purpose that a JOSE `kid` may mean: the one it names, or all when there is none.
 *
 * Real peers write a full DID URL, a bare fragment, or nothing (wire.md pitfall 15). A `kid` that names another DID matches nothing.
 */
export function keysMatching(
  document: DidDocument,
  purpose: Purpose,
  kid?: string,
): readonly VerificationKey[] {
  const keys = keysFor(document, purpose)
  if (kid === undefined) return keys
  const wanted = kid.includes('#') ? kid.slice(kid.indexOf('#')) : `#${kid}`
  const owner = kid.includes('#') ? kid.slice(0, kid.indexOf('#')) : ''
  if (owner !== '' && canonicalDid(owner) !== canonicalDid(document.id)) return []
  return keys.filter((key) => key.id === document.id + wanted)
}
