/** Creates did:prism operations and states for tests, from constant keys. */
import { deriveKey } from '../../../src/foundation/crypto/derive.ts'
import { okpFromBytes, type PrivateJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import {
  type CreateOperation,
  masterKeyId,
  type PrismKey,
  type UpdateAction,
  type Usage,
  usages,
} from '../../../src/did/prism/model.ts'
import { encodeOperation, operationHash, signOperation } from '../../../src/did/prism/operations.ts'
import { apply, type DidState } from '../../../src/did/prism/state.ts'

const seed = new Uint8Array(64).fill(7)

export const at = new Date('2025-01-02T03:04:05.678Z')
export const later = new Date('2025-02-02T03:04:05.678Z')

const secrets = new Map<string, PrivateJwk>()

export function secret(usage: Usage, keyIndex = 0): PrivateJwk {
  const name = `${usage} ${keyIndex}`
  const known = secrets.get(name) ?? deriveKey(seed, { didIndex: 0, usage: usages[usage], keyIndex })
  secrets.set(name, known)
  return known
}

/** The private key of `master0` in all of them. */
export const master = secret('master')

export function key(id: string, usage: Usage, keyIndex = 0): PrismKey {
  return { id, usage, publicKey: toPublic(secret(usage, keyIndex)) }
}

export const masterKey = key(masterKeyId, 'master')
export const ed25519 = okpFromBytes(
  'Ed25519',
  Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex'),
)
export const x25519 = okpFromBytes(
  'X25519',
  Buffer.from('a44fe61b4f7cadd42363730a2b60f949443a64e116ddae99e93ed9e12827cc21', 'hex'),
)

export const create = (rest: Partial<CreateOperation> = {}): CreateOperation => ({
  operation: 'create',
  publicKeys: [key('auth-1', 'authentication'), masterKey],
  services: [{ id: 'service-1', type: 'LinkedDomains', serviceEndpoint: 'https://example.com/' }],
  contexts: [],
  ...rest,
})

export const createBytes = (rest: Partial<CreateOperation> = {}): Uint8Array => encodeOperation(create(rest))
export const signedCreate = (rest: Partial<CreateOperation> = {}): Uint8Array =>
  signOperation(createBytes(rest), masterKeyId, master)

export function signedUpdate(
  state: DidState,
  actions: UpdateAction[],
  signer: { id: string; secret: PrivateJwk } = { id: masterKeyId, secret: master },
) {
  const { suffix, lastOperationHash: previousHash } = state
  return signOperation(
    encodeOperation({ operation: 'update', suffix, previousHash, actions }),
    signer.id,
    signer.secret,
  )
}

export function signedDeactivate(state: DidState): Uint8Array {
  const { suffix, lastOperationHash: previousHash } = state
  return signOperation(
    encodeOperation({ operation: 'deactivate', suffix, previousHash }),
    masterKeyId,
    master,
  )
}

/** The state of a published DID. */
export const published = (rest: Partial<CreateOperation> = {}): DidState =>
  apply(undefined, signedCreate(rest), at)

/** The state after an update. */
export const updated = (state: DidState, ...actions: UpdateAction[]): DidState =>
  apply(state, signedUpdate(state, actions), later)

/** The suffix of the DID of `create`. */
export const suffixOf = (rest: Partial<CreateOperation> = {}): string => operationHash(createBytes(rest))
