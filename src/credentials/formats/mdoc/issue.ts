/** Issues documents: items with fresh salts, and the Mobile Security Object that the certificate's key signs. */
import { hash, randomBytes, randomInt } from 'node:crypto'
import { toBase64url } from '../../../foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  embed,
  type Embedded,
  encodeCbor,
} from '../../../foundation/cbor/index.ts'
import { header, toCoseKey, toX5chain, signSign1 } from '../../../foundation/cose/index.ts'
import { isJsonObject } from '../../../foundation/json.ts'
import { Problem } from '../../../foundation/problem.ts'
import type { Signing, Terms } from '../format.ts'
import type { DocumentType } from './document-type.ts'
import { periodOf } from './signer-period.ts'
import { ElementError, toCbor, toTdate } from './values.ts'

/** The bytes of the salt of an item. The standard requires 16. */
const saltLength = 32

const digestAlgorithm = 'SHA-256'

/** The latest end that the elements of a driving licence and of an identity document name. */
const expiry = 'expiry_date'

/**
 * Terms must have a document type, and an object of elements for each namespace, whose values have the types
 * of the schema. The date of expiry that it shows is not past.
 *
 * @throws {Problem} 400, 422 with the path
 */
export function checkTerms({ type, claims }: Terms): void {
  const document = documentTypeOf(type)
  const { encodings } = document
  for (const [namespace, elements] of Object.entries(byNamespace(claims, document))) {
    elementsOf(namespace, elements, encodings)
    if (endOf(elements) * 1_000 <= Date.now())
      throw unprocessable(
        `claims.${namespace}.${expiry} is past, and the document ends with it. Offer it with a later date.`,
      )
  }
}

/** The elements of each namespace. @throws {Problem} 422 for a claim without namespace */
export function byNamespace(claims: Terms['claims'], { namespaces }: DocumentType): Terms['claims'] {
  if (!namespaces) return claims
  const grouped: Record<string, Record<string, unknown>> = {}
  for (const [name, value] of Object.entries(claims)) {
    const namespace = Object.hasOwn(namespaces, name) ? namespaces[name]! : undefined
    if (namespace === undefined)
      throw unprocessable(`claims.${name}: the configuration has no namespace for it.`)
    ;(grouped[namespace] ??= {})[name] = value
  }
  return grouped
}

function documentTypeOf(type: Terms['type']): DocumentType {
  if (type && 'docType' in type) return type
  throw new Problem(
    'BadRequest',
    'credentialFormat: an mdoc has a document type, which the configuration of an OpenID4VCI issuer names. Offer it with agent credential offer --oid4vci.',
  )
}

/** The elements of a namespace in CBOR. @throws {Problem} 422 with the path */
function elementsOf(
  namespace: string,
  elements: unknown,
  encodings: DocumentType['encodings'],
): [string, CborValue][] {
  if (!isJsonObject(elements))
    throw unprocessable(`claims.${namespace} is not an object with the elements of this namespace.`)
  return Object.entries(elements).map(([id, value]) => {
    try {
      return [id, toCbor(value, [namespace, id], encodings)]
    } catch (cause) {
      if (!(cause instanceof ElementError)) throw cause
      throw unprocessable(`claims.${cause.message}.`, cause)
    }
  })
}

/** Signs a document. Returns the base64url of its IssuerSigned, with all items (OpenID4VCI 1.0 §A.2.4). */
export function signMdoc(
  { claims, type, validityPeriod }: Terms,
  { issuerKey, x5c = [], holderKey, tokenStatus, now, defaultPeriod }: Signing,
): string {
  const document = documentTypeOf(type)
  const { docType, encodings } = document
  const grouped = byNamespace(claims, document)
  if (!holderKey) throw new Error('an mdoc is bound to a key of its holder')
  const namespaces: CborMap = new Map()
  const digests: CborMap = new Map()
  for (const [namespace, elements] of Object.entries(grouped)) {
    const items = itemsOf(elementsOf(namespace, elements, encodings))
    namespaces.set(
      namespace,
      items.map(({ item }) => item),
    )
    digests.set(namespace, new Map(items.map(({ digestId, digest }) => [digestId, digest])))
  }
  const signer = periodOf(x5c[0]!)
  // The time of a batch is rounded down, which may be before the certificate begins.
  const signed = Math.max(now, signer.begin)
  const validUntil = Math.min(
    signed + (validityPeriod ?? defaultPeriod),
    signer.end,
    ...Object.values(grouped).map(endOf),
  )
  const mso = new Map<CborValue, CborValue>([
    ['version', '1.0'],
    ['digestAlgorithm', digestAlgorithm],
    ['valueDigests', digests],
    ['deviceKeyInfo', new Map([['deviceKey', toCoseKey(holderKey)]])],
    ['docType', docType],
    [
      'validityInfo',
      new Map([
        ['signed', toTdate(signed)],
        ['validFrom', toTdate(signed)],
        ['validUntil', toTdate(validUntil)],
      ]),
    ],
    ['status', new Map([['status_list', new Map(Object.entries(tokenStatus.status_list))]])],
  ])
  const issuerAuth = signSign1({
    key: issuerKey,
    unprotected: new Map([[header.x5chain, toX5chain(x5c)]]),
    payload: embed(encodeCbor(mso)).bytes,
  })
  const issuerSigned = new Map<CborValue, CborValue>([
    ['nameSpaces', namespaces],
    ['issuerAuth', issuerAuth],
  ])
  return toBase64url(encodeCbor(issuerSigned))
}

/** The items of a namespace. Their ids are in random order, so that none tells which element it is. */
function itemsOf(elements: readonly [string, CborValue][]): {
  item: Embedded
  digestId: number
  digest: Uint8Array
}[] {
  const ids = shuffled(elements.map((_, index) => index))
  const salts = randomBytes(saltLength * elements.length)
  return elements.map(([id, value], index) => {
    const digestId = ids[index]!
    const item = embed(
      encodeCbor(
        new Map<CborValue, CborValue>([
          ['digestID', digestId],
          ['random', salts.subarray(index * saltLength, (index + 1) * saltLength)],
          ['elementIdentifier', id],
          ['elementValue', value],
        ]),
      ),
    )
    return { item, digestId, digest: hash('sha256', item.bytes, 'buffer') }
  })
}

/** Fisher and Yates. */
function shuffled(numbers: number[]): number[] {
  for (let last = numbers.length - 1; last > 0; last--) {
    const other = randomInt(last + 1)
    ;[numbers[last], numbers[other]] = [numbers[other]!, numbers[last]!]
  }
  return numbers
}

/** A document does not outlive the end that it shows. */
function endOf(elements: unknown): number {
  const shown = isJsonObject(elements) ? elements[expiry] : undefined
  const end = typeof shown === 'string' ? Date.parse(shown) / 1_000 : NaN
  return Number.isNaN(end) ? Infinity : end
}

function unprocessable(detail: string, cause?: unknown): Problem {
  return new Problem('UnprocessableEntity', detail, { cause })
}
