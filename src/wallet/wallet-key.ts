/** A wallet's own key as it is in agent.db, and the digest of its seed: both by the agent key. */
import { keyedDigest, seal, unseal, withSealKey } from '../base/seal.ts'

/** Wraps a wallet's key (32 bytes) for the row of the wallet. Base64url. */
export function wrapWalletKey(agentKey: Uint8Array, id: string, key: Uint8Array): string {
  return withSealKey(agentKey, 'wallet-keys', (walletKeys) => seal(walletKeys, `wallet:${id}`, key))
}

/** The key of a wallet. @throws when it was wrapped for another wallet, or by another agent. */
export function unwrapWalletKey(agentKey: Uint8Array, id: string, wrapped: string): Uint8Array {
  return withSealKey(agentKey, 'wallet-keys', (walletKeys) => unseal(walletKeys, `wallet:${id}`, wrapped))
}

/** A digest by which a seed (64 bytes) is found again, so that none is used twice. Base64url. */
export function seedDigestOf(agentKey: Uint8Array, seed: Uint8Array): string {
  return withSealKey(agentKey, 'seed-digest', (key) => keyedDigest(key, Buffer.from(seed).toString('hex')))
}
