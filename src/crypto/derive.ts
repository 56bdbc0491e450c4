/**
 * Wallet seed → secp256k1 keys by BIP-32 path, the way the real agent derives the keys of its DIDs (wire.md 11.3),
 * so that a seed restores them on either side.
 */
import { HDKey } from '@scure/bip32'
import type { PrivateJwk } from './keys.ts'
import { fromPrivateBytes } from './secp256k1.ts'

/** Where a key sits below the seed: which DID of the wallet, which usage (the protobuf's KeyUsage number), which key of that usage. */
export type KeyPath = { didIndex: number; usage: number; keyIndex: number }

/** Derives the keys of one seed, and remembers the way as far as the last DID: every step costs a millisecond. */
export type Derivation = {
  /** @throws {RangeError} when an index is no integer from 0 to 2^31-1. */
  key(path: KeyPath): PrivateJwk
  /** Fills what is remembered with zeros. */
  forget(): void
}

/**
 * Makes the derivation of a wallet's seed of 64 bytes: the key at `m/29'/29'/<didIndex>'/<usage>'/<keyIndex>'`.
 *
 * @throws {TypeError} when the seed has another length.
 */
export function createDerivation(seed: Uint8Array): Derivation {
  if (seed.length !== 64) throw new TypeError(`a wallet seed has 64 bytes, not ${seed.length}`)
  let base: HDKey | undefined
  let last: { didIndex: number; node: HDKey } | undefined
  return {
    key({ didIndex, usage, keyIndex }) {
      if (last?.didIndex !== didIndex) {
        base ??= descend(HDKey.fromMasterSeed(seed), [29, 29])
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

/** Goes down from a node; of those on the way, that one among them, nothing is left. */
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

/** The key at a path below a seed. @throws as `createDerivation`. */
export function deriveKey(seed: Uint8Array, path: KeyPath): PrivateJwk {
  const derivation = createDerivation(seed)
  try {
    return derivation.key(path)
  } finally {
    derivation.forget()
  }
}

function child(node: HDKey, index: number): HDKey {
  if (!Number.isInteger(index) || index < 0 || index >= 2 ** 31)
    throw new RangeError(`a key path cannot contain ${index}`)
  return node.deriveChild(2 ** 31 + index)
}
