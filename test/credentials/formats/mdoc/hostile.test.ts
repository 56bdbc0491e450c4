/** Hostile documents: each is refused with a reason, and no reader fails in another way. */
import { expect, test } from 'vitest'
import { fromBase64, fromHex, toBase64url } from '../../../../src/foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  embed,
  encodeCbor,
  Tagged,
} from '../../../../src/foundation/cbor/index.ts'
import { unknownStatusEntry } from '../../../../src/credentials/codecs/token-status-list.ts'
import { VerificationError } from '../../../../src/credentials/codecs/verification-error.ts'
import { decodeMdoc } from '../../../../src/credentials/formats/mdoc/decode.ts'
import { at, order } from '../../../support/mdoc.ts'
import { changeItem, type Forgery, issueForged, items, judge, map, present, set } from './_documents.ts'

const good = fromBase64(present())

/** The distance of the bytes that change. It is prime, so that different members are met. */
const step = 37
const places = Array.from({ length: Math.ceil(good.length / step) }, (_, index) => index * step)

const changes: [string, (bytes: Uint8Array, place: number) => Uint8Array][] = [
  ['a bit', (bytes, place) => bytes.with(place, bytes[place]! ^ 1)],
  ['the type of an item', (bytes, place) => bytes.with(place, bytes[place]! ^ 0x20)],
  ['a length', (bytes, place) => bytes.with(place, bytes[place]! | 0x1b)],
  ['a break', (bytes, place) => bytes.with(place, 0xff)],
  ['cut off', (bytes, place) => bytes.subarray(0, place)],
  [
    'a byte more',
    (bytes, place) => Buffer.concat([bytes.subarray(0, place), Buffer.of(0), bytes.subarray(place)]),
  ],
]

test.each(changes)('no presentation passes: %s', async (_, change) => {
  const passed: number[] = []
  for (const place of places) {
    const changed = change(Uint8Array.from(good), place)
    if (Buffer.compare(changed, good) === 0) continue
    const { failed, warnings } = await judge(toBase64url(changed))
    // One bit makes a detached payload undefined instead of null, which is accepted with a warning.
    if (failed === undefined && warnings.length === 0) passed.push(place)
  }
  expect(passed).toEqual([])
})

test.each(changes)('a wallet reads a credential or refuses it: %s', (_, change) => {
  const credential = encodeCbor(issueForged())
  for (let place = 0; place < credential.length; place += step) {
    const text = toBase64url(change(Uint8Array.from(credential), place))
    try {
      decodeMdoc(text).signed.checkDigests!()
    } catch (error) {
      expect(error).toBeInstanceOf(VerificationError)
    }
  }
})

const nested = (depth: number, byte: number) => Buffer.concat([Buffer.alloc(depth, byte), Buffer.of(0)])
const value = (given: Parameters<typeof set>[1]): Forgery =>
  items((own) => void own.splice(0, 1, changeItem(own[0], set('elementValue', given))))

test.each<[string, Uint8Array]>([
  ['arrays nested 100,000 deep', nested(100_000, 0x81)],
  ['tags nested 100,000 deep', nested(100_000, 0xc0)],
  ['a map of 2^53', fromHex('bb0020000000000000')],
  ['a byte string of 2^64 - 1', fromHex('5bffffffffffffffff')],
  ['an array of 2^32 - 1', fromHex('9affffffff')],
  ['20,000 items', Buffer.concat([fromHex('994e20'), Buffer.alloc(20_000, 0xf6)])],
  ['text that is not UTF-8', fromHex('a162c328f6')],
  ['NaN as key', fromHex('a1f97e0000')],
  ['a key twice', fromHex('a2616100616100')],
  ['an endless array', Buffer.alloc(10_000, 0x9f)],
  ['a map', encodeCbor(new Map())],
  ['a number', encodeCbor(1)],
  ['null', encodeCbor(null)],
  ['a bignum', encodeCbor(new Tagged(2, new Uint8Array(100)))],
  ['a document that is null', encodeCbor(map({ version: '1.0', documents: [null], status: 0 }))],
  ['documents that are a map', encodeCbor(map({ version: '1.0', documents: new Map(), status: 0 }))],
  ['a status that is huge', encodeCbor(map({ version: '1.0', status: 2n ** 60n }))],
])('malformed: %s', async (_, bytes) => {
  expect(await judge(toBase64url(bytes))).toMatchObject({ failed: 'form', passed: [] })
  expect(() => decodeMdoc(toBase64url(bytes))).toThrow(expect.objectContaining({ code: 'malformed' }))
})

test.each<[string, Forgery, (typeof order)[number]]>([
  ['a value nested too deep', value(deep(20)), 'form'],
  ['a value that is a bignum', value(new Tagged(2, new Uint8Array(4_000))), 'digests'],
  ['a value that is NaN', value(NaN), 'digests'],
  ['a value that is undefined', value(undefined), 'digests'],
  [
    'a value with maps as keys of JSON',
    value(new Map([[new Uint8Array(9), new Map([[-1, 1n]])]])),
    'digests',
  ],
  [
    'an MSO whose docType is huge',
    { mso: set('docType', 'a'.repeat(65_537)), document: set('docType', 'a'.repeat(65_537)) },
    'form',
  ],
  [
    'a certificate that is none',
    {
      issuerAuth: ([head, , ...rest]) => [head, new Map([[33, new Uint8Array(100)]]), ...rest],
    },
    'trust',
  ],
  [
    'eleven certificates',
    {
      issuerAuth: ([head, , ...rest]) => [
        head,
        new Map([[33, Array.from({ length: 11 }, () => new Uint8Array(1))]]),
        ...rest,
      ],
    },
    'form',
  ],
  [
    'namespaces of the device that are no map',
    {
      document: (document) =>
        void (at(document, 'deviceSigned') as CborMap).set('nameSpaces', embed(encodeCbor(1))),
    },
    'form',
  ],
  [
    'an element named __proto__',
    items((own) => void own.push(changeItem(own[0], set('elementIdentifier', '__proto__')))),
    'disclosure',
  ],
  ['a namespace named __proto__', { claims: { ['__proto__']: { family_name: 'Doe' } } }, 'query'],
  ['a status that is text', { mso: set('status', 'good') }, 'status'],
])('refused: %s', async (_, forgery, check) => {
  const checkStatus = ({ type }: { type: string }) =>
    type === unknownStatusEntry ? Promise.reject(new Error('it is of no known kind')) : Promise.resolve()
  const { failed, passed, reason } = await judge(present(forgery), { checkStatus })
  expect({ failed, passed }, reason).toEqual({ failed: check, passed: order.slice(0, order.indexOf(check)) })
})

function deep(depth: number): CborValue {
  return depth === 0 ? 1 : [deep(depth - 1)]
}
