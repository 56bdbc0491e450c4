/**
 * The request for documents of ISO/IEC 18013-5 §8.3.2.1.2.1, made of a query in DCQL and read as one. Each
 * credential query is a document request.
 */
import * as z from 'zod'
import { type CborValue, decodeCbor, embed, Embedded, encodeCbor } from '../../../foundation/cbor/index.ts'
import { type CoseSign1, header, readSign1, signSign1, toX5chain } from '../../../foundation/cose/index.ts'
import type { PrivateJwk } from '../../../foundation/crypto/keys.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import { dcqlLimits, type CredentialQuery, type DcqlQuery } from '../../dcql/query.ts'
import { malformed, members, parse, Text, Value, within } from './reading.ts'
import { readerAuthentication } from './transcript.ts'

const { id: format } = formatNames.MDOC.openid

/** The place and the reason why a query cannot be a DeviceRequest, which knows no alternatives. */
export function findDeviceRequestFault({ credentials, credential_sets }: DcqlQuery): string | undefined {
  if (credential_sets) return 'credential_sets: there are no alternatives'
  const types = credentials.map(({ meta }) => meta.doctype_value)
  const faults = credentials.map((asked, index) => {
    const fault =
      faultOf(asked) ?? (types.indexOf(types[index]) < index && 'meta: another asks for this type')
    return fault ? `credentials.${index}.${fault}` : undefined
  })
  return faults.find((fault) => fault !== undefined)
}

function faultOf({ format: asked, claims, claim_sets }: CredentialQuery): string | undefined {
  if (asked !== format) return `format: is not ${format}`
  if (claim_sets) return 'claim_sets: there are no alternatives'
  return claims ? undefined : 'claims: is missing'
}

/** The key and the certificates of the reader, the key's first, in DER and base64. */
export type Reader = { key: PrivateJwk; x5c: readonly string[] }

/** @param reader signs each document request over the transcript */
export function makeDeviceRequest(
  { credentials }: DcqlQuery,
  reader?: Reader & { transcript: Uint8Array },
): Uint8Array {
  const docRequests = credentials.map((asked): CborValue => {
    const itemsRequest = embed(encodeCbor(itemsOf(asked)))
    return new Map<CborValue, CborValue>([
      ['itemsRequest', itemsRequest],
      ...(reader ? [['readerAuth', signReader(reader, itemsRequest)] as const] : []),
    ])
  })
  return encodeCbor(
    new Map<CborValue, CborValue>([
      ['version', '1.0'],
      ['docRequests', docRequests],
    ]),
  )
}

function itemsOf({ meta, claims = [] }: CredentialQuery): CborValue {
  const namespaces = new Map<CborValue, Map<CborValue, CborValue>>()
  for (const { path, intent_to_retain: isKept = false } of claims) {
    const [namespace, element] = path as [string, string]
    const own = namespaces.get(namespace) ?? new Map<CborValue, CborValue>()
    namespaces.set(namespace, own.set(element, isKept))
  }
  return new Map<CborValue, CborValue>([
    ['docType', meta.doctype_value],
    ['nameSpaces', namespaces],
  ])
}

function signReader(
  { key, x5c, transcript }: Reader & { transcript: Uint8Array },
  itemsRequest: Embedded,
): CborValue {
  return signSign1({
    key,
    unprotected: new Map([[header.x5chain, toX5chain(x5c)]]),
    payload: readerAuthentication(transcript, itemsRequest),
    detached: true,
  })
}

const Embedding = z.instanceof(Embedded, { error: 'is not an embedded CBOR item (tag 24)' })

const Request = members({
  version: Text,
  docRequests: z
    .array(members({ itemsRequest: Embedding, readerAuth: Value.nullish() }))
    .min(1)
    .max(dcqlLimits.credentials),
})

const ItemsRequest = members({
  docType: Text.min(1),
  nameSpaces: z.map(Text.min(1), z.map(Text.min(1), z.boolean('is not a boolean'))),
})

/** The signature of a document request, which is not verified. */
export type ReaderSignature = { sign1: CoseSign1; itemsRequest: Embedded }

/** A request as a wallet reads it, with the signature of each document request that has one. */
export type DeviceRequest = {
  query: { credentials: object[] }
  signatures: (ReaderSignature | undefined)[]
}

/** Reads a request as a query, which is still to be parsed. @throws {VerificationError} `malformed` */
export function readDeviceRequest(bytes: Uint8Array): DeviceRequest {
  const value = within('DeviceRequest', () => decodeCbor(bytes))
  const { version, docRequests } = parse(Request, value, 'DeviceRequest')
  if (!version.startsWith('1.')) throw malformed('the version of the DeviceRequest is not 1.0')
  return {
    query: { credentials: docRequests.map(({ itemsRequest }, index) => toQuery(itemsRequest, index)) },
    signatures: docRequests.map(({ itemsRequest, readerAuth }) =>
      readerAuth === undefined || readerAuth === null
        ? undefined
        : { sign1: within('readerAuth', () => readSign1(readerAuth)), itemsRequest },
    ),
  }
}

function toQuery({ content }: Embedded, index: number): object {
  const place = `docRequests.${index}.itemsRequest`
  const { docType, nameSpaces } = parse(
    ItemsRequest,
    within(place, () => decodeCbor(content)),
    place,
  )
  const claims = [...nameSpaces].flatMap(([namespace, elements]) =>
    [...elements].map(([element, isKept]) => ({ path: [namespace, element], intent_to_retain: isKept })),
  )
  const id = `document-${index + 1}`
  return { id, format, meta: { doctype_value: docType }, ...(claims.length > 0 && { claims }) }
}
