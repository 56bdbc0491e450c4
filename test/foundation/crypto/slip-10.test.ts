/** Derivation of P-256 keys: the published vectors of SLIP-0010, and the paths of wallets. */
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toHex } from '../../../src/foundation/bytes.ts'
import { createDerivation, deriveKey } from '../../../src/foundation/crypto/derive.ts'
import { sign, toPublic, verify } from '../../../src/foundation/crypto/keys.ts'
import { fromPrivateBytes } from '../../../src/foundation/crypto/p256.ts'
import { compressed } from '../../../src/foundation/crypto/secp256k1.ts'
import { childNode, hardened, masterNode, type Node } from '../../../src/foundation/crypto/slip-10.ts'
import { named, readPublished, type PublishedVector } from '../../support/vectors.ts'

type Vector = PublishedVector & {
  seed: string
  nodes: { path: string; chainCode: string; private: string; public: string }[]
}
const { vectors } = readPublished('slip-0010') as { vectors: Vector[] }

/** The index of a part of a path, such as `1` or `2'`. */
const indexOf = (part: string) => parseInt(part, 10) + (part.endsWith("'") ? hardened : 0)
const shown = ({ key, chainCode }: Node) => ({
  chainCode: toHex(chainCode),
  private: toHex(key),
  public: toHex(compressed(fromPrivateBytes(key))),
})

test.each(named(vectors))('SLIP-0010: %s', (_, { seed, nodes }) => {
  for (const { path, ...node } of nodes) {
    const below = path.split('/').slice(1)
    const derived = below.reduce((above, part) => childNode(above, indexOf(part)), masterNode(fromHex(seed)))
    expect(shown(derived), path).toEqual(node)
  }
})

describe('P-256 keys of a wallet seed', () => {
  const seed = new Uint8Array(64).fill(7)
  const path = { curve: 'P-256', didIndex: 3, usage: 2, keyIndex: 1 } as const

  test('are those of the path, and sign', () => {
    const key = deriveKey(seed, path)
    const node = [29, 29, 3, 2, 1].reduce((above, i) => childNode(above, hardened + i), masterNode(seed))
    expect(toHex(fromBase64(key.d))).toBe(toHex(node.key))
    const data = new Uint8Array(9)
    expect(verify(toPublic(key), data, sign(key, data))).toBe(true)
  })

  test('differ by curve, and by each part of the path', () => {
    const derivation = createDerivation(seed)
    const paths = [
      path,
      { ...path, curve: 'secp256k1' as const },
      { ...path, didIndex: 4 },
      { ...path, usage: 4 },
      { ...path, keyIndex: 2 },
    ]
    expect(new Set(paths.map((each) => derivation.key(each).d)).size).toBe(5)
    expect(derivation.key(path)).toEqual(deriveKey(seed, path))
    expect(() => derivation.key({ ...path, keyIndex: -1 })).toThrow(RangeError)
  })
})
