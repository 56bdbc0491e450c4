/** Routes from the documents of a DID and its mediators. */
import { describe, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { keysFor, type DidDocument } from '../../../src/did/document.ts'
import { createPeerDid, peerDidsOnly, resolvePeerDid } from '../../../src/did/peer.ts'
import { recipient } from './_people.ts'
import { endpointsOf, findRecipient, getRoute, NoRouteError } from '../../../src/exchange/didcomm/route.ts'

/** A did:peer with services at these addresses, in their order. */
const newDid = (...serviceUri: string[]) =>
  createPeerDid({
    keyAgreement: toPublic(generateKey('X25519')),
    authentication: toPublic(generateKey('Ed25519')),
    serviceUri,
  })

/** The same, with a service in any form. */
const withService = (service: unknown) =>
  newDid('http://unused.example').replace(
    /\.S.*$/,
    `.S${Buffer.from(JSON.stringify(service)).toString('base64url')}`,
  )

const asked: string[] = []
const resolve = peerDidsOnly(async (did) => {
  asked.push(did)
  return resolvePeerDid(did)
})
const routeTo = (did: string) => getRoute(resolvePeerDid(did), resolve)
const nextsOf = async (did: string) => (await routeTo(did)).hops.map(({ next }) => next)

describe('a route', () => {
  test('to a DID with an HTTP endpoint has no hops', async () => {
    expect(await routeTo(newDid('https://agent.example/inbox'))).toEqual({
      url: 'https://agent.example/inbox',
      hops: [],
    })
  })

  test('to a wallet behind a mediator uses an HTTP endpoint of the mediator', async () => {
    const mediator = newDid(
      'ws://mediator.example/ws',
      'http://mediator.example',
      'wss://mediator.example/ws',
    )
    const wallet = newDid(mediator)
    const { url, hops } = await routeTo(wallet)
    expect(url).toBe('http://mediator.example')
    expect(hops.map(({ next, did }) => [next, did])).toEqual([[wallet, mediator]])
    expect(hops[0]!.recipient.kid).toBe(keysFor(resolvePeerDid(mediator), 'keyAgreement')[0]!.id)
  })

  test('through several mediators has a hop for each, the outermost last', async () => {
    const outer = newDid('http://outer.example')
    const middle = newDid(outer)
    const inner = newDid(middle)
    const wallet = newDid(inner)
    const { url, hops } = await routeTo(wallet)
    expect(url).toBe('http://outer.example')
    expect(hops.map(({ next, did }) => [next, did])).toEqual([
      [wallet, inner],
      [inner, middle],
      [middle, outer],
    ])
  })

  test('with routing keys has a hop for each, the first one outermost, before an endpoint or a mediator', async () => {
    const [one, two] = [newDid('http://one.example'), newDid('http://two.example')]
    const keys = [one, two].map((did) => keysFor(resolvePeerDid(did), 'keyAgreement')[0]!.id)
    const direct = withService({ t: 'dm', s: { uri: 'http://agent.example', r: keys, a: ['didcomm/v2'] } })
    expect(await routeTo(direct)).toMatchObject({
      url: 'http://agent.example',
      hops: [
        { next: direct, did: two },
        { next: keys[1], did: one },
      ],
    })
    const mediator = newDid('http://mediator.example')
    const behind = withService({ t: 'dm', s: { uri: mediator, r: keys, a: ['didcomm/v2'] } })
    expect(await nextsOf(behind)).toEqual([behind, keys[1], keys[0]])
    expect((await routeTo(behind)).url).toBe('http://mediator.example')
  })

  test('has one hop for a mediator that is named by its DID and by its key', async () => {
    const mediator = newDid('http://mediator.example')
    const key = keysFor(resolvePeerDid(mediator), 'keyAgreement')[0]!.id
    const wallet = withService({ t: 'dm', s: { uri: mediator, r: [key], a: ['didcomm/v2'] } })
    expect(await nextsOf(wallet)).toEqual([wallet])
  })

  test('has five hops at most', async () => {
    let did = newDid('http://outermost.example')
    for (let n = 0; n < 5; n++) did = newDid(did)
    expect((await routeTo(did)).hops).toHaveLength(5)
    // A DID has no room for a sixth mediator, but for keys.
    const keys = Array.from(
      { length: 6 },
      () => keysFor(resolvePeerDid(newDid('http://a.example')), 'keyAgreement')[0]!.id,
    )
    const document = { ...resolvePeerDid(newDid('http://a.example')) }
    document.service = [
      {
        id: '#s',
        type: 'DIDCommMessaging',
        serviceEndpoint: { uri: 'http://agent.example', routingKeys: keys },
      },
    ]
    await expect(getRoute(document, resolve)).rejects.toThrow(/more than 5 mediators/)
  })
})

describe('there is no route', () => {
  const documentOf = (id: string, uri: string, routingKeys: string[] = []): DidDocument => ({
    ...resolvePeerDid(newDid('http://a.example')),
    id,
    service: [{ id: '#s', type: 'DIDCommMessaging', serviceEndpoint: { uri, routingKeys } }],
  })

  test('with a loop', async () => {
    // A did:peer cannot contain itself, so the resolver returns a wrong document.
    const documents: Record<string, DidDocument> = {
      'did:peer:a': { ...documentOf('did:peer:a', 'did:peer:b') },
      'did:peer:b': { ...documentOf('did:peer:b', 'did:peer:a') },
      'did:peer:c': { ...documentOf('did:peer:c', 'did:peer:c') },
    }
    const keyed = ({ id, ...document }: DidDocument): DidDocument => ({
      ...document,
      id,
      keyAgreement: [
        {
          id: `${id}#k`,
          type: 'JsonWebKey2020',
          controller: id,
          publicKeyJwk: toPublic(generateKey('X25519')),
        },
      ],
    })
    const lying = async (did: string) => keyed(documents[did]!)
    for (const did of ['did:peer:a', 'did:peer:c'])
      await expect(getRoute(keyed(documents[did]!), lying)).rejects.toThrow(/has a loop/)
  })

  test.each([
    ['no service', { t: 'other', s: { uri: 'http://a.example' } }, /no DIDComm service/],
    ['WebSocket alone', { t: 'dm', s: { uri: 'ws://a.example' } }, /no DIDComm service/],
    [
      'version 1 alone',
      { t: 'dm', s: { uri: 'http://a.example', a: ['didcomm/aip2;env=rfc587'] } },
      /no DIDComm service/,
    ],
    [
      'a user name in the address',
      { t: 'dm', s: { uri: 'http://me:secret@a.example' } },
      /no DIDComm service/,
    ],
    ['an invalid address', { t: 'dm', s: { uri: 'http://' } }, /no DIDComm service/],
    [
      'a mediator of a method that asks the network',
      { t: 'dm', s: { uri: 'did:web:a.example' } },
      /does not resolve.*did:web/,
    ],
    [
      'a key of a method that asks the network',
      { t: 'dm', s: { uri: 'http://a.example', r: ['did:web:a.example#k'] } },
      /does not resolve/,
    ],
    ['a mediator that is malformed', { t: 'dm', s: { uri: 'did:peer:2.Ezz' } }, /does not resolve/],
  ])('with %s', async (_name, service, reason) => {
    asked.length = 0
    const route = routeTo(withService(service))
    await expect(route).rejects.toThrow(reason)
    await expect(route).rejects.toBeInstanceOf(NoRouteError)
    expect(asked.filter((did) => did.startsWith('did:web'))).toEqual([])
  })

  test('over a mediator without such a key', async () => {
    const mediator = newDid('http://mediator.example')
    const wallet = withService({ t: 'dm', s: { uri: 'http://a.example', r: [`${mediator}#key-2`] } })
    await expect(routeTo(wallet)).rejects.toThrow(/no key for encryption/)
  })
})

test('an endpoint may be a string, an object or a list, with or without accepted profiles', () => {
  const service = (serviceEndpoint: unknown) =>
    ({ id: '#s', type: 'DIDCommMessaging', serviceEndpoint }) as never
  const document = (...services: never[]): DidDocument => ({ id: 'did:peer:x', service: services })
  const uris = (...endpoints: unknown[]) =>
    endpointsOf(document(...endpoints.map(service))).map(({ uri }) => uri)
  expect(uris('http://a', { uri: 'http://b' }, [{ uri: 'http://c', accept: [] }, 'http://d'])).toEqual([
    'http://a',
    'http://b',
    'http://c',
    'http://d',
  ])
  expect(
    uris(
      { uri: 'http://a', accept: ['didcomm/aip1'] },
      { uri: 'http://b', accept: ['didcomm/aip1', 'didcomm/v2'] },
    ),
  ).toEqual(['http://b'])
  expect(uris({ url: 'http://a' }, { uri: 1 }, { uri: 'http://b', routingKeys: null })).toEqual(['http://b'])
  expect(endpointsOf({ id: 'did:peer:x' })).toEqual([])
})

test('a recipient key must be on the sender’s curve', () => {
  const id = 'did:peer:x'
  const method = (fragment: string, publicJwk: object) => ({
    id: `${id}#${fragment}`,
    type: 'JsonWebKey2020',
    controller: id,
    publicKeyJwk: publicJwk as never,
  })
  const keyAgreement = [
    method('p', recipient('ben', 'p256').publicJwk),
    method('x', recipient('ben').publicJwk),
  ]
  const document: DidDocument = { id, keyAgreement }
  expect(findRecipient(document)?.kid).toBe(`${id}#p`)
  expect(findRecipient(document, 'X25519')?.kid).toBe(`${id}#x`)
  expect(findRecipient(document, 'P-384')).toBeUndefined()
})
