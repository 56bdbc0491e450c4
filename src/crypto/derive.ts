/**
 * Wallet seed → secp256k1 keys by BIP-32 path, the way the real agent derives the keys of its DIDs (wire.md 11.3),
 * so that a seed restores them on either side.
 */
import { HDKey } from '@scure/bip32'
import type { PrivateJwk } from './keys.ts'
import { fromPrivateBytes } from './secp256k1.ts'

/** Where a key sits below the seed: which DID of the wallet, which usage (the protobuf's KeyUsage number), which key of that usage. */
export type KeyPath = { didIndex: number; usage: number; keyIndex: number }

/**
 * The key at `m/29'/29'/<didIndex>'/<usage>'/<keyIndex>'` below a wallet's seed of 64 bytes.
 *
 * @throws {TypeError} when the seed has another length.
 * @throws {RangeError} when an index is no integer from 0 to 2^31-1.
 */
export function deriveKey(seed: Uint8Array, path: KeyPath): PrivateJwk {
  if (seed.length !== 64) throw new TypeError(`a wallet seed has 64 bytes, not ${seed.length}`)
  let node = HDKey.fromMasterSeed(seed)
  for (const index of [29, 29, path.didIndex, path.usage, path.keyIndex]) {
    if (!Number.isInteger(index) || index < 0 || index >= 2 ** 31) throw new RangeError(`a key path cannot contain ${index}`)
    node = node.deriveChild(2 ** 31 + index)
  }
  return fromPrivateBytes(node.privateKey!)
}
