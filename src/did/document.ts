/** DID documents (W3C DID 1.0): their shape, and the keys of a document by purpose. */
import * as z from 'zod'
import type { PublicJwk } from '../foundation/crypto/keys.ts'
import { canonicalDid, purposes } from '../definitions/did-names.ts'
import { readKey } from './verification-key.ts'

export { canonicalDid, purposes }

/** A DID: `did:`, a method name and a method-specific id (DID 1.0 §3.1). */
export const Did = z
  .string()
  // The length of a long-form did:prism with fifty keys and fifty services.
  .max(60_000)
  .regex(
    /^did:[a-z0-9]+:(?:[A-Za-z0-9._:=-]|%[0-9A-Fa-f]{2})*(?:[A-Za-z0-9._=-]|%[0-9A-Fa-f]{2})$/,
    'is not a DID',
  )
export type Did = z.infer<typeof Did>

/** A public key as JWK. Any key type is allowed: documents may hold keys that this agent does not use. */
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

/** The key of a verification method. `id` is an absolute DID URL. */
export type VerificationKey = { id: string; publicKeyJwk: PublicJwk }

export type Purpose = (typeof purposes)[number]

/** A value for each purpose. */
export function forPurposes<Value>(valueOf: (purpose: Purpose) => Value): Record<Purpose, Value> {
  return Object.fromEntries(purposes.map((each) => [each, valueOf(each)])) as Record<Purpose, Value>
}

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
    ...forPurposes(() => Relationship),
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

/** Whether a DID is among others, in any of its forms. */
export function includesDid(dids: readonly string[], did: string): boolean {
  return dids.some((each) => canonicalDid(each) === canonicalDid(did))
}

/**
 * The keys that a document lists for a purpose, in the document's order, with absolute ids.
 *
 * Keys of other DIDs are skipped, embedded or referenced: otherwise a document could claim a foreign key as
 * its own.
 */
export function keysFor(document: DidDocument, purpose: Purpose): VerificationKey[] {
  const absolute = (id: string) => (id.startsWith('#') ? document.id + id : id)
  const methods = new Map((document.verificationMethod ?? []).map((method) => [absolute(method.id), method]))
  return (document[purpose] ?? []).flatMap((entry) => {
    const method = typeof entry === 'string' ? methods.get(absolute(entry)) : entry
    if (!method || didOf(absolute(method.id)) !== document.id) return []
    const publicKeyJwk = readKey(method)
    return publicKeyJwk ? [{ id: absolute(method.id), publicKeyJwk }] : []
  })
}

/** True when a document has a verification method with this fragment, for any purpose. */
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
 * The keys of a purpose that a JOSE `kid` may mean: the named key, or all keys when there is no `kid`.
 *
 * Peers write a full DID URL, a bare fragment, or nothing. A `kid` that names another DID matches no key.
 */
export function keysMatching(document: DidDocument, purpose: Purpose, kid?: string): VerificationKey[] {
  const keys = keysFor(document, purpose)
  if (kid === undefined) return keys
  const at = kid.indexOf('#')
  if (at > 0 && canonicalDid(kid.slice(0, at)) !== canonicalDid(document.id)) return []
  const fragment = at < 0 ? `#${kid}` : kid.slice(at)
  return keys.filter((key) => key.id === document.id + fragment)
}

/**
 * As `keysMatching`, where a `kid` that names nothing in the document is only a hint (RFC 7515 §4.1.4): all
 * keys may be meant. Issuers write the bare DID, a thumbprint or a path of their key store; Identus SDK 6.1
 * writes `<did>#master0`. A `kid` of another DID, and one of a method with another purpose, still match no
 * key.
 */
export function keysHinted(document: DidDocument, purpose: Purpose, kid?: string): VerificationKey[] {
  const keys = keysMatching(document, purpose, kid)
  if (keys.length > 0 || kid === undefined) return keys
  const [base, fragment, ...more] = kid.split('#')
  const isOfOther =
    kid.startsWith('did:') && (canonicalDid(base!) !== canonicalDid(document.id) || more.length > 0)
  return isOfOther || hasMethod(document, fragment ?? kid) ? [] : keysFor(document, purpose)
}

export const didContext = 'https://www.w3.org/ns/did/v1'
export const jws2020Context = 'https://w3id.org/security/suites/jws-2020/v1'

/** A verification method `<did>#<fragment>` of type `JsonWebKey2020` (JSON Web Signature 2020 suite). */
export function jsonWebKey(did: string, fragment: string, publicKeyJwk: PublicJwk) {
  return { id: `${did}#${fragment}`, type: 'JsonWebKey2020', controller: did, publicKeyJwk }
}

/**
 * The verification relationships of a DID that is a single key (did:key, did:jwk): `signing` and `agreement`
 * are ids of verification methods, and each serves all purposes of its kind.
 */
export function relationshipsOf(ids: {
  signing?: string | undefined
  agreement?: string | undefined
}): Partial<DidDocument> {
  const { signing, agreement } = ids
  return {
    ...(signing && {
      authentication: [signing],
      assertionMethod: [signing],
      capabilityInvocation: [signing],
      capabilityDelegation: [signing],
    }),
    ...(agreement && { keyAgreement: [agreement] }),
  }
}
