/** `DIDData`, of this agent and of other nodes. */
import { create, toBinary } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { fromBase64 } from '../../../src/foundation/bytes.ts'
import { decodeDidData, encodeDidData } from '../../../src/did/prism/did-data.ts'
import { InvalidOperation } from '../../../src/did/prism/model.ts'
import { DIDDataSchema } from '../../../src/did/prism/prism_pb.ts'
import type { DidState } from '../../../src/did/prism/state.ts'
import { ed25519, key, masterKey, published, updated, x25519 } from './_make.ts'

const partOf = ({ suffix, publicKeys, services, contexts, retiredKeyIds, retiredServiceIds }: DidState) => ({
  suffix,
  publicKeys,
  services,
  contexts,
  retiredKeyIds,
  retiredServiceIds,
})

test('every usage and curve, services, contexts and removed ids survive a round trip', () => {
  const state = updated(
    published({ contexts: ['https://example.com/'] }),
    { action: 'addKey', key: { id: 'ed', usage: 'assertionMethod', publicKey: ed25519 } },
    { action: 'addKey', key: { id: 'x', usage: 'keyAgreement', publicKey: x25519 } },
    { action: 'addKey', key: key('vdr-1', 'vdr') },
    { action: 'removeKey', id: 'auth-1' },
    { action: 'removeService', id: 'service-1' },
  )
  expect(decodeDidData(encodeDidData(state))).toEqual(partOf(state))
})

test('keys may be coordinates, and unknown fields are ignored', () => {
  const { x, y } = masterKey.publicKey
  const data = create(DIDDataSchema, {
    id: published().suffix,
    publicKeys: [
      {
        id: 'master0',
        usage: 1,
        keyData: { case: 'ecKeyData', value: { curve: 'secp256k1', x: fromBase64(x), y: fromBase64(y!) } },
      },
    ],
  })
  // NeoPRISM's storage_data, field 5.
  const bytes = Buffer.concat([toBinary(DIDDataSchema, data), Uint8Array.of(0x2a, 0x02, 0x08, 0x01)])
  expect(decodeDidData(bytes)).toMatchObject({ publicKeys: [masterKey], services: [], retiredKeyIds: [] })
})

const state = published()
test.each<[string, Uint8Array]>([
  ['noise', Uint8Array.of(0xff, 0xff)],
  ['too much', new Uint8Array(1_000_001)],
  ['a key twice', encodeDidData({ ...state, publicKeys: [masterKey, masterKey] })],
  ['a service twice', encodeDidData({ ...state, services: [...state.services, ...state.services] })],
  [
    'a service that no operation could have made',
    encodeDidData({ ...state, services: [{ id: 's', type: 'T', serviceEndpoint: '[' }] }),
  ],
  ['a context twice', encodeDidData({ ...state, contexts: ['a', 'a'] })],
  [
    'a key without data',
    toBinary(DIDDataSchema, create(DIDDataSchema, { publicKeys: [{ id: 'master0', usage: 1 }] })),
  ],
])('%s is refused', (_what, bytes) => {
  expect(() => decodeDidData(bytes)).toThrow(InvalidOperation)
})
