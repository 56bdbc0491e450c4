/** CBOR: the examples of RFC 8949 Appendix A, exact bytes, and input that is refused. */
import { describe, expect, test } from 'vitest'
import { decode as decodeTheirs, encode, rfc8949EncodeOptions } from 'cborg'
import fc from 'fast-check'
import { fromHex, toHex } from '../../../src/foundation/bytes.ts'
import {
  CborError,
  type CborLimits,
  type CborValue,
  decodeCbor,
  embed,
  Embedded,
  encodeCbor,
  scanCbor,
  Tagged,
} from '../../../src/foundation/cbor/index.ts'
import { readMdoc } from '../../support/mdoc.ts'

const decode = (hex: string, limits?: Partial<CborLimits>) => decodeCbor(fromHex(hex), limits)
const bytes = (hex: string) => new Uint8Array(fromHex(hex))
const map = (...entries: [CborValue, CborValue][]) => new Map(entries)

/** Of RFC 8949 Appendix A, in the shortest form. */
const examples: [hex: string, value: CborValue][] = [
  ['00', 0],
  ['17', 23],
  ['1818', 24],
  ['1864', 100],
  ['1903e8', 1_000],
  ['1a000f4240', 1_000_000],
  ['1b000000e8d4a51000', 1_000_000_000_000],
  ['1bffffffffffffffff', 18_446_744_073_709_551_615n],
  ['3bffffffffffffffff', -18_446_744_073_709_551_616n],
  ['20', -1],
  ['3863', -100],
  ['3903e7', -1_000],
  ['fb3ff199999999999a', 1.1],
  ['fb7e37e43c8800759c', 1e300],
  ['fbc010666666666666', -4.1],
  ['f4', false],
  ['f5', true],
  ['f6', null],
  ['f7', undefined],
  ['c249010000000000000000', new Tagged(2, bytes('010000000000000000'))],
  ['c074323031332d30332d32315432303a30343a30305a', new Tagged(0, '2013-03-21T20:04:00Z')],
  ['d9ffff01', new Tagged(65_535, 1)],
  ['d818456449455446', new Embedded(bytes('d818456449455446'), bytes('6449455446'))],
  ['40', bytes('')],
  ['4401020304', bytes('01020304')],
  ['60', ''],
  ['62225c', '"\\'],
  ['62c3bc', 'ü'],
  ['63e6b0b4', '水'],
  ['64f0908591', '𐅑'],
  ['80', []],
  ['8301820203820405', [1, [2, 3], [4, 5]]],
  ['a0', map()],
  ['a201020304', map([1, 2], [3, 4])],
  ['a1413102', map([bytes('31'), 2])],
  ['a26161016162820203', map(['a', 1], ['b', [2, 3]])],
  ['826161a161626163', ['a', map(['b', 'c'])]],
]

test.each(examples)('%s is read and written', (hex, value) => {
  expect(decode(hex)).toEqual(value)
  expect(toHex(encodeCbor(value))).toBe(hex)
})

test.each<[hex: string, value: CborValue]>([
  ['f93e00', 1.5],
  ['f98000', -0],
  ['fbc000000000000000', -2],
  ['f97bff', 65_504],
  ['f9fc00', -Infinity],
  ['f90001', 5.960_464_477_539_063e-8],
  ['f97c00', Infinity],
  ['f97e00', NaN],
  ['fa7f7fffff', 3.402_823_466_385_288_6e38],
  ['9fff', []],
  ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
  ['bf61610161629f0203ffff', map(['a', 1], ['b', [2, 3]])],
  ['b9000201020304', map([1, 2], [3, 4])],
])('%s is read, and written otherwise', (hex, value) => {
  expect(decode(hex)).toEqual(value)
  expect(toHex(encodeCbor(value))).not.toBe(hex)
})

test('integers from 2^53 are bigint', () => {
  expect(decode('1b001fffffffffffff')).toBe(Number.MAX_SAFE_INTEGER)
  expect(decode('1b0020000000000000')).toBe(2n ** 53n)
  expect(decode('3b001ffffffffffffe')).toBe(Number.MIN_SAFE_INTEGER)
  expect(toHex(encodeCbor(2n ** 53n))).toBe('1b0020000000000000')
  expect(toHex(encodeCbor(-1n))).toBe('20')
  expect(() => encodeCbor(2n ** 64n)).toThrow(RangeError)
})

test('a text may have the character that stands for what is no UTF-8', () => {
  expect(decode('63efbfbd')).toBe('\uFFFD')
  expect(decode('63efbbbf')).toBe('\uFEFF')
})

test('the keys of a map are written in the order of their bytes', () => {
  const value = map(['aa', 1], ['b', 2], [100, 3], [-1, 4], [10, 5], [bytes('00'), 6])
  expect(toHex(encodeCbor(value))).toBe(`a60a05186403200441000661620262616101`)
})

/** Values without floats that are integers, which have two forms. */
const values = fc.letrec<{ value: CborValue; key: CborValue }>((tie) => ({
  key: fc.oneof(fc.maxSafeInteger(), fc.string({ unit: 'grapheme', maxLength: 30 })),
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 8 },
    tie('key'),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
    fc.bigInt({ min: -(2n ** 64n), max: -(2n ** 53n) }),
    fc.double().filter((number) => !Number.isInteger(number) || Math.abs(number) > 2 ** 53),
    fc.constantFrom(true, false, null, undefined),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 30 }),
    fc.array(fc.tuple(tie('key'), tie('value')), { maxLength: 30 }).map((entries) => new Map(entries)),
  ),
})).value

test('another implementation writes the same bytes, and its values are read', () => {
  fc.assert(
    fc.property(values, (value) => {
      const theirs = encode(value, { ...rfc8949EncodeOptions, float64: true })
      expect(toHex(encodeCbor(value))).toBe(toHex(theirs))
      const read = decodeCbor(encode(value))
      expect(toHex(encodeCbor(read))).toBe(toHex(theirs))
      expect(read).toEqual(decodeTheirs(theirs, { useMaps: true, tags: {} }))
    }),
    { numRuns: 500 },
  )
})

describe('a byte string with tag 24', () => {
  test.each(['d818456449455446', 'd9001858056449455446'])('keeps its bytes: %s', (hex) => {
    const list = decode(`82${hex}01`) as [Embedded, number]
    expect(toHex(list[0].bytes)).toBe(hex)
    expect(toHex(list[0].content)).toBe('6449455446')
    expect(toHex(encodeCbor(list))).toBe(`82${hex}01`)
  })

  test('is made in the shortest form', () => {
    expect(toHex(embed(fromHex('a0')).bytes)).toBe('d81841a0')
    const long = embed(new Uint8Array(300))
    expect(toHex(long.bytes.subarray(0, 5))).toBe('d81859012c')
    expect(toHex(encodeCbor(decodeCbor(long.bytes)))).toBe(toHex(long.bytes))
  })

  test('in a tag, in a key or in a tag 24 is found too', () => {
    const value = decode('c1a201d818416102d81841d8')
    expect(toHex(encodeCbor(value))).toBe('c1a201d818416102d81841d8')
  })
})

const hostile: [what: string, hex: string, reason: string, limits?: Partial<CborLimits>][] = [
  ['nothing', '', 'the data ends too early at byte 0'],
  ['200 arrays in each other', '81'.repeat(200), 'nested deeper than 16 at byte 16'],
  ['200 tags in each other', 'c1'.repeat(200), 'nested deeper than 16 at byte 16'],
  ['20,000 arrays in each other', `${'81'.repeat(20_000)}01`, 'nested deeper than 16 at byte 16'],
  ['20,000 endless arrays', '9f'.repeat(20_000), 'nested deeper than 16 at byte 16'],
  ['an array of 2^32', '9b0000000100000000', 'an array of 4294967296, for which 0 bytes are left, at byte 0'],
  ['an array of 2^64 − 1', `9b${'ff'.repeat(8)}00`, 'an array of 18446744073709551615, for which 1 bytes'],
  ['a map of 2^31', 'ba800000000000', 'a map of 2147483648, for which 2 bytes are left'],
  [
    'a byte string of 2^32',
    '5b000000010000000000',
    'a byte string of 4294967296 bytes, of which 1 are there',
  ],
  [
    'a text of 2^64 − 1',
    `7b${'ff'.repeat(8)}61`,
    'a text of 18446744073709551615 bytes, of which 1 are there',
  ],
  ['10,001 items', `992711${'00'.repeat(10_001)}`, 'more than 10000 data items at byte 10002'],
  ['a long text', '7a00010001'.padEnd(2 * 65_542, '61'), 'a text of 65537 bytes, more than 65536, at byte 0'],
  [
    'a long key',
    `a15a00010001${'61'.repeat(65_537)}00`,
    'a map key of 65537 bytes, more than 65536, at byte 1',
  ],
  ['a long byte string', '4401020304', 'a byte string of 4 bytes, more than 3, at byte 0', { byteString: 3 }],
  ['many bytes', '8200', '2 bytes, more than 1, at byte 0', { bytes: 1 }],
  ['a cut array', '8200', 'an array of 2, for which 1 bytes are left, at byte 0'],
  ['a cut map', 'a101', 'a map of 1, for which 1 bytes are left, at byte 0'],
  ['a cut head', '1901', 'the data ends too early at byte 0'],
  ['a cut float', 'fb0000', 'the data ends too early at byte 0'],
  ['an array without its end', '9f01', 'the data ends too early at byte 2'],
  ['more after the end', '0000', 'more data after the end at byte 1'],
  ['text that is not UTF-8', '8161ff', 'a text that is not UTF-8 at byte 1'],
  ['a surrogate in a text', '63eda080', 'a text that is not UTF-8 at byte 0'],
  ['a text of indefinite length', '7f6161ff', 'a text of indefinite length at byte 0'],
  ['a byte string of indefinite length', '815f4161ff', 'a byte string of indefinite length at byte 1'],
  ['NaN as key', 'a1f97e0001', 'a map key that is neither an integer nor a text nor a byte string at byte 1'],
  [
    'an array as key',
    'a1800001',
    'a map key that is neither an integer nor a text nor a byte string at byte 1',
  ],
  ['a number twice as key', 'a20100180102', 'a map key that occurs twice at byte 3'],
  ['a text twice as key', 'bf616101616102ff', 'a map key that occurs twice at byte 4'],
  ['bytes twice as key', 'a24161014161f6', 'a map key that occurs twice at byte 4'],
  ['a key without a value', 'bf01ff', 'a break without a beginning at byte 2'],
  ['a break alone', 'ff', 'a break without a beginning at byte 0'],
  ['a break in an array', '82ff00', 'a break without a beginning at byte 1'],
  ['a reserved head', '1c', 'the reserved head 1c at byte 0'],
  ['an integer without a value', '1f', 'an integer without a value at byte 0'],
  ['a tag without a number', 'df00', 'a tag that is not a number below 2^53 at byte 0'],
  ['a tag of 2^64 − 1', `db${'ff'.repeat(8)}00`, 'a tag that is not a number below 2^53 at byte 0'],
  ['tag 24 without a byte string', 'd8186161', 'tag 24 without a byte string at byte 0'],
  ['an unassigned simple value', 'f0', 'the unassigned simple value 16 at byte 0'],
  ['a simple value in two bytes', 'f8ff', 'the unassigned simple value 255 at byte 0'],
]

describe('decoding refuses', () => {
  test.each(hostile)('%s', (_what, hex, reason, limits) => {
    expect(() => decode(hex, limits)).toThrow(reason)
  })

  test('an error names its offset', () => {
    const error = failure(() => decode('8261ff00'))
    expect(error).toBeInstanceOf(CborError)
    expect(error).toMatchObject({ offset: 1 })
  })

  test('whatever is cut off or has a byte changed: an error of this kind, or a value that can be written', () => {
    const { values } = readMdoc('annex-d') as { values: Record<'device_request', string> }
    const whole = fromHex(values.device_request)
    const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length))
    fc.assert(
      fc.property(change, ([place, byte, end]) => {
        const changed = Uint8Array.from(whole)
        changed[place] = byte
        isRefusedOrStable(changed.subarray(0, end > place ? end : undefined))
      }),
      { numRuns: 2_000 },
    )
  })

  test('arbitrary bytes: an error of this kind, or a value that can be written', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), isRefusedOrStable), { numRuns: 5_000 })
  })
})

function isRefusedOrStable(data: Uint8Array): void {
  let value: CborValue
  try {
    value = decodeCbor(data)
  } catch (error) {
    if (error instanceof CborError) return
    throw error
  }
  const written = encodeCbor(value)
  expect(toHex(encodeCbor(decodeCbor(written)))).toBe(toHex(written))
}

function failure(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

describe('a strict reader finds', () => {
  test.each([
    ['nothing in the shortest form', 'a2026161016162', []],
    [
      'long heads',
      '82190001b80118186161',
      [
        ['long-head', 1],
        ['long-head', 4],
      ],
    ],
    ['a long length', '5803010203', [['long-head', 0]]],
    ['a long tag', 'd9001841a0', [['long-head', 0]]],
    ['no long float', 'fb3ff0000000000000', []],
    [
      'indefinite lengths',
      '9fbf01f6ffff',
      [
        ['indefinite', 0],
        ['indefinite', 1],
      ],
    ],
    ['undefined', '82f6f7', [['undefined', 2]]],
  ])('%s', (_what, hex, found) => {
    expect(scanCbor(fromHex(hex)).map(({ name, offset }) => [name, offset])).toEqual(found)
  })
})
