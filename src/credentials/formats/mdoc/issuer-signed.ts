/**
 * What the issuer of a document has signed: the items, and the Mobile Security Object with their digests
 * (ISO/IEC 18013-5 §8.3.2.1.2.2, §9.1.2.4). Everything keeps the bytes that the issuer made.
 */
import { hash } from 'node:crypto'
import * as z from 'zod'
import type { JsonObject } from '../../../foundation/json.ts'
import { type CborMap, type CborValue, decodeCbor, Embedded, Tagged } from '../../../foundation/cbor/index.ts'
import {
  algorithmOf,
  type CoseAlgorithm,
  type CoseSign1,
  fromCoseKey,
  readSign1,
  readX5chain,
} from '../../../foundation/cose/index.ts'
import type { PublicJwk } from '../../../foundation/crypto/keys.ts'
import { VerificationError } from '../../codecs/verification-error.ts'
import {
  Bytes,
  malformed,
  members,
  type Note,
  noteIn,
  parse,
  Text,
  Value,
  warnerOf,
  within,
} from './reading.ts'
import { isDate, tdateTag, toJson } from './values.ts'

/** One element of a namespace, with its salt. `bytes` are the tagged byte string that its digest covers. */
export type Item = {
  namespace: string
  id: string
  value: CborValue
  digestId: number
  embedded: Embedded
}

/** Epoch seconds. */
type ValidityInfo = { signed: number; validFrom: number; validUntil: number; expectedUpdate?: number }

/** The Mobile Security Object (ISO/IEC 18013-5 §9.1.2.4). */
export type Mso = {
  docType: string
  digestAlgorithm: string
  digests: ReadonlyMap<string, ReadonlyMap<number, Uint8Array>>
  deviceKey: PublicJwk
  /** What the device may sign itself: whole namespaces, and elements by namespace. */
  authorized: { namespaces: readonly string[]; elements: ReadonlyMap<string, readonly string[]> }
  validity: ValidityInfo
  status: unknown
}

export type IssuerSigned = {
  items: readonly Item[]
  issuerAuth: CoseSign1
  algorithm: CoseAlgorithm
  /** DER in base64, the signer's certificate first. */
  x5c: string[] | undefined
  mso: Mso
  /** The object as it was decoded, for people. */
  whole: CborValue
  /** Faults that do not matter for what is verified. */
  warnings: string[]
}

/** The limits of a document. */
const [maxNamespaces, maxElements, maxId, maxDigestId] = [64, 1_000, 255, 2 ** 32 - 1]
/** The least salt that is accepted, and that of the standard, in bytes. */
const [leastRandom, standardRandom] = [8, 16]

const Uint = z
  .int('is not an unsigned integer from 0 to 4294967295')
  .min(0, 'is negative')
  .max(maxDigestId, 'is above 4294967295')

const IssuerSignedMap = members({
  nameSpaces: z.map(Text, z.array(Value, 'is not an array')).nullish(),
  issuerAuth: Value,
})

const ItemMap = members({
  digestID: Uint,
  random: Bytes,
  elementIdentifier: Text.min(1).max(maxId),
  elementValue: Value,
})

const MsoMap = members({
  version: Text,
  digestAlgorithm: z.enum(['SHA-256', 'SHA-384', 'SHA-512'], 'is not SHA-256, SHA-384 or SHA-512'),
  valueDigests: z.map(Text, z.map(Uint, Bytes)),
  deviceKeyInfo: members({
    deviceKey: z.custom<CborMap>((value) => value instanceof Map, 'is not a map'),
    keyAuthorizations: members({
      nameSpaces: z.array(Text).nullish(),
      dataElements: z.map(Text, z.array(Text)).nullish(),
    }).nullish(),
  }),
  docType: Text.min(1),
  validityInfo: members({
    signed: Value,
    validFrom: Value,
    validUntil: Value,
    expectedUpdate: Value.optional(),
  }),
  status: Value.optional(),
})

/**
 * Reads the credential of OpenID4VCI, which is the issuer's part of a document. Verifies nothing.
 *
 * @throws {VerificationError} `malformed` with the place
 */
export function readIssuerSigned(value: CborValue): IssuerSigned {
  const warnings: string[] = []
  const note = noteIn(warnings)
  if (value instanceof Map && !value.has('issuerAuth') && value.has('documents'))
    throw malformed('it is a DeviceResponse, which only a holder makes, and not an IssuerSigned')
  const { nameSpaces, issuerAuth: signed } = parse(IssuerSignedMap, value, '')
  if (nameSpaces?.size === 0) note('nameSpaces is an empty map')
  const warn = warnerOf('issuerAuth', note)
  const issuerAuth = within('issuerAuth', () => readSign1(signed, { warn }))
  const algorithm = within('issuerAuth', () => algorithmOf(issuerAuth))
  const { payload } = issuerAuth
  if (payload === null) throw malformed('issuerAuth has no payload')
  const embedded = within('issuerAuth payload', () => decodeCbor(payload))
  if (!(embedded instanceof Embedded))
    throw malformed('the payload of issuerAuth is not an embedded CBOR item (tag 24)')
  const whole = within('MSO', () => decodeCbor(embedded.content))
  const mso = readMso(whole, note)
  const x5c = within('x5chain', () => readX5chain(issuerAuth, warn))
  const items = readItems(nameSpaces ?? new Map(), note)
  return { items, issuerAuth, algorithm, x5c, mso, whole, warnings }
}

export function readMso(value: CborValue, note: Note): Mso {
  const { version, validityInfo, deviceKeyInfo, valueDigests, ...mso } = parse(MsoMap, value, 'MSO')
  if (version !== '1.0')
    throw malformed(`the version of the MSO is ${JSON.stringify(version.slice(0, 20))}, and 1.0 is supported`)
  const date = (name: keyof typeof validityInfo) => readDate(validityInfo[name], `validityInfo.${name}`, note)
  const { keyAuthorizations: authorized } = deviceKeyInfo
  if ([...valueDigests.values()].some((each) => [...each.keys()].some((id) => id >= 2 ** 31)))
    note('a digestID is 2147483648 or more')
  return {
    docType: mso.docType,
    digestAlgorithm: mso.digestAlgorithm,
    digests: valueDigests,
    deviceKey: within('deviceKey', () => fromCoseKey(deviceKeyInfo.deviceKey)),
    authorized: { namespaces: authorized?.nameSpaces ?? [], elements: authorized?.dataElements ?? new Map() },
    validity: {
      signed: date('signed'),
      validFrom: date('validFrom'),
      validUntil: date('validUntil'),
      ...(validityInfo.expectedUpdate !== undefined && { expectedUpdate: date('expectedUpdate') }),
    },
    status: mso.status,
  }
}

/** A date with time as RFC 3339 writes it, with the day alone for dates. */
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i

/** Epoch seconds of a `tdate`. */
function readDate(value: CborValue, place: string, note: Note): number {
  const isTagged = value instanceof Tagged && value.tag === tdateTag
  const text = isTagged ? value.value : value
  const match = typeof text === 'string' ? instant.exec(text) : null
  if (!match || !isDate(match[0].slice(0, 10)))
    throw malformed(`${place} is not a date and time (tdate, tag 0)`)
  if (!isTagged) note(`${place} is text without tag 0`)
  if (match[1] !== undefined) note(`${place} has fractions of seconds`)
  if (match[2]!.toUpperCase() !== 'Z') note(`${place} has an offset instead of Z`)
  const seconds = Date.parse(match[0]) / 1_000
  if (Number.isNaN(seconds)) throw malformed(`${place} is not a time of the calendar`)
  return Math.floor(seconds)
}

function readItems(namespaces: ReadonlyMap<string, readonly CborValue[]>, note: Note): Item[] {
  const count = [...namespaces.values()].reduce((sum, each) => sum + each.length, 0)
  if (namespaces.size > maxNamespaces || count > maxElements)
    throw malformed(
      `it has ${count} elements in ${namespaces.size} namespaces, and ${maxElements} in ${maxNamespaces} are the most`,
    )
  return [...namespaces].flatMap(([namespace, items]) =>
    items.map((embedded, index) => {
      const place = `${namespace}[${index}]`
      if (!(embedded instanceof Embedded)) throw malformed(`${place} is not an embedded CBOR item (tag 24)`)
      const content = within(place, () => decodeCbor(embedded.content))
      const { digestID, random, elementIdentifier, elementValue } = parse(ItemMap, content, place)
      if (random.length < leastRandom)
        throw malformed(`${place}: random has ${random.length} bytes, and 16 are required`)
      if (random.length < standardRandom) note('random has less than 16 bytes')
      return { namespace, id: elementIdentifier, value: elementValue, digestId: digestID, embedded }
    }),
  )
}

/**
 * Every item has the digest that the issuer signed for its namespace and its id, and no element and no id
 * occurs twice (ISO/IEC 18013-5 §9.3.1, step 4).
 *
 * @throws {VerificationError} `digests` with the path
 */
export function checkDigests({ items, mso }: Pick<IssuerSigned, 'items' | 'mso'>): void {
  const algorithm = mso.digestAlgorithm.replace('-', '').toLowerCase()
  const seen = new Set<string>()
  for (const { namespace, id, digestId, embedded } of items) {
    const place = `${namespace}.${id}`
    for (const mark of [`element ${id}`, `digestID ${digestId}`]) {
      if (seen.has(`${mark} ${namespace}`)) throw differs(`${place}: the ${mark} occurs twice`)
      seen.add(`${mark} ${namespace}`)
    }
    const expected = mso.digests.get(namespace)?.get(digestId)
    if (!expected) throw differs(`${place}: the issuer has signed no digest ${digestId} in ${namespace}`)
    if (!hash(algorithm, embedded.bytes, 'buffer').equals(expected))
      throw differs(`${place}: the element is not what the issuer has signed`)
  }
}

/** The elements by namespace in JSON. */
export function claimsOf(items: readonly Pick<Item, 'namespace' | 'id' | 'value'>[]): JsonObject {
  const namespaces = new Map<string, [string, unknown][]>()
  for (const { namespace, id, value } of items) {
    const own = namespaces.get(namespace) ?? []
    namespaces.set(namespace, own)
    own.push([id, toJson(value)])
  }
  // A name such as __proto__ is an own member.
  return Object.fromEntries([...namespaces].map(([name, own]) => [name, Object.fromEntries(own)]))
}

function differs(reason: string): VerificationError {
  return new VerificationError('digests', reason)
}
