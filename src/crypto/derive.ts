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
export type Derive = (path: KeyPath) => PrivateJwk

/**
 * Makes the derivation of a wallet's seed of 64 bytes: the key at `m/29'/29'/<didIndex>'/<usage>'/<keyIndex>'`.
 *
 * @throws {TypeError} when the seed has another length; the derivation throws {RangeError} when an index is no integer from 0 to 2^31-1.
 */
export function createDerivation(seed: Uint8Array): Derive {
  if (seed.length !== 64) throw new TypeError(`a wallet seed has 64 bytes, not ${seed.length}`)
  let base: HDKey | undefined
  let last: { didIndex: number; node: HDKey } | undefined
  return ({ didIndex, usage, keyIndex }) => {
    if (last?.didIndex !== didIndex) {
      base ??= [29, 29].reduce(child, HDKey.fromMasterSeed(seed))
      last = { didIndex, node: child(base, didIndex) }
    }
    return fromPrivateBytes([usage, keyIndex].reduce(child, last.node).privateKey!)
  }
}

/** The key at a path below a seed. @throws as `createDerivation`. */
export function deriveKey(seed: Uint8Array, path: KeyPath): PrivateJwk {
  return createDerivation(seed)(path)
}

function child(node: HDKey, index: number): HDKey {
  if (!Number.isInteger(index) || index < 0 || index >= 2 ** 31) throw new RangeError(`a key path cannot contain ${index}`)
  return node.deriveChild(2 ** 31 + index)
}
