/** Documents of ISO/IEC 18013-5 for people: the Mobile Security Object, and the elements without their bytes. */
import { toHex } from '../../foundation/bytes.ts'
import { type CborValue, Embedded, Tagged } from '../../foundation/cbor/index.ts'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import {
  claimsOf,
  type IssuerSigned,
  type Item,
  type Mso,
} from '../../credentials/formats/mdoc/issuer-signed.ts'
import { fullDateTag, tdateTag, toJson } from '../../credentials/formats/mdoc/values.ts'
import { type Facts, idOf, timeOf } from './decoded.ts'

/** Its dates, its keys, and where its status is. */
export function msoFacts(mso: Mso): Facts {
  const { validity, deviceKey, authorized, digestAlgorithm } = mso
  const elements = [...authorized.elements].flatMap(([namespace, ids]) =>
    ids.map((id) => `${namespace} ${id}`),
  )
  return {
    'digest algorithm': digestAlgorithm,
    signed: timeOf(validity.signed),
    'valid from': timeOf(validity.validFrom),
    expires: timeOf(validity.validUntil),
    'expected update': timeOf(validity.expectedUpdate),
    holder: `bound to a key on ${deviceKey.crv}`,
    'device may sign': [...authorized.namespaces, ...elements],
    status: statusesOf(toJson(mso.status as CborValue)),
  }
}

/** The lists that a status refers to, and its other members by name. */
function statusesOf(status: unknown): string[] {
  if (!isJsonObject(status)) return []
  return Object.entries(status).map(([name, value]) => {
    const { idx, id, uri } = isJsonObject(value) ? value : {}
    if (name === 'status_list') return `index ${idOf(idx)} of ${idOf(uri)}`
    return name === 'identifier_list'
      ? `identifier ${idOf(id)} of ${idOf(uri)}`
      : `${name}, which is not known`
  })
}

/** The most ids of digests in a line. */
const maxIds = 20

/** For each namespace, the digests whose items are not there. */
export function missingOf({ items, mso }: IssuerSigned): string[] {
  return [...mso.digests].flatMap(([namespace, digests]) => {
    const shown = new Set(items.flatMap((item) => (item.namespace === namespace ? item.digestId : [])))
    const missing = [...digests.keys()].filter((id) => !shown.has(id)).toSorted((a, b) => a - b)
    if (missing.length === 0) return []
    const ids = missing.slice(0, maxIds).join(', ')
    const more = missing.length > maxIds ? ', …' : ''
    return [`${namespace}: ${missing.length} of ${digests.size} (digests ${ids}${more})`]
  })
}

/** The elements by namespace in JSON for people. Byte strings are described. */
export function elementsOf(items: readonly Item[]): JsonObject {
  return claimsOf(items.map(({ namespace, id, value }) => ({ namespace, id, value: shownValue(value) })))
}

/** A value whose byte strings are texts, and whose tags are named, apart from those of dates. */
function shownValue(value: CborValue): CborValue {
  if (value instanceof Uint8Array) return describeBytes(value)
  if (value instanceof Embedded) return `embedded CBOR, ${sizeOf(value.content)}`
  if (Array.isArray(value)) return value.map(shownValue)
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, shownValue(each)]))
  if (!(value instanceof Tagged)) return value
  const content = shownValue(value.value)
  const isDate = value.tag === tdateTag || value.tag === fullDateTag
  return isDate ? content : new Map([[`tag ${value.tag}`, content]])
}

/** The first bytes of pictures in hex. */
const pictures: readonly [begin: string, name: string][] = [
  ['ffd8ff', 'JPEG'],
  ['0000000c6a502020', 'JPEG 2000'],
  ['ff4fff51', 'JPEG 2000'],
  ['89504e47', 'PNG'],
]

/** Longer byte strings are described by their size. */
const maxBytes = 32

function describeBytes(bytes: Uint8Array): string {
  const begin = toHex(bytes.subarray(0, 8))
  const picture = pictures.find(([first]) => begin.startsWith(first))
  if (picture) return `${picture[1]}, ${sizeOf(bytes)}`
  return bytes.length > maxBytes ? sizeOf(bytes) : `h'${toHex(bytes)}'`
}

const sizeOf = ({ length }: Uint8Array) => `${length.toLocaleString('en')} bytes`
