/**
 * did:peer numalgo 2 (Peer DID Method Specification, Method 2): `did:peer:2` and elements with a dot before
 * each. An element is a purpose code with a key in Multikey, or `S` with a service in base64url.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { concat, fromBase64, fromUtf8, toMultibase } from '../foundation/bytes.ts'
import {
  didContext,
  type DidDocument,
  jsonWebKey,
  jws2020Context,
  type Purpose,
  Service,
} from './document.ts'
import { fromMultikey } from './multikey.ts'

const purposeOf: Readonly<Record<string, Purpose>> = {
  A: 'assertionMethod',
  E: 'keyAgreement',
  V: 'authentication',
  I: 'capabilityInvocation',
  D: 'capabilityDelegation',
}

const commonNames: Readonly<Record<string, string>> = {
  t: 'type',
  s: 'serviceEndpoint',
  r: 'routingKeys',
  a: 'accept',
}

/** One service or a list of services. The Identus TypeScript SDK writes lists, also empty ones. */
const ServiceElement = z.union([
  z.array(z.looseObject({})),
  z.looseObject({}).transform((service) => [service]),
])

/**
 * Resolves a numalgo 2 DID. Keys get the ids `#key-1`, `#key-2`, …, services without an id `#service`,
 * `#service-1`, …. A DIDComm service whose endpoint is a string (the older form of the specification) gets
 * the object form.
 *
 * @throws {Error} when the DID is malformed. The message is the reason.
 */
export function resolvePeer2(did: string): DidDocument {
  const elements = /^did:peer:2((?:\.[A-Za-z0-9_=-]+)+)$/.exec(did)?.[1]?.slice(1).split('.')
  if (!elements) throw new TypeError('elements are a dot, a purpose code and base58 or base64url text')
  const document = {
    '@context': [didContext, jws2020Context],
    id: did,
    alsoKnownAs: [toPeer3(did)],
    verificationMethod: [],
  } as DidDocument
  const services: Record<string, unknown>[] = []
  for (const element of elements) {
    const [code, text] = [element[0]!, element.slice(1)]
    const purpose = purposeOf[code]
    if (purpose) addKey(document, purpose, text)
    else if (code === 'S') services.push(...readServices(text))
    else throw new TypeError(`${code} is not a purpose code`)
  }
  if (document.verificationMethod!.length === 0) throw new TypeError('it has no key')
  if (services.length > 0) document.service = withIds(did, services)
  return document
}

/** The short form (numalgo 3) of a numalgo 2 DID: the SHA-256 multihash of the text after `did:peer:2`. */
export function toPeer3(did: string): string {
  return `did:peer:3${multihash(did.slice('did:peer:2'.length))}`
}

/** The SHA-256 multihash of a text, in multibase. */
export function multihash(text: string): string {
  return toMultibase(concat(Uint8Array.of(0x12, 0x20), createHash('sha256').update(text).digest()))
}

function addKey(document: DidDocument, purpose: Purpose, text: string): void {
  const jwk = fromMultikey(text)
  if (purpose === 'keyAgreement' ? jwk.crv === 'Ed25519' : jwk.crv === 'X25519')
    throw new TypeError(`an ${jwk.crv} key cannot serve ${purpose}`)
  const method = jsonWebKey(document.id, `key-${document.verificationMethod!.length + 1}`, jwk)
  document.verificationMethod!.push(method)
  ;(document[purpose] ??= []).push(method.id)
}

function readServices(text: string): Record<string, unknown>[] {
  return ServiceElement.parse(JSON.parse(fromUtf8(fromBase64(text)))).map((service) =>
    toServiceObject(expand(service) as Record<string, unknown>),
  )
}

/** Makes service ids absolute. Some peers leave out the `#`, or the id. */
function withIds(did: string, services: Record<string, unknown>[]): Service[] {
  let unnamed = 0
  return services.map((service) => {
    const id = service['id'] ?? (unnamed++ === 0 ? '#service' : `#service-${unnamed - 1}`)
    return Service.parse({ ...service, id: typeof id === 'string' ? absolute(did, id) : id })
  })
}

/** Expands abbreviated member names at any depth. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [commonNames[name] ?? name, expand(member)]),
  )
}

/** Converts the older form, a URI with `routingKeys` and `accept` beside it, to the object form. */
function toServiceObject(service: Record<string, unknown>): Record<string, unknown> {
  const type = service['type'] === 'dm' ? 'DIDCommMessaging' : service['type']
  if (type !== 'DIDCommMessaging' || typeof service['serviceEndpoint'] !== 'string')
    return { ...service, type }
  const { serviceEndpoint: uri, routingKeys, accept, ...rest } = service
  return {
    ...rest,
    type,
    serviceEndpoint: {
      uri,
      ...(routingKeys !== undefined && { routingKeys }),
      ...(accept !== undefined && { accept }),
    },
  }
}

function absolute(did: string, id: string): string {
  if (id.startsWith('#')) return did + id
  return id.includes(':') ? id : `${did}#${id}`
}
