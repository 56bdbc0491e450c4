/**
 * DIDs of the stock Identus SDK and of this agent, each resolved by the other. Known limitations of SDK
 * 7.0.0: it writes `.S` with an empty list for no service, and one list for several. Its service ids consist
 * of position and type. In a did:prism it lists master keys as verification methods, and returns keys as
 * multibase of the bare key. It does not resolve one that has a secp256k1 key whose y begins with a zero
 * byte.
 */
import type { Domain } from '@hyperledger/identus-sdk'
import { base58btc } from 'multiformats/bases/base58'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fromBase64 } from '../../src/foundation/bytes.ts'
import { newId } from '../../src/foundation/id.ts'
import { generateKey, okpBytes, type PublicJwk, toPublic } from '../../src/foundation/crypto/keys.ts'
import { type DidDocument, keysFor, purposes } from '../../src/did/document.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { toLongForm } from '../../src/did/prism/did.ts'
import type { Usage } from '../../src/did/prism/model.ts'
import { encodeOperation } from '../../src/did/prism/operations.ts'
import { createResolver } from '../../src/did/resolver.ts'
import { newWalletToken } from '../../src/wallet/wallet-tokens.ts'
import { startSdk } from './_holder.ts'
import { sdk } from './_sdk.ts'

const { Curve, DIDDocument } = sdk.Domain
type Service = Domain.DIDDocument.Service

// Nothing listens there: the SDK falls back to the state in a long-form DID.
const agent = await startSdk('http://127.0.0.1:9/')
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

const service = (id: string, type: string, uri: string, accept?: string[], routingKeys?: string[]) =>
  new DIDDocument.Service(id, [type], new DIDDocument.ServiceEndpoint(uri, accept, routingKeys))

/** Keys by purpose and id, in the results of both sides for a did:peer. */
const keysHere = (document: DidDocument) =>
  purposes.flatMap((purpose) =>
    keysFor(document, purpose).map(({ id, publicKeyJwk: { crv, x } }) => [purpose, id, crv, x]),
  )
const keysThere = ({ authentication, keyAgreement }: Domain.DIDDocument) => [
  ...authentication.map(({ id, publicKeyJwk }) => [
    'authentication',
    id,
    (publicKeyJwk as { crv: string }).crv,
    publicKeyJwk!.x,
  ]),
  ...keyAgreement.map(({ id, publicKeyJwk }) => [
    'keyAgreement',
    id,
    (publicKeyJwk as { crv: string }).crv,
    publicKeyJwk!.x,
  ]),
]

describe('a did:peer:2', () => {
  const http = service('#didcomm-1', 'DIDCommMessaging', 'http://127.0.0.1/inbox', ['didcomm/v2'], [])
  const mediated = service(
    '#didcomm-1',
    'DIDCommMessaging',
    'did:peer:2.Ez6LS',
    ['didcomm/v2'],
    ['did:example:mediator#key-1'],
  )
  const socket = service('#didcomm-2', 'DIDCommMessaging', 'ws://127.0.0.1/ws')
  const linked = service('#domain', 'LinkedDomains', 'https://wallet.example/')

  test.each<[string, Service[]]>([
    ['no service', []],
    ['one service', [http]],
    ['a mediator', [mediated]],
    ['two services in one list', [http, socket]],
    ['services of different types in one list', [linked, socket, http]],
  ])('of the SDK with %s resolves here to the same keys and services', async (_, services) => {
    const did = await agent.createNewPeerDID([...services], false)
    const [here, there] = [resolvePeerDid(did.toString()), await agent.castor.resolveDID(did)]
    expect(keysHere(here)).toEqual(keysThere(there))
    expect(keysHere(here)).toHaveLength(2)
    const expected = services.map(({ type, serviceEndpoint: { uri, accept, routingKeys } }) => ({
      type: type[0],
      serviceEndpoint: { uri, accept, routingKeys },
    }))
    expect((here.service ?? []).map(({ type, serviceEndpoint }) => ({ type, serviceEndpoint }))).toEqual(
      expected,
    )
    expect(new Set((here.service ?? []).map(({ id }) => id)).size).toBe(services.length)
  })

  const newDid = (serviceUri: string) => {
    const [keyAgreement, authentication] = [toPublic(generateKey('X25519')), toPublic(generateKey('Ed25519'))]
    return createPeerDid({ keyAgreement, authentication, serviceUri })
  }

  test('of this agent resolves in the SDK to the same keys and service', async () => {
    const did = newDid('http://127.0.0.1:8090/mailbox')
    const there = await agent.castor.resolveDID(did)
    expect(keysThere(there)).toEqual(keysHere(resolvePeerDid(did)))
    expect(there.services).toMatchObject([
      {
        type: ['DIDCommMessaging'],
        serviceEndpoint: { uri: 'http://127.0.0.1:8090/mailbox', accept: ['didcomm/v2'], routingKeys: [] },
      },
    ])
  })

  // A DID that the SDK cannot parse stays in its store, and breaks unpacking of every message.
  test('of this agent is accepted by the SDK’s store, with any mailbox token', () => {
    const key = new Uint8Array(32).fill(7)
    for (let count = 0; count < 100; count++) {
      const did = newDid(`https://agent.example:8443/didcomm/${newWalletToken(key, 'mailbox', newId())}`)
      expect(() => new sdk.PeerDID(sdk.Domain.DID.from(did))).not.toThrow()
    }
  })
})

describe('a long-form did:prism', () => {
  const resolver = createResolver({ getState: async () => undefined })

  test.each([Curve.SECP256K1, Curve.ED25519])(
    'of the SDK, with a key on %s, resolves here to its keys and services',
    async (curve) => {
      const services = [
        service('first', 'LinkedDomains', 'https://wallet.example/'),
        service('second', 'Other', 'https://other.example/'),
      ]
      const did = await agent.runTask(
        new sdk.Tasks.CreatePrismDID({ authenticationKeyCurve: curve, services, alias: 'x' }),
      )
      const document = await resolver.document(did.toString())
      const [, authentication] = await agent.pluto.getDIDPrivateKeysByDID(did)
      const jwk = (
        authentication!.publicKey() as unknown as { to: { JWK(): Record<string, string> } }
      ).to.JWK()
      expect(keysFor(document, 'authentication')).toMatchObject([
        { id: `${did.toString()}#authentication-0`, publicKeyJwk: { crv: jwk['crv'], x: jwk['x'] } },
      ])
      expect(document.service).toMatchObject([
        { id: `${did.toString()}#first`, type: 'LinkedDomains', serviceEndpoint: 'https://wallet.example/' },
        { id: `${did.toString()}#second`, type: 'Other', serviceEndpoint: 'https://other.example/' },
      ])
    },
  )

  /** The bare key, uncompressed on secp256k1. */
  const multibase = (key: PublicJwk) =>
    base58btc.encode(
      key.kty === 'OKP' ? okpBytes(key) : Buffer.from([4, ...fromBase64(key.x), ...fromBase64(key.y!)]),
    )

  test('of this agent resolves in the SDK to the same keys and services', async () => {
    const newPublic = (curve: 'secp256k1' | 'Ed25519' | 'X25519'): PublicJwk => {
      const key = toPublic(generateKey(curve))
      return key.y && fromBase64(key.y)[0] === 0 ? newPublic(curve) : key
    }
    const newKey = (id: string, usage: Usage, curve: 'secp256k1' | 'Ed25519' | 'X25519') => ({
      id,
      usage,
      publicKey: newPublic(curve),
    })
    const publicKeys = [
      newKey('master0', 'master', 'secp256k1'),
      newKey('auth-1', 'authentication', 'Ed25519'),
      newKey('auth-2', 'authentication', 'secp256k1'),
      newKey('assert-1', 'assertionMethod', 'secp256k1'),
      newKey('agree-1', 'keyAgreement', 'X25519'),
    ]
    const services = [{ id: 'first', type: 'LinkedDomains', serviceEndpoint: 'https://agent.example/' }]
    const did = toLongForm(encodeOperation({ operation: 'create', publicKeys, services, contexts: [] }))
    const there = await agent.castor.resolveDID(did)
    const keysOf = (usage: Usage) =>
      publicKeys.flatMap((key) =>
        key.usage === usage ? [{ id: `${did}#${key.id}`, publicKeyMultibase: multibase(key.publicKey) }] : [],
      )
    expect(there.authentication).toMatchObject(keysOf('authentication'))
    expect(there.keyAgreement).toMatchObject(keysOf('keyAgreement'))
    expect(there.verificationMethods).toMatchObject(
      publicKeys.map(({ id, publicKey }) => ({
        id: `${did}#${id}`,
        publicKeyMultibase: multibase(publicKey),
      })),
    )
    expect(there.services).toMatchObject([
      { id: 'first', type: ['LinkedDomains'], serviceEndpoint: { uri: 'https://agent.example/' } },
    ])
  })
})
