/**
 * The published vectors of did:prism, from the method specification and the Identus repositories. Valid ones
 * decode to their content, and encode to the same bytes if their keys are compressed, as this agent writes
 * them. Invalid ones are refused for the published reason.
 */
import { describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { deriveKey } from '../../../src/foundation/crypto/derive.ts'
import { okpFromBytes, type PrivateJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { seedOfMnemonic } from '../../../src/foundation/crypto/mnemonic.ts'
import { compressed, fromPublicBytes, native } from '../../../src/foundation/crypto/secp256k1.ts'
import { Did, type DidDocument, purposes } from '../../../src/did/document.ts'
import { decodeObject, decodeSigned } from '../../../src/did/prism/decode.ts'
import type { CreateOperation, PrismKey, Usage } from '../../../src/did/prism/model.ts'
import {
  encodeOperation,
  operationHash,
  operationId,
  signOperation,
} from '../../../src/did/prism/operations.ts'
import { embeddedState, parsePrismDid, toLongForm, toShortForm } from '../../../src/did/prism/did.ts'
import { toDocument } from '../../../src/did/prism/document.ts'
import { apply, type DidState } from '../../../src/did/prism/state.ts'
import { named, type PublishedVector, readPublished } from '../../support/vectors.ts'
import { at } from './_make.ts'

type KeyData = { curve: string; x?: string; y?: string; data?: string }
type Create = {
  publicKeys: { id: string; usage: string; ec_key_data?: KeyData; compressed_ec_key_data?: KeyData }[]
  services: { id: string; type: string; service_endpoint: string }[]
  context: string[]
}
type Resolved = Partial<DidDocument> & { context?: string[] }
type Vector = PublishedVector & {
  reason?: string
  did: string
  canonical?: string
  encodedState?: string
  stateHex?: string
  operation?: Create
  resolved?: Resolved
  privateKeys?: { id: string; privateKeyJwk: PrivateJwk }[]
  mnemonic?: string[]
  passphrase?: string
  seed?: string
  keys?: { path: string; privateKey: string; publicKey: string }[]
  path?: string
  privateKey?: string
  longForm?: string
  signedOperation?: { hex: string; signedWith: string; signature: string; operationId: string }
  hex?: string
  operations?: { signedWith: string; operation: Create; suffix: string }[]
}

const usageOf: Record<string, Usage> = {
  MASTER_KEY: 'master',
  ISSUING_KEY: 'assertionMethod',
  KEY_AGREEMENT_KEY: 'keyAgreement',
  AUTHENTICATION_KEY: 'authentication',
  REVOCATION_KEY: 'revocation',
  CAPABILITY_INVOCATION_KEY: 'capabilityInvocation',
  CAPABILITY_DELEGATION_KEY: 'capabilityDelegation',
  VDR_KEY: 'vdr',
}

function toKey({ id, usage, ...data }: Create['publicKeys'][number]): PrismKey {
  const { curve, x, y, data: packed } = (data.ec_key_data ?? data.compressed_ec_key_data)!
  const publicKey =
    curve === 'secp256k1'
      ? fromPublicBytes(fromHex(packed ?? `04${x}${y}`))
      : okpFromBytes(curve as 'Ed25519', fromHex((packed ?? x)!))
  return { id, usage: usageOf[usage]!, publicKey }
}

const toCreate = ({ publicKeys, services, context }: Create): CreateOperation => ({
  operation: 'create',
  publicKeys: publicKeys.map(toKey),
  services: services.map(({ id, type, service_endpoint: serviceEndpoint }) => ({
    id,
    type,
    serviceEndpoint,
  })),
  contexts: context,
})

const pathOf = (path: string) => {
  const [didIndex, usage, keyIndex] = path.match(/\d+/g)!.slice(2).map(Number)
  return { didIndex: didIndex!, usage: usage!, keyIndex: keyIndex! }
}

function stateOf(did: string): DidState {
  const { operation } = parsePrismDid(did)
  return embeddedState(did, operation!)
}

const partsOf = ({ publicKeys, services, contexts }: DidState) => ({
  publicKeys: [...publicKeys],
  services: [...services],
  contexts: [...contexts],
})

/** This agent normalises URLs, the vectors do not. */
const normalised = (endpoint: unknown) =>
  typeof endpoint === 'string' && /^https?:/.test(endpoint) ? new URL(endpoint).href : endpoint

/** This agent's error text, by the published reason of a refusal. */
const reasons: readonly [RegExp, RegExp][] = [
  [/suffix is not the hash/, /suffix is not the hash of its state|state is not base64url/],
  [
    /alphabet|empty state|third segment|suffix (?:too|of)|hexadecimal|lower case|not a DID/,
    /it is not did:prism:, 64 hexadecimal digits/,
  ],
  [/operation is/, /begins with a create operation, not update/],
  [/protobuf|ends early/, /the bytes are not AtalaOperation/],
  [/did_data/, /did_data is missing/],
  [/no MASTER_KEY/, /there is no master key/],
  [/MASTER_KEY is not secp256k1/, /is a master key and must be on secp256k1/],
  [/UNKNOWN_KEY/, /has no known usage/],
  [/curve not in the list/, /its curve .+ is none of secp256k1, Ed25519 and X25519/],
  [/on secp256k1/, /cannot be read: there is no such point on secp256k1/],
  [/key without data/, /has 33 bytes, not 0/],
  [/key of 31 bytes/, /has 32 bytes, not 31/],
  [/43 bytes of base64url text/, /has 32 bytes, not 43/],
  [/empty key id|key id of 51/, /key id ".*": must have 1 to 50 bytes/],
  [/key id is not/, /key id "a#b": is not a URI fragment/],
  [/two keys/, /a key id is there twice/],
  [/51 keys/, /51 keys are more than 50/],
  [/two services/, /a service id is there twice/],
  [/service type/, /service "s": type: is not a name/],
  [/service endpoint/, /service "s": serviceEndpoint: must have 1 to 300 bytes/],
  [/repeated context/, /names a context twice/],
]

const isCompressed = ({ operation }: Vector) =>
  operation?.publicKeys.every((key) => key.compressed_ec_key_data) ?? false

function checkLongForm({
  did,
  canonical,
  encodedState,
  stateHex,
  operation,
  resolved,
  privateKeys,
}: Vector): void {
  const state = stateOf(did)
  const { publicKeys, services, contexts } = state
  const bytes = parsePrismDid(did).operation!
  if (canonical) expect(toShortForm(state.suffix)).toBe(canonical)
  if (encodedState) expect(did).toBe(`${canonical}:${encodedState}`)
  if (stateHex) expect(toHex(bytes)).toBe(stateHex)
  expect(toLongForm(bytes)).toBe(did)
  if (operation) expect({ operation: 'create', publicKeys, services, contexts }).toEqual(toCreate(operation))
  for (const { id, privateKeyJwk } of privateKeys ?? [])
    expect(publicKeys.find((key) => key.id === id)!.publicKey).toEqual(toPublic(privateKeyJwk))
  if (!resolved) return
  const document = toDocument(state, did)
  const { context, service, ...expected } = resolved
  expect(
    document.verificationMethod!.map(({ id, publicKeyJwk }) => ({ id: id.slice(did.length), publicKeyJwk })),
  ).toEqual(expected.verificationMethod)
  for (const purpose of purposes)
    expect(document[purpose]!.map((id) => (id as string).slice(did.length))).toEqual(expected[purpose] ?? [])
  expect(document.service).toEqual(
    (service ?? []).map((each) => ({
      ...each,
      id: did + each.id,
      serviceEndpoint: normalised(each.serviceEndpoint),
    })),
  )
  expect(document['@context']).toEqual(expect.arrayContaining(context ?? []))
}

describe.each(['did-prism', 'identus-did-prism'])('%s', (name) => {
  const { vectors } = readPublished(name) as { vectors: Vector[] }
  const of = (kind: string, ...expected: Vector['expect'][]) =>
    vectors.filter((vector) => vector.kind === kind && expected.includes(vector.expect))

  test('every kind of vector has a test', () => {
    expect(of('long-form', 'ok').length).toBeGreaterThanOrEqual(6)
    expect(of('long-form', 'reject').length).toBeGreaterThanOrEqual(12)
    const run = ['long-form', 'key-derivation', 'deterministic-did', 'atala-object', 'did-syntax']
    expect(vectors.filter(({ kind }) => !run.includes(kind))).toEqual([])
  })

  test.each(named(of('long-form', 'ok')))('%s decodes to its content', (_id, vector) => {
    checkLongForm(vector)
  })

  test.each(named(of('long-form', 'ok').filter(isCompressed)))(
    '%s is encoded to the same bytes',
    (_id, vector) => {
      expect(toLongForm(encodeOperation(toCreate(vector.operation!)))).toBe(vector.did)
    },
  )

  // Coordinates are read and never written: the same keys and services, with another suffix.
  test
    .skipIf(of('long-form', 'ok').every(isCompressed))
    .each(named(of('long-form', 'ok').filter((vector) => !isCompressed(vector))))(
    '%s is encoded with compressed keys',
    (_id, { did, operation }) => {
      const encoded = toLongForm(
        encodeOperation(operation ? toCreate(operation) : { operation: 'create', ...partsOf(stateOf(did)) }),
      )
      expect(partsOf(stateOf(encoded))).toEqual(partsOf(stateOf(did)))
      expect(encoded).not.toBe(did)
    },
  )

  test.each(named(of('long-form', 'reject')))('%s is refused for its reason', (_id, vector) => {
    const [, message] = reasons.find(([theirs]) => theirs.test(vector.reason!))!
    expect(() => stateOf(vector.did)).toThrow(Problem)
    expect(() => stateOf(vector.did)).toThrow(message)
    expect(() => stateOf(vector.did)).toThrow(/ is not a valid did:prism: /)
  })

  // An unreadable key makes the whole operation invalid, as for the ledger.
  test.skipIf(of('long-form', 'either').length === 0).each(named(of('long-form', 'either')))(
    '%s is refused here',
    (_id, vector) => {
      const [, message] = reasons.find(([theirs]) => theirs.test(vector.reason!))!
      expect(() => stateOf(vector.did)).toThrow(message)
    },
  )

  const derivations = of('key-derivation', 'ok')
  test.skipIf(derivations.length === 0).each(named(derivations))(
    '%s come out of the words',
    (_id, vector) => {
      const { mnemonic, passphrase, seed, keys } = vector
      const derived = seedOfMnemonic(mnemonic!.join(' '), passphrase)
      expect(toHex(derived)).toBe(seed)
      for (const { path, privateKey, publicKey } of keys!) {
        const key = deriveKey(derived, pathOf(path))
        expect([toHex(Buffer.from(key.d, 'base64url')), toHex(compressed(key))]).toEqual([
          privateKey,
          publicKey,
        ])
      }
    },
  )

  const deterministic = of('deterministic-did', 'ok')
  test.skipIf(deterministic.length === 0).each(named(deterministic))(
    '%s comes out of the words, with its signature',
    (_id, vector) => {
      const { mnemonic, passphrase } = derivations[0]!
      const { path, privateKey, operation, canonical, encodedState, longForm, signedOperation } = vector
      const key = deriveKey(seedOfMnemonic(mnemonic!.join(' '), passphrase), pathOf(path!))
      expect(toHex(Buffer.from(key.d, 'base64url'))).toBe(privateKey)
      const publicKeys: PrismKey[] = [{ id: 'master', usage: 'master', publicKey: toPublic(key) }]
      expect(toCreate(operation!).publicKeys).toEqual(publicKeys)
      const bytes = encodeOperation({ ...toCreate(operation!), publicKeys })
      expect([toShortForm(operationHash(bytes)), toLongForm(bytes)]).toEqual([canonical, longForm])
      expect(longForm).toBe(`${canonical}:${encodedState}`)
      if (signedOperation) {
        const signed = fromHex(signedOperation.hex)
        // Without libsecp256k1, OpenSSL signs with random nonces.
        if (native()) expect(toHex(signOperation(bytes, 'master', key))).toBe(signedOperation.hex)
        expect(decodeSigned(signed).signedWith).toBe(signedOperation.signedWith)
        expect(toHex(decodeSigned(signed).signature)).toBe(signedOperation.signature)
        expect(operationId(signed)).toBe(signedOperation.operationId)
        expect(toShortForm(apply(undefined, signed, at).suffix)).toBe(canonical)
      }
    },
  )

  const objects = of('atala-object', 'ok')
  test.skipIf(objects.length === 0).each(named(objects))(
    '%s holds the operations it says, each well signed',
    (_id, vector) => {
      const signed = decodeObject(fromHex(vector.hex!))
      const states = signed.map((each) => apply(undefined, each, at))
      expect(states.map(partsOf)).toEqual(
        vector.operations!.map(({ operation }) => {
          const { publicKeys, services, contexts } = toCreate(operation)
          return { publicKeys, services, contexts }
        }),
      )
      expect(states.map(({ suffix }) => suffix)).toEqual(vector.operations!.map(({ suffix }) => suffix))
      expect(signed.map((each) => decodeSigned(each).signedWith)).toEqual(
        vector.operations!.map(({ signedWith }) => signedWith),
      )
    },
  )

  const syntax = of('did-syntax', 'ok', 'reject')
  test.skipIf(syntax.length === 0).each(named(syntax))('%s: its validity is recognised', (_id, vector) => {
    expect(Did.safeParse(vector.did).success).toBe(vector.expect === 'ok')
  })
})
