/**
 * Routes of messages (DIDComm v2.1, "Service Endpoint", "Routing Protocol 2.0"): the URL to post to, and the
 * mediators to wrap for.
 *
 * Peers write these documents, so limits apply: nothing is fetched, a route has at most `maxHops` hops, and
 * no DID occurs twice.
 */
import * as z from 'zod'
import { reasonOf } from '../../foundation/reason.ts'
import { type DidDocument, didOf, keysFor, type Resolve } from '../../did/document.ts'
import { agreementCurves } from './kdf.ts'
import type { Recipient } from './pack.ts'

/** Limit on mediators and routing keys. */
const maxHops = 5

/** A hop: the `next` of the forward to it, its DID, and the key to encrypt the forward to. */
export type Hop = { next: string; did: string; recipient: Recipient }

/** The URL to post to, and the hops, starting with the one next to the recipient. */
export type Route = { url: string; hops: Hop[] }

/** `uri` is an http(s) or ws(s) URL, or the DID of a mediator. The outermost routing key is the first. */
export type Endpoint = { uri: string; routingKeys: string[] }

/** The DID documents give no usable route. Retrying does not help. */
export class NoRouteError extends Error {
  override name = 'NoRouteError'
}

const EndpointObject = z.looseObject({
  uri: z.string(),
  routingKeys: z.array(z.string()).nullish(),
  accept: z.array(z.string()).nullish(),
})

/** The endpoints of a document's DIDComm v2 services, in the document's order. */
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

/** True for an http(s) URL without user name and password. */
export function isHttpUrl(uri: string): boolean {
  if (!/^https?:/i.test(uri) || !URL.canParse(uri)) return false
  const { username, password } = new URL(uri)
  return username === '' && password === ''
}

/** The URL of a document's first DIDComm service with an HTTP endpoint. */
export function findEndpoint(document: DidDocument): string | undefined {
  return endpointsOf(document).find(({ uri }) => isHttpUrl(uri))?.uri
}

/**
 * Finds the route to a DID: its endpoint, or, if that is a mediator's DID, the mediator's endpoint, and so
 * on.
 *
 * Of several endpoints, the first that is an http(s) URL or a DID is used. The routing keys of a service come
 * after its mediator.
 *
 * @throws {NoRouteError} when there is no endpoint, a loop, or more than `maxHops` hops.
 */
export async function getRoute(recipient: DidDocument, resolve: Resolve): Promise<Route> {
  const hops: Hop[] = []
  const visited = new Set([recipient.id])
  let next = recipient.id

  /** Adds the hop of a DID or key id. */
  const addHop = async (station: string): Promise<DidDocument> => {
    const did = didOf(station)
    if (visited.has(did)) throw new NoRouteError(`The route to ${recipient.id} has a loop.`)
    if (hops.length === maxHops)
      throw new NoRouteError(`The route to ${recipient.id} has more than ${maxHops} mediators.`)
    visited.add(did)
    const document = await resolve(did).catch((error: unknown) => {
      throw new NoRouteError(`A mediator on the route does not resolve: ${reasonOf(error)}.`, {
        cause: error,
      })
    })
    hops.push({ next, did, recipient: getHopKey(document, station) })
    next = station
    return document
  }

  for (let at = recipient; ;) {
    const endpoint = endpointsOf(at).find(({ uri }) => uri.startsWith('did:') || isHttpUrl(uri))
    if (!endpoint) throw new NoRouteError(`The DID ${at.id} has no DIDComm service with an HTTP endpoint.`)
    const mediator = endpoint.uri.startsWith('did:') ? didOf(endpoint.uri) : undefined
    // Some wallets name their mediator's DID and a key of it; that is one hop.
    for (const key of endpoint.routingKeys.toReversed()) if (didOf(key) !== mediator) await addHop(key)
    if (mediator === undefined) return { url: endpoint.uri, hops }
    at = await addHop(mediator)
  }
}

/** The first key agreement key of a document, on `curve` or any supported curve. */
export function findRecipient(document: DidDocument, curve?: string): Recipient | undefined {
  const curves: readonly string[] = curve === undefined ? agreementCurves : [curve]
  const key = keysFor(document, 'keyAgreement').find(({ publicKeyJwk }) => curves.includes(publicKeyJwk.crv))
  return key && { kid: key.id, publicJwk: key.publicKeyJwk }
}

/** The key that a key id names, or the first key agreement key of a DID. */
function getHopKey(document: DidDocument, station: string): Recipient {
  const named = keysFor(document, 'keyAgreement').find(({ id }) => id === station)
  const found = station.includes('#')
    ? named && { kid: named.id, publicJwk: named.publicKeyJwk }
    : findRecipient(document)
  if (!found) throw new NoRouteError(`The mediator ${station} has no key for encryption.`)
  return found
}
