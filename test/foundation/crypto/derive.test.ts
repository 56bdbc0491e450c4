import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toHex } from '../../../src/foundation/bytes.ts'
import { createDerivation, deriveKey } from '../../../src/foundation/crypto/derive.ts'
import { compressed } from '../../../src/foundation/crypto/secp256k1.ts'

const { deterministic } = JSON.parse(
  readFileSync(new URL('../../../fixtures/did-prism/worked.json', import.meta.url), 'utf8'),
) as {
  deterministic: { seed: string; keys: { path: string; privateKey: string; publicKey: string }[] }
}
const seed = fromHex(deterministic.seed)

describe('keys of a wallet seed', () => {
  test.each(deterministic.keys)('$path is the published key', ({ path, privateKey, publicKey }) => {
    const [didIndex, usage, keyIndex] = path.match(/\d+/g)!.slice(2).map(Number)
    const key = deriveKey(seed, { didIndex: didIndex!, usage: usage!, keyIndex: keyIndex! })
    expect(toHex(fromBase64(key.d))).toBe(privateKey)
    expect(toHex(compressed(key))).toBe(publicKey)
  })

  test('every part of the path changes the key', () => {
    const paths = [
      { didIndex: 0, usage: 1, keyIndex: 0 },
      { didIndex: 1, usage: 1, keyIndex: 0 },
      { didIndex: 0, usage: 2, keyIndex: 0 },
      { didIndex: 0, usage: 1, keyIndex: 1 },
    ]
    expect(new Set(paths.map((path) => deriveKey(seed, path).d)).size).toBe(4)
  })

  test('a derivation returns the same keys, with and without its cache', () => {
    const derivation = createDerivation(seed)
    const paths = [0, 1, 0, 0, 2].flatMap((didIndex) =>
      [1, 4].map((usage) => ({ didIndex, usage, keyIndex: didIndex })),
    )
    for (const path of paths) {
      expect(derivation.key(path)).toEqual(deriveKey(seed, path))
      expect(() => derivation.key({ ...path, keyIndex: -1 })).toThrow(RangeError)
    }
    derivation.forget()
    for (const path of paths) expect(derivation.key(path)).toEqual(deriveKey(seed, path))
  })

  test.each([-1, 0.5, 2 ** 31, Number.NaN])('an index of %s is refused', (index) => {
    expect(() => deriveKey(seed, { didIndex: index, usage: 1, keyIndex: 0 })).toThrow(RangeError)
    expect(() => deriveKey(seed, { didIndex: 0, usage: 1, keyIndex: index })).toThrow(RangeError)
  })

  test.each([0, 32, 63, 65])('a seed of %i bytes is refused', (length) => {
    expect(() => deriveKey(new Uint8Array(length), { didIndex: 0, usage: 1, keyIndex: 0 })).toThrow(TypeError)
  })
})
