/**
 * Derives P-256 keys from a seed by SLIP-0010, which generalizes BIP-32: another salt for the master key, and
 * another curve.
 */
import { createHmac } from 'node:crypto'
import { concat, fromHex, toHex, utf8 } from '../bytes.ts'
import type { PrivateJwk } from './keys.ts'
import { fromPrivateBytes } from './p256.ts'
import { compressed } from './secp256k1.ts'

/** A key with what its children are derived with: 32 bytes each. */
export type Node = { key: Uint8Array; chainCode: Uint8Array }

/** The order of P-256 (SEC 2 §2.4.2). */
const order = 0xffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551n

/** Indexes from here on are hardened. */
export const hardened = 2 ** 31

export function masterNode(seed: Uint8Array): Node {
  for (let data = seed; ;) {
    const { left, right } = hmac(utf8('Nist256p1 seed'), data)
    const number = toNumber(left)
    if (number !== 0n && number < order) return { key: left, chainCode: right }
    data = concat(left, right)
  }
}

/** The child of a node at an index from 0 to 2^32-1. */
export function childNode({ key, chainCode }: Node, index: number): Node {
  const number = Buffer.alloc(4)
  number.writeUInt32BE(index)
  const parent = index >= hardened ? concat(Uint8Array.of(0), key) : compressed(fromPrivateBytes(key))
  for (let data = concat(parent, number); ;) {
    const { left, right } = hmac(chainCode, data)
    const [step, sum] = [toNumber(left), (toNumber(left) + toNumber(key)) % order]
    if (step < order && sum !== 0n) return { key: toBytes(sum), chainCode: right }
    data = concat(Uint8Array.of(1), right, number)
  }
}

/** The key pair below a seed at a path of hardened indexes, given without the bit that makes them hardened. */
export function deriveP256Key(seed: Uint8Array, path: readonly number[]): PrivateJwk {
  let node = masterNode(seed)
  for (const index of path) {
    const { key, chainCode } = node
    node = childNode(node, hardened + index)
    key.fill(0)
    chainCode.fill(0)
  }
  try {
    return fromPrivateBytes(node.key)
  } finally {
    node.key.fill(0)
  }
}

function hmac(key: Uint8Array, data: Uint8Array): { left: Uint8Array; right: Uint8Array } {
  const digest = createHmac('sha512', key).update(data).digest()
  return { left: digest.subarray(0, 32), right: digest.subarray(32) }
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`)
}

function toBytes(number: bigint): Uint8Array {
  return fromHex(number.toString(16).padStart(64, '0'))
}
