/**
 * How a message gets to a DID (DIDComm v2.1, Service Endpoint and Routing; wire.md 1.2, 7.1): the HTTP address it is posted
 * to, and the mediators it is wrapped for on the way.
 *
 * The other side wrote the documents that are read here. Whatever they say, nothing is fetched, no path is longer than
 * `maxHops`, and no DID is passed twice.
 */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { type DidDocument, didOf, keysFor, type Resolve } from '../did/document.ts'
import { agreementCurves } from './kdf.ts'
import type { Recipient } from './pack.ts'

/** The most mediators and routing keys between us and the other side. */
const maxHops = 5

/** A station between us and the other side: what `next` of the forward to it says, its DID, and the key it opens that with. */
export type Hop = { next: string; did: string; recipient: Recipient }

/** Where to post, and the stations from the one nearest to the other side to the one that takes the post. */
export type Route = { url: string; hops: Hop[] }

/** The address of a DIDComm service: an http(s) or ws(s) URL or the DID of a mediator, and keys to wrap for, outermost first. */
export type Endpoint = { uri: string; routingKeys: string[] }

/** There is no way to a DID, and waiting makes none: what its document says cannot be followed. */
export class NoRouteError extends Error {
  override name = 'NoRouteError'
}

const EndpointObject = z.looseObject({
  uri: z.string(),
  routingKeys: z.array(z.string()).nullish(),
  accept: z.array(z.string()).nullish(),
})

/** The addresses of a document's DIDComm v2 services, in the document's order; services of other kinds and versions are passed over. */
export function endpointsOf({ service = [] }: DidDocument): Endpoint[] {
  const addresses = service
    .filter(({ type }) => [type].flat().includes('DIDCommMessaging'))
    .flatMap(({ serviceEndpoint }) => serviceEndpoint)
  return addresses.flatMap((address) => {
    const { data } = EndpointObject.safeParse(typeof address === 'string' ? { uri: address } : address)
    const isVersion2 =
      !data?.accept?.length || data.accept.some((profile) => profile.startsWith('didcomm/v2'))
    return data && isVersion2 ? [{ uri: data.uri, routingKeys: data.routingKeys ?? [] }] : []
  })
}

/** True for a URL that a message can be posted to. */
export function isHttpUrl(uri: string): boolean {
  if (!/^https?:/i.test(uri) || !URL.canParse(uri)) return false
  const { username, password } = new URL(uri)
  return username === '' && password === ''
}

/** The address of a document's first DIDComm service that speaks HTTP, if it has one. */
export function endpointOf(document: DidDocument): string | undefined {
  return endpointsOf(document).find(({ uri }) => isHttpUrl(uri))?.uri
}

/** Resolves did:peer and nothing else: a peer's message, or its document, must not make anybody ask a ledger or a web server. */
export function peersOnly(resolve: Resolve): Resolve {
  return async (did) => {
    if (did.startsWith('did:peer:')) return resolve(did)
    const shown = did.slice(0, 100)
    throw new Problem(
      'error:DIDResolution:methodNotSupported',
      `${shown} cannot be used for DIDComm messages, a did:peer can`,
    )
  }
}

/**
 * Finds the way to a DID: its own address, or, where that is a mediator's DID, that one's, and so on.
 *
 * A mediator has several addresses (wire.md 7.2); the first one that is http(s) or a DID counts. Keys that a service wants
 * to be wrapped for come after its mediator, as if the mediator's own stood before them.
 *
 * @throws {NoRouteError} when the documents lead nowhere, in a circle, or too far.
 */
export async function findRoute(recipient: DidDocument, resolve: Resolve): Promise<Route> {
  const hops: Hop[] = []
  const passed = new Set([recipient.id])
  let next = recipient.id

  /** Adds the station that a DID or the id of a key names. */
  const pass = async (station: string): Promise<DidDocument> => {
    const did = didOf(station)
    if (passed.has(did)) throw new NoRouteError(`The way to ${recipient.id} leads in a circle.`)
    if (hops.length === maxHops)
      throw new NoRouteError(`There are more than ${maxHops} mediators on the way to ${recipient.id}.`)
    passed.add(did)
    const document = await resolve(did).catch((error: unknown) => {
      throw new NoRouteError(`A mediator on the way does not resolve: ${reasonOf(error)}.`, { cause: error })
    })
    hops.push({ next, did, recipient: keyOf(document, station) })
    next = station
    return document
  }

  for (let at = recipient; ;) {
    const endpoint = endpointsOf(at).find(({ uri }) => uri.startsWith('did:') || isHttpUrl(uri))
    if (!endpoint)
      throw new NoRouteError(`The DID ${at.id} has no DIDComm service that is reached over HTTP.`)
    const mediator = endpoint.uri.startsWith('did:') ? didOf(endpoint.uri) : undefined
    // Some wallets name a key of their mediator beside its DID; it is one station.
    for (const key of endpoint.routingKeys.toReversed()) if (didOf(key) !== mediator) await pass(key)
    if (mediator === undefined) return { url: endpoint.uri, hops }
    at = await pass(mediator)
  }
}

/** The first key of a document to encrypt for: on `curve`, or, where that is left out, on any curve that can be used. */
export function findRecipient(document: DidDocument, curve?: string): Recipient | undefined {
  const curves: readonly string[] = curve === undefined ? agreementCurves : [curve]
  const key = keysFor(document, 'keyAgreement').find(({ publicKeyJwk }) => curves.includes(publicKeyJwk.crv))
  return key && { kid: key.id, publicJwk: key.publicKeyJwk }
}

/** The key that a station names, or, where it is a bare DID, its first. */
function keyOf(document: DidDocument, station: string): Recipient {
  const named = keysFor(document, 'keyAgreement').find(({ id }) => id === station)
  const found = station.includes('#')
    ? named && { kid: named.id, publicJwk: named.publicKeyJwk }
    : findRecipient(document)
  if (!found) throw new NoRouteError(`The mediator ${station} has no key to encrypt for.`)
  return found
}
