/**
 * Derives the keys of DIDs from the wallet seed: on secp256k1 by BIP-32, on the same paths as the Cloud
 * Agent, so that either can recover DIDs from a seed; on P-256 by SLIP-0010, on the same paths.
 */
import { HDKey } from '@scure/bip32'
import type { PrivateJwk } from './keys.ts'
import { fromPrivateBytes } from './secp256k1.ts'
import { deriveP256Key } from './slip-10.ts'

/**
 * The path of a key. The curve is secp256k1 by default. The usage is the number of KeyUsage in the did:prism
 * protobuf.
 */
export type KeyPath = {
  curve?: 'secp256k1' | 'P-256' | undefined
  didIndex: number
  usage: number
  keyIndex: number
}

/**
 * Derives the keys of one seed. It caches the nodes of the last DID, since each step on secp256k1 takes a
 * millisecond.
 */
export type Derivation = {
  /** @throws {RangeError} when an index is not an integer from 0 to 2^31-1 */
  key(path: KeyPath): PrivateJwk
  /** Overwrites the cached nodes with zeros. */
  forget(): void
}

/** The first part of all paths. */
const purpose = [29, 29]

/**
 * Creates the derivation from a seed of 64 bytes: the key at `m/29'/29'/<didIndex>'/<usage>'/<keyIndex>'`.
 *
 * @throws {TypeError} when the seed has another length
 */
export function createDerivation(seed: Uint8Array): Derivation {
  if (seed.length !== 64) throw new TypeError(`a wallet seed has 64 bytes, not ${seed.length}`)
  let base: HDKey | undefined
  let last: { didIndex: number; node: HDKey } | undefined
  return {
    key({ curve, didIndex, usage, keyIndex }) {
      if (curve === 'P-256') {
        const path = [...purpose, didIndex, usage, keyIndex]
        path.forEach(checkIndex)
        return deriveP256Key(seed, path)
      }
      if (last?.didIndex !== didIndex) {
        base ??= descend(HDKey.fromMasterSeed(seed), purpose)
        const node = child(base, didIndex)
        last?.node.wipePrivateData()
        last = { didIndex, node }
      }
      const usageNode = child(last.node, usage)
      const node = descend(usageNode, [keyIndex])
      const bytes = node.privateKey!
      node.wipePrivateData()
      try {
        return fromPrivateBytes(bytes)
      } finally {
        bytes.fill(0)
      }
    },
    forget() {
      base?.wipePrivateData()
      last?.node.wipePrivateData()
      base = last = undefined
    },
  }
}

/** Derives a descendant of a node. The node and the intermediate nodes are overwritten with zeros. */
function descend(from: HDKey, indexes: readonly number[]): HDKey {
  let node = from
  for (const index of indexes) {
    const above = node
    try {
      node = child(above, index)
    } finally {
      above.wipePrivateData()
    }
  }
  return node
}

/** The key at a path below a seed. @throws as `createDerivation` */
export function deriveKey(seed: Uint8Array, path: KeyPath): PrivateJwk {
  const derivation = createDerivation(seed)
  try {
    return derivation.key(path)
  } finally {
    derivation.forget()
  }
}

function child(node: HDKey, index: number): HDKey {
  checkIndex(index)
  return node.deriveChild(2 ** 31 + index)
}

function checkIndex(index: number): void {
  if (!Number.isInteger(index) || index < 0 || index >= 2 ** 31)
    throw new RangeError(`a key path cannot contain ${index}`)
}
