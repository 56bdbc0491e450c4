import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../../src/base/bytes.ts'
import { Problem } from '../../../src/base/problem.ts'
import { deriveKey } from '../../../src/crypto/derive.ts'
import { type PrivateJwk, type PublicJwk, toPublic } from '../../../src/crypto/keys.ts'
import { compressed, fromPublicBytes } from '../../../src/crypto/secp256k1.ts'
import { okpFromBytes } from '../../../src/crypto/keys.ts'
import { Did, type DidDocument, purposes } from '../../../src/did/document.ts'
import { decodeObject, decodeSigned } from '../../../src/did/prism/decode.ts'
import { type CreateOperation, type PrismKey, type Usage } from '../../../src/did/prism/model.ts'
import { encodeOperation, operationId } from '../../../src/did/prism/operations.ts'
import { embeddedState, parsePrismDid, toLongForm, toShortForm } from '../../../src/did/prism/did.ts'
import { toDocument } from '../../../src/did/prism/document.ts'
import { apply, type DidState } from '../../../src/did/prism/state.ts'
import { at } from './_make.ts'

type KeyData = { curve: string; x?: string; y?: string; data?: string }
type Create = {
  publicKeys: { id: string; usage: string; ec_key_data?: KeyData; compressed_ec_key_data?: KeyData }[]
  services: { id: string; type: string; service_endpoint: string }[]
  context: string[]
}
type Resolved = Partial<DidDocument> & { context?: string[] }
type Vector = {
  id: string
  kind: string
  expect: 'ok' | 'reject' | 'either'
  did: string
  canonical?: string
  stateHex?: string
  operation?: Create
  resolved?: Resolved
  privateKeys?: { id: string; privateKeyJwk: PrivateJwk }[]
  seed?: string
  keys?: { path: string; privateKey: string; publicKey: string }[]
  path?: string
  longForm?: string
  signedOperation?: { hex: string; signedWith: string; operationId: string }
  hex?: string
  operations?: { signedWith: string; operation: Create; suffix: string }[]
}

const folder = new URL('../../../../shared/vectors/', import.meta.url)

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
    curve === 'secp256k1' ? fromPublicBytes(fromHex(packed ?? `04${x}${y}`)) : okpFromBytes(curve as 'Ed25519', fromHex((packed ?? x)!))
  return { id, usage: usageOf[usage]!, publicKey }
}

const toCreate = ({ publicKeys, services, context }: Create): CreateOperation => ({
  operation: 'create',
  publicKeys: publicKeys.map(toKey),
  services: services.map(({ id, type, service_endpoint: serviceEndpoint }) => ({ id, type, serviceEndpoint })),
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

/** Web addresses are shown normalised (api.md 4.5), which the vectors do not do. */
const normalised = (endpoint: unknown) => (typeof endpoint === 'string' && /^https?:/.test(endpoint) ? new URL(endpoint).href : endpoint)

function checkLongForm({ did, canonical, stateHex, operation, resolved, privateKeys }: Vector): void {
  const state = stateOf(did)
  const { publicKeys, services, contexts } = state
  const bytes = parsePrismDid(did).operation!
  if (canonical) expect(toShortForm(state.suffix)).toBe(canonical)
  if (stateHex) expect(toHex(bytes)).toBe(stateHex)
  expect(toLongForm(bytes)).toBe(did)
  if (operation) {
    expect({ operation: 'create', publicKeys, services, contexts }).toEqual(toCreate(operation))
    // Keys as coordinates are read but not written.
    if (operation.publicKeys.every((key) => key.compressed_ec_key_data))
      expect(toHex(encodeOperation(toCreate(operation)))).toBe(toHex(bytes))
  }
  for (const { id, privateKeyJwk } of privateKeys ?? [])
    expect(publicKeys.find((key) => key.id === id)!.publicKey).toEqual(toPublic(privateKeyJwk))
  if (!resolved) return
  const document = toDocument(state, did)
  const { context, service, ...shown } = resolved
  expect(document.verificationMethod!.map(({ id, publicKeyJwk }) => ({ id: id.slice(did.length), publicKeyJwk }))).toEqual(
    shown.verificationMethod,
  )
  for (const purpose of purposes) expect(document[purpose]!.map((id) => (id as string).slice(did.length))).toEqual(shown[purpose] ?? [])
  expect(document.service).toEqual(
    (service ?? []).map((each) => ({ ...each, id: did + each.id, serviceEndpoint: normalised(each.serviceEndpoint) })),
  )
  expect(document['@context']).toEqual(expect.arrayContaining(context ?? []))
}

const runners: Record<string, (vector: Vector) => void> = {
  'long-form': checkLongForm,
  'key-derivation': ({ seed, keys }) => {
    for (const { path, privateKey, publicKey } of keys!) {
      const key = deriveKey(fromHex(seed!), pathOf(path))
      expect([toHex(Buffer.from(key.d, 'base64url')), toHex(compressed(key))]).toEqual([privateKey, publicKey])
    }
  },
  'deterministic-did': ({ seed, path, operation, canonical, longForm, signedOperation }) => {
    const key: PublicJwk = toPublic(deriveKey(fromHex(seed!), pathOf(path!)))
    const bytes = encodeOperation({ ...toCreate(operation!), publicKeys: [{ id: 'master', usage: 'master', publicKey: key }] })
    expect(toLongForm(bytes)).toBe(longForm)
    if (!signedOperation) return
    expect(operationId(fromHex(signedOperation.hex))).toBe(signedOperation.operationId)
    expect(decodeSigned(fromHex(signedOperation.hex)).signedWith).toBe(signedOperation.signedWith)
    expect(toShortForm(apply(undefined, fromHex(signedOperation.hex), at).suffix)).toBe(canonical)
  },
  'atala-object': ({ hex, operations }) => {
    const states = decodeObject(fromHex(hex!)).map((signed) => apply(undefined, signed, at))
    expect(states.map(({ suffix }) => suffix)).toEqual(operations!.map(({ suffix }) => suffix))
    expect(states.map(({ publicKeys }) => publicKeys)).toEqual(operations!.map(({ operation }) => toCreate(operation).publicKeys))
  },
  'did-syntax': ({ did }) => expect(Did.parse(did)).toBe(did),
}

describe.each(['did-prism', 'identus-did-prism'])('%s', (name) => {
  const file = new URL(`${name}.json`, folder)
  describe.skipIf(!existsSync(file))('published vectors', () => {
    const vectors = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }).vectors : []
    const of = (expected: Vector['expect'], kind: (kind: string) => boolean) =>
      vectors.filter((vector) => vector.expect === expected && kind(vector.kind))

    test.each(of('ok', () => true))('$id is taken', (vector) => runners[vector.kind]!(vector))

    test.each(of('reject', (kind) => kind === 'long-form'))('$id is refused', ({ did }) => {
      expect(() => stateOf(did)).toThrow(Problem)
      expect(() => stateOf(did)).toThrow(/is not a valid did:prism/)
    })

    // A key that cannot be read makes the whole operation invalid, as it does for the ledger.
    test.each(of('either', (kind) => kind === 'long-form'))('$id is refused here', ({ did }) => {
      expect(() => stateOf(did)).toThrow(Problem)
    })

    test.skipIf(name !== 'identus-did-prism').each(of('reject', (kind) => kind === 'did-syntax'))('$id is no DID', ({ did }) => {
      expect(Did.safeParse(did).success).toBe(false)
    })
  })
})
