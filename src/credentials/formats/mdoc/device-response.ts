/**
 * The response of a holder's device: a document with the issuer's part and a signature or MAC of the device
 * over the transcript of the session (ISO/IEC 18013-5 §8.3.2.1.2.2, §9.1.3).
 */
import * as z from 'zod'
import {
  type CborMap,
  type CborValue,
  decodeCbor,
  embed,
  Embedded,
  encodeCbor,
} from '../../../foundation/cbor/index.ts'
import {
  algorithmOf,
  type CoseMac0,
  type CoseSign1,
  pairing,
  readMac0,
  readSign1,
  signSign1,
} from '../../../foundation/cose/index.ts'
import type { PrivateJwk } from '../../../foundation/crypto/keys.ts'
import { type IssuerSigned, readIssuerSigned } from './issuer-signed.ts'
import { malformed, members, type Note, noteIn, parse, Text, Value, warnerOf, within } from './reading.ts'
import { deviceAuthentication } from './transcript.ts'

/** An element that the device has signed. */
export type DeviceElement = { namespace: string; id: string; value: CborValue }

export type DeviceAuth = { kind: 'signature'; sign1: CoseSign1 } | { kind: 'mac'; mac0: CoseMac0 }

/** A document that a device presents. */
export type Presented = {
  docType: string
  issuerSigned: IssuerSigned
  /** The bytes that the device has signed, and the elements in them. */
  deviceNamespaces: Embedded
  deviceElements: readonly DeviceElement[]
  deviceAuth: DeviceAuth
  /** Faults that do not matter for what is verified. */
  warnings: string[]
}

const Int = z.int('is not an integer')

const Document = members({
  docType: Text.min(1),
  issuerSigned: Value,
  deviceSigned: members({
    nameSpaces: z.instanceof(Embedded, { error: 'is not an embedded CBOR item (tag 24)' }),
    deviceAuth: members({ deviceSignature: Value.nullish(), deviceMac: Value.nullish() }),
  }),
})

const Response = members({
  version: Text,
  documents: z.array(Value).nullish(),
  documentErrors: z.array(z.map(Text, Int)).nullish(),
  status: Int.nonnegative(),
})

const DeviceNamespaces = z.map(Text, z.map(Text, Value))

/** Reads the members of a response, and no document. @throws {VerificationError} `malformed` with the place */
export function readResponse(bytes: Uint8Array): z.output<typeof Response> {
  return parse(
    Response,
    within('DeviceResponse', () => decodeCbor(bytes)),
    'DeviceResponse',
  )
}

/** Reads a document of a response. @throws {VerificationError} `malformed` with the place */
export function readPresented(value: CborValue, place: string): Presented {
  return readDocument(parse(Document, value, place))
}

/**
 * Reads the one document of a response. Of several, it is the one of an asked type (the wallet of the EU
 * sends all documents under each query). Verifies nothing.
 *
 * @throws {VerificationError} `malformed` with the place
 */
export function readDeviceResponse(bytes: Uint8Array, asked: readonly string[] = []): Presented {
  const { documents, documentErrors } = openResponse(bytes)
  const fitting =
    documents.length === 1 ? documents : documents.filter(({ read }) => asked.includes(read.docType))
  const [chosen] = fitting
  if (!chosen || fitting.length > 1)
    throw malformed(describeCount(documents.length, documentErrors ?? [], asked))
  const presented = readDocument(chosen.read)
  if (documents.length > 1)
    presented.warnings.push(`the response has ${documents.length} documents, and one is expected`)
  return presented
}

/** The documents of a response, as they are and with their outer members read. */
function openResponse(bytes: Uint8Array) {
  const value = within('DeviceResponse', () => decodeCbor(bytes))
  if (value instanceof Map && value.has('issuerAuth'))
    throw malformed('it is an IssuerSigned without a signature of the device, and not a DeviceResponse')
  const { version, documents, documentErrors, status } = parse(Response, value, 'DeviceResponse')
  if (version !== '1.0')
    throw malformed(`the version is ${JSON.stringify(version.slice(0, 20))}, and 1.0 is supported`)
  if (status !== 0) throw malformed(`the device reports an error, status ${status}`)
  const all = (documents ?? []).map((document, index) => ({
    document,
    read: parse(Document, document, `documents[${index}]`),
  }))
  return { documents: all, documentErrors }
}

/**
 * A response for each document of a response that may have several. What is signed keeps its bytes.
 *
 * @throws {VerificationError} `malformed` with the place
 */
export function splitDeviceResponse(bytes: Uint8Array): { docType: string; bytes: Uint8Array }[] {
  return openResponse(bytes).documents.map(({ document, read: { docType } }) => ({
    docType,
    bytes: toResponse([document]),
  }))
}

/** One response with the documents of all. @throws {VerificationError} `malformed` with the place */
export function joinDeviceResponses(all: readonly Uint8Array[]): Uint8Array {
  return toResponse(all.flatMap((bytes) => openResponse(bytes).documents.map(({ document }) => document)))
}

function toResponse(documents: CborValue[]): Uint8Array {
  return encodeCbor(
    new Map<CborValue, CborValue>([
      ['version', '1.0'],
      ['documents', documents],
      ['status', 0],
    ]),
  )
}

function describeCount(
  count: number,
  errors: readonly ReadonlyMap<string, number>[],
  asked: readonly string[],
): string {
  const missing = errors.flatMap((each) => [...each.keys()]).find((type) => asked.includes(type))
  if (missing !== undefined) return `the wallet has no document of the type ${missing.slice(0, 200)}`
  return `the response has ${count} documents, and one is expected`
}

function readDocument({ docType, issuerSigned: signed, deviceSigned }: z.output<typeof Document>): Presented {
  const issuerSigned = readIssuerSigned(signed)
  const { warnings } = issuerSigned
  const note = noteIn(warnings)
  if (docType !== issuerSigned.mso.docType)
    throw malformed(
      `the document is of the type ${docType.slice(0, 200)}, and its issuer has signed ${issuerSigned.mso.docType.slice(0, 200)}`,
    )
  const { nameSpaces, deviceAuth } = deviceSigned
  return {
    docType,
    issuerSigned,
    deviceNamespaces: nameSpaces,
    deviceElements: readDeviceElements(nameSpaces),
    deviceAuth: readDeviceAuth(deviceAuth, issuerSigned.mso, note),
    warnings,
  }
}

function readDeviceElements({ content }: Embedded): DeviceElement[] {
  const value = within('deviceSigned.nameSpaces', () => decodeCbor(content))
  const namespaces = parse(DeviceNamespaces, value, 'deviceSigned.nameSpaces')
  return [...namespaces].flatMap(([namespace, elements]) =>
    [...elements].map(([id, each]) => ({ namespace, id, value: each })),
  )
}

function readDeviceAuth(
  { deviceSignature, deviceMac }: { deviceSignature?: CborValue; deviceMac?: CborValue },
  { deviceKey }: Pick<IssuerSigned['mso'], 'deviceKey'>,
  note: Note,
): DeviceAuth {
  const [hasSignature, hasMac] = [deviceSignature, deviceMac].map(
    (each) => each !== undefined && each !== null,
  )
  if (hasSignature === hasMac) throw malformed('deviceAuth has not one of deviceSignature and deviceMac')
  const name = hasSignature ? 'deviceSignature' : 'deviceMac'
  const options = { warn: warnerOf(name, note) }
  const auth = within(name, (): DeviceAuth => {
    if (!hasSignature) return { kind: 'mac', mac0: readMac0(deviceMac, options) }
    const sign1 = readSign1(deviceSignature, options)
    if (pairing(algorithmOf(sign1), deviceKey.crv) === 'unusual')
      note(`the device signs ${algorithmOf(sign1).name} with a key on ${deviceKey.crv}`)
    return { kind: 'signature', sign1 }
  })
  const { payload } = auth.kind === 'mac' ? auth.mac0 : auth.sign1
  if (payload !== null) throw malformed(`${name} has a payload, which must be detached`)
  return auth
}

/** Makes a response with one document, of which it discloses the items that `discloses` names. */
export function makeDeviceResponse(
  { items, mso }: IssuerSigned,
  issuerAuth: CborValue,
  {
    transcript,
    key,
    discloses,
  }: { transcript: Uint8Array; key: PrivateJwk; discloses: (path: readonly string[]) => boolean },
): Uint8Array {
  const shown = items.filter(({ namespace, id }) => discloses([namespace, id]))
  const namespaces: CborMap = new Map()
  for (const { namespace, embedded } of shown) {
    const own = (namespaces.get(namespace) as CborValue[] | undefined) ?? []
    namespaces.set(namespace, own)
    own.push(embedded)
  }
  const deviceNamespaces = embed(encodeCbor(new Map()))
  const deviceSignature = signSign1({
    key,
    payload: deviceAuthentication(transcript, mso.docType, deviceNamespaces),
    detached: true,
  })
  const document = new Map<CborValue, CborValue>([
    ['docType', mso.docType],
    [
      'issuerSigned',
      new Map<CborValue, CborValue>([
        ...(namespaces.size > 0 ? [['nameSpaces', namespaces] as const] : []),
        ['issuerAuth', issuerAuth],
      ]),
    ],
    [
      'deviceSigned',
      new Map<CborValue, CborValue>([
        ['nameSpaces', deviceNamespaces],
        ['deviceAuth', new Map([['deviceSignature', deviceSignature]])],
      ]),
    ],
  ])
  return toResponse([document])
}
