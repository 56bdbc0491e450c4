/** Bytes in text: hex, base64url or base64 of CBOR. */
import { fromBase64, fromHex } from '../../foundation/bytes.ts'
import { CborError, type CborValue, diagnose, scanCbor, Tagged } from '../../foundation/cbor/index.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { toKey } from '../../credentials/formats/mdoc/values.ts'
import { type Decoded, decodedOf, DecodeError } from './decoded.ts'

/** Bytes, and the encoding that they were in. */
export type Binary = { bytes: Uint8Array; encoding: 'hex' | 'base64url' | 'base64' }

/** The bytes of a text in hex or base64. The first that are CBOR, if the text can be both. */
export function findBinary(text: string): (Binary & { fault?: string }) | undefined {
  const read = [
    (): Binary => ({ bytes: fromHex(text), encoding: 'hex' }),
    (): Binary => ({ bytes: fromBase64(text), encoding: /[+/=]/.test(text) ? 'base64' : 'base64url' }),
  ].flatMap((each) => {
    try {
      return [each()]
    } catch {
      return []
    }
  })
  const all = read.map((each) => ({ ...each, ...faultOf(each.bytes) }))
  return all.find(({ fault }) => fault === undefined) ?? all[0]
}

function faultOf(bytes: Uint8Array): { fault?: string } {
  try {
    scanCbor(bytes)
    return {}
  } catch (error) {
    if (!(error instanceof CborError)) throw error
    return { fault: reasonOf(error) }
  }
}

/** Any CBOR in diagnostic notation, with the offsets of its items. @throws {DecodeError} */
export function notationOf(text: string): Decoded {
  const { bytes, encoding, fault } = findBinary(text) ?? {}
  if (!bytes || fault !== undefined)
    throw new DecodeError(`The text is not CBOR in hex or base64: ${fault ?? 'it has other characters'}`)
  return decodedOf(
    'cbor',
    'CBOR',
    { encoding, bytes: bytes.length },
    { content: { notation: diagnose(bytes, { offsets: true }) } },
  )
}

/** What a structure is read from: its value, and its bytes as they were given. */
export type Given = Binary & { value: CborValue }

const maxShown = 10

/** What a value is, in a few words. */
export function describe(value: CborValue): string {
  if (value instanceof Map) {
    const names = [...value.keys()].slice(0, maxShown).map((key) => shorten(toKey(key)))
    return `a map with the members ${names.join(', ') || '(none)'}`
  }
  if (Array.isArray(value)) {
    const [first] = value
    const begin = typeof first === 'string' ? `, which begins with the text ${shorten(first)}` : ''
    return `an array of ${value.length}${begin}`
  }
  if (value instanceof Uint8Array) return `a byte string of ${value.length} bytes`
  if (value instanceof Tagged) return `tag ${value.tag} with ${describe(value.value)}`
  return typeof value === 'string' ? 'a text' : 'a single value'
}

const shorten = (text: string) => text.slice(0, 50)
