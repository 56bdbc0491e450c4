/**
 * did:prism between the stock Identus SDK and this agent: each reads long forms and signed operations of the
 * other, and verifies signatures with the keys in them. Known limitations of SDK 7.0.0: it writes secp256k1
 * keys as coordinates, so its bytes differ from this agent's. It does not parse service types and endpoints
 * in operations. Its `createSeed` derives the seed of BIP-39, unlike the other Identus libraries.
 */
import type { Domain } from '@hyperledger/identus-sdk'
import { base58btc } from 'multiformats/bases/base58'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fromBase64, toBase64url, toHex, utf8 } from '../../src/foundation/bytes.ts'
import { deriveKey } from '../../src/foundation/crypto/derive.ts'
import { okpBytes, type PublicJwk, sign, verify } from '../../src/foundation/crypto/keys.ts'
import { seedOfMnemonic } from '../../src/foundation/crypto/mnemonic.ts'
import { fromDer, toDer } from '../../src/foundation/crypto/secp256k1.ts'
import { getSigningKey } from '../../src/wallet/did-registrar/keys.ts'
import { type DidDocument, keysFor, purposes } from '../../src/did/document.ts'
import { decodeObject, decodeSigned } from '../../src/did/prism/decode.ts'
import { parsePrismDid, toShortForm } from '../../src/did/prism/did.ts'
import { operationHash } from '../../src/did/prism/operations.ts'
import { createState } from '../../src/did/prism/state.ts'
import { startAgent } from '../support/agent.ts'
import { until } from '../support/tenants.ts'
import { startSdk } from './_holder.ts'
import { sdk } from './_sdk.ts'
import { untilEnd } from '../support/shared.ts'

const { Curve, DIDDocument, KeyTypes } = sdk.Domain
type Service = Domain.DIDDocument.Service
type Jwk = { crv: string; x: string; y?: string }

const apollo = new sdk.Apollo()
const mnemonic = `${'abandon '.repeat(11)}about`
const message = utf8('a text to be signed')

const agent = await untilEnd(startAgent())
const tenant = await agent.newTenant()
const castor = (await startSdk(`${agent.url}/dids/`)).castor as InstanceType<typeof sdk.Castor>
// The SDK logs every failing resolver and every unsuitable key to the console.
beforeEach(() => {
  for (const method of ['log', 'debug'] as const)
    vi.spyOn(console, method).mockImplementation(() => undefined)
})
afterEach(() => void vi.restoreAllMocks())

async function resolveHere(did: string): Promise<DidDocument> {
  const answer = await agent.send('GET', `/dids/${did}`, { headers: { accept: 'application/did+ld+json' } })
  expect(answer.status, await answer.clone().text()).toBe(200)
  return (await answer.json()) as DidDocument
}

const newKey = (curve: Domain.Curve) =>
  apollo.createPrivateKey({
    type: curve === Curve.SECP256K1 ? KeyTypes.EC : KeyTypes.Curve25519,
    curve,
    seed: Buffer.from(apollo.createRandomSeed().seed.value).toString('hex'),
  })
const jwkOf = (key: Domain.PublicKey): Jwk => {
  const { crv, x, y } = (key as unknown as { to: { JWK(): Jwk } }).to.JWK()
  return { crv, x, ...(y !== undefined && { y }) }
}
/** The keys of a document by purpose, ids as fragments. */
const keysOf = (document: DidDocument) =>
  purposes.flatMap((purpose) =>
    keysFor(document, purpose).map(({ id, publicKeyJwk: { crv, x, y } }) => [
      id.split('#')[1],
      purpose,
      { crv, x, ...(y && { y }) },
    ]),
  )

const service = (id: string, type: string, uri: string) =>
  new DIDDocument.Service(id, [type], new DIDDocument.ServiceEndpoint(uri))

describe('a long form of the SDK', () => {
  const cases: [string, Domain.Curve[], Domain.Curve[], Service[]][] = [
    ['nothing but its master key', [], [], []],
    [
      'a key on each signing curve for each purpose',
      [Curve.SECP256K1, Curve.ED25519],
      [Curve.ED25519, Curve.SECP256K1],
      [],
    ],
    ['an X25519 key among those for authentication', [Curve.X25519, Curve.ED25519], [], []],
    [
      'services of several kinds',
      [Curve.SECP256K1],
      [],
      [
        service('domain', 'LinkedDomains', 'https://wallet.example'),
        service('didcomm-1', 'DIDCommMessaging', 'did:peer:2.Ez6LS'),
        service('status', 'CredentialStatusList', 'https://status.example/list?page=1'),
      ],
    ],
  ]
  test.each(cases)(
    'with %s resolves here to its keys, which verify its signatures',
    async (_name, authentication, assertion, services) => {
      const [master, auth, issuing] = [
        newKey(Curve.SECP256K1),
        authentication.map(newKey),
        assertion.map(newKey),
      ]
      const publicKeys = (keys: Domain.PrivateKey[]) => keys.map((key) => key.publicKey())
      const did = await castor.createPrismDID(
        master.publicKey(),
        services,
        publicKeys(auth),
        publicKeys(issuing),
      )
      const document = await resolveHere(did.toString())
      expect(keysOf(document)).toEqual([
        ...auth.map((key, i) => [`authentication-${i}`, 'authentication', jwkOf(key.publicKey())]),
        ...issuing.map((key, i) => [`issuing-${i}`, 'assertionMethod', jwkOf(key.publicKey())]),
      ])
      expect(document.service!.map(({ id, type, serviceEndpoint }) => [id, type, serviceEndpoint])).toEqual(
        services.map(({ id, type, serviceEndpoint: { uri } }) => [
          `${did.toString()}#${id}`,
          type[0],
          uri.startsWith('http') ? new URL(uri).href : uri,
        ]),
      )
      const signing = [...auth, ...issuing].filter((key) => jwkOf(key.publicKey()).crv !== 'X25519')
      for (const key of signing) {
        const found = document.verificationMethod!.find(
          ({ publicKeyJwk }) => publicKeyJwk!.x === jwkOf(key.publicKey()).x,
        )!
        const signature = (key as unknown as { sign(data: Buffer): Uint8Array }).sign(Buffer.from(message))
        const raw = found.publicKeyJwk!.crv === 'secp256k1' ? fromDer(signature) : signature
        expect(verify(found.publicKeyJwk as PublicJwk, message, raw)).toBe(true)
        expect(verify(found.publicKeyJwk as PublicJwk, utf8('another text'), raw)).toBe(false)
      }
    },
  )

  test('is published here with the operation that the SDK signs', async () => {
    const [master, key] = [newKey(Curve.SECP256K1), newKey(Curve.ED25519)]
    const did = await castor.createPrismDID(master.publicKey(), [], [key.publicKey()])
    const object = await castor.createPrismDIDAtalaObject(master, did)
    const [signed, ...more] = decodeObject(object)
    expect(more).toEqual([])
    const shortForm = toShortForm(operationHash(decodeSigned(signed!).operation))
    expect(did.toString().startsWith(`${shortForm}:`)).toBe(true)

    expect((await agent.send('GET', `/dids/${shortForm}`)).status).toBe(404)
    const { operationId } = await agent.agent.env.ledger.submit(signed!)
    expect(await agent.agent.env.ledger.getOperation(operationId)).toMatchObject({ status: 'confirmed' })
    expect(keysOf(await resolveHere(shortForm))).toEqual([
      ['authentication-0', 'authentication', jwkOf(key.publicKey())],
    ])
  })
})

describe('a DID of this agent', () => {
  const publicKeys = [
    { id: 'auth-1', purpose: 'authentication', curve: 'secp256k1' },
    { id: 'auth-2', purpose: 'authentication', curve: 'Ed25519' },
    { id: 'assert-1', purpose: 'assertionMethod', curve: 'Ed25519' },
    { id: 'agree-1', purpose: 'keyAgreement', curve: 'X25519' },
    { id: 'agree-2', purpose: 'keyAgreement' },
    { id: 'invoke-1', purpose: 'capabilityInvocation' },
    { id: 'delegate-1', purpose: 'capabilityDelegation' },
  ] as const
  const services = [
    { id: 'domain', type: 'LinkedDomains', serviceEndpoint: 'https://agent.example' },
    {
      id: 'several',
      type: ['A', 'B'],
      serviceEndpoint: ['https://a.example/', { uri: 'https://b.example/' }],
    },
    {
      id: 'object',
      type: ['DIDCommMessaging'],
      serviceEndpoint: { uri: 'did:peer:2.Ez6LS', accept: ['didcomm/v2'] },
    },
  ]
  const documentTemplate = {
    publicKeys: [...publicKeys],
    internalKeys: [{ id: 'vdr-1', purpose: 'vdr' as const }],
    services,
    contexts: ['https://c.example/1'],
  }
  /**
   * A DID whose key coordinates, including the master key's, do not begin with zero: the SDK drops leading
   * zeros, and verification fails.
   */
  const newDid = async (): Promise<string> => {
    const { longFormDid } = await tenant.call('POST /did-registrar/dids', { body: { documentTemplate } })
    const { publicKeys: keys } = createState(parsePrismDid(longFormDid).operation!)
    const coordinates = keys.flatMap(({ publicKey: { x, y } }) => [x, y]).filter((text) => text !== undefined)
    return coordinates.some((text) => fromBase64(text)[0] === 0) ? newDid() : longFormDid
  }

  /** The bare key, uncompressed on secp256k1, as the SDK returns it. */
  const multibase = (key: PublicJwk) =>
    base58btc.encode(
      key.kty === 'OKP' ? okpBytes(key) : Buffer.from([4, ...fromBase64(key.x), ...fromBase64(key.y!)]),
    )

  test('resolves in the SDK in its long form to the same keys and services', async () => {
    const did = await newDid()
    const [here, there] = [await resolveHere(did), await castor.resolveDID(did)]
    const expected = (purpose: 'authentication' | 'keyAgreement') =>
      keysFor(here, purpose).map(({ id, publicKeyJwk }) => ({
        id,
        publicKeyMultibase: multibase(publicKeyJwk),
      }))
    expect(there.authentication).toMatchObject(expected('authentication'))
    expect(there.keyAgreement).toMatchObject(expected('keyAgreement'))
    // The SDK also lists the keys that this agent's document omits.
    const all = createState(parsePrismDid(did).operation!).publicKeys.map(({ id, publicKey }) => [
      `${did}#${id}`,
      multibase(publicKey),
    ])
    expect(there.verificationMethods.map(({ id, publicKeyMultibase }) => [id, publicKeyMultibase])).toEqual(
      all,
    )
    expect(all).toHaveLength(publicKeys.length + 2)
    expect(there.services.map(({ id, type, serviceEndpoint: { uri } }) => [id, type, uri])).toEqual([
      ['domain', ['LinkedDomains'], 'https://agent.example/'],
      ['several', ['["A","B"]'], '["https://a.example/",{"uri":"https://b.example/"}]'],
      ['object', ['["DIDCommMessaging"]'], '{"uri":"did:peer:2.Ez6LS","accept":["didcomm/v2"]}'],
    ])
  })

  test('verifies in the SDK with each of its signing keys', async () => {
    const did = await newDid()
    const verifies = (data: Uint8Array, signature: Uint8Array) =>
      castor.verifySignature(sdk.Domain.DID.from(did), data, signature)
    for (const [purpose, keyId] of [
      ['authentication', 'auth-1'],
      ['authentication', 'auth-2'],
      ['assertionMethod', 'assert-1'],
    ] as const) {
      const { privateJwk } = await agent.agent.wallets.use(tenant.walletId, (wallet) =>
        getSigningKey(wallet, did, purpose, keyId),
      )
      const signature = sign(privateJwk, message)
      const written = privateJwk.crv === 'secp256k1' ? toDer(signature) : signature
      expect(await verifies(message, written), keyId).toBe(true)
      expect(await verifies(utf8('another text'), written), keyId).toBe(false)
    }
  })

  test('resolves in the SDK in its short form, once published, to the same document', async () => {
    const did = await newDid()
    const shortForm = did.split(':').slice(0, 3).join(':')
    await expect(castor.resolveDID(shortForm)).rejects.toThrow(/could resolve/)
    await tenant.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: did } })
    await until(
      'publication',
      () => tenant.call('GET /did-registrar/dids/{didRef}', { path: { didRef: did } }),
      ({ status }) => status === 'PUBLISHED',
    )
    const [here, there] = [await resolveHere(shortForm), await castor.resolveDID(shortForm)]
    const methods = there.verificationMethods.map(({ id, publicKeyJwk }) => [id, publicKeyJwk])
    expect(methods).toEqual(here.verificationMethod!.map(({ id, publicKeyJwk }) => [id, publicKeyJwk]))
    expect(methods).toHaveLength(publicKeys.length)
  })
})

describe('keys of a seed', () => {
  test("of the SDK's createSeed are this agent's with BIP-39's prefix before the passphrase", () => {
    for (const passphrase of ['', 'a pass phrase', 'é'])
      expect(toHex(apollo.createSeed(mnemonic.split(' ') as never, passphrase).value)).toBe(
        toHex(seedOfMnemonic(mnemonic, `mnemonic${passphrase}`)),
      )
  })

  test('are the same at every path', () => {
    const seed = seedOfMnemonic(mnemonic)
    for (const [didIndex, usage, keyIndex] of [
      [0, 1, 0],
      [0, 4, 3],
      [7, 8, 1],
    ] as const) {
      const derivationPath = `m/29'/29'/${didIndex}'/${usage}'/${keyIndex}'`
      const theirs = apollo.createPrivateKey({
        type: KeyTypes.EC,
        curve: Curve.SECP256K1,
        seed: toHex(seed),
        derivationPath,
      })
      const { d, crv, x, y } = deriveKey(seed, { didIndex, usage, keyIndex })
      expect(toBase64url(theirs.raw)).toBe(d)
      expect(jwkOf(theirs.publicKey())).toEqual({ crv, x, y })
    }
  })
})
