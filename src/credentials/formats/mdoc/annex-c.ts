/**
 * The protocol `org-iso-mdoc` of the Digital Credentials API (ISO/IEC TS 18013-7 Annex C): a request with the
 * key for the response, and the response, which is encrypted with HPKE to that key, for the origin of the
 * page.
 */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { fromBase64, toBase64url } from '../../../foundation/bytes.ts'
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from '../../../foundation/cbor/index.ts'
import { fromCoseKey, toCoseKey, verifySign1 } from '../../../foundation/cose/index.ts'
import { type HpkeMessage, openBase, sealBase } from '../../../foundation/crypto/hpke.ts'
import type { PrivateJwk, PublicJwk } from '../../../foundation/crypto/keys.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { VerificationError } from '../../codecs/verification-error.ts'
import type { DcqlQuery } from '../../dcql/query.ts'
import type { Session } from '../presentation.ts'
import { joinDeviceResponses, splitDeviceResponse } from './device-response.ts'
import {
  type DeviceRequest,
  makeDeviceRequest,
  readDeviceRequest,
  type Reader,
  type ReaderSignature,
} from './device-request.ts'
import { Bytes, malformed, members, parse, within } from './reading.ts'
import { encodeTranscript, readerAuthentication } from './transcript.ts'

/** Both in base64url. */
export type AnnexCRequest = { deviceRequest: string; encryptionInfo: string }

/** A page, and the `encryptionInfo` of its request. */
type AnnexCSession = Omit<Extract<Session, { handover: 'org-iso-mdoc' }>, 'handover'>

/** The first member of the arrays of this protocol. */
const dcapi = 'dcapi'
const nonceBytes = 32

const toTranscript = ({ origin, encryptionInfo }: AnnexCSession) =>
  encodeTranscript({ handover: 'org-iso-mdoc', origin, encryptionInfo })

/**
 * Makes a request with a fresh nonce.
 *
 * @param recipient the key for the response, on P-256
 * @param reader signs the request for one origin
 */
export function makeAnnexCRequest(
  query: DcqlQuery,
  recipient: PublicJwk,
  reader?: Reader & { origin: string },
): AnnexCRequest {
  const info = new Map<CborValue, CborValue>([
    ['nonce', randomBytes(nonceBytes)],
    ['recipientPublicKey', toCoseKey(recipient)],
  ])
  const encryptionInfo = toBase64url(encodeCbor([dcapi, info]))
  const signing = reader && { ...reader, transcript: toTranscript({ origin: reader.origin, encryptionInfo }) }
  return { deviceRequest: toBase64url(makeDeviceRequest(query, signing)), encryptionInfo }
}

const EncryptedResponse = members({ enc: Bytes, cipherText: Bytes })

/**
 * Decrypts a response. The result has presentations by the ids of the credential queries: each document
 * answers the query of its type. One that no query asks for has its type as id.
 *
 * @throws {VerificationError} `malformed` for a response to another request or for another origin, too
 */
export function openAnnexCResponse(
  response: string,
  key: PrivateJwk,
  session: AnnexCSession,
  { credentials }: DcqlQuery,
): Record<string, string[]> {
  const { enc, cipherText } = parse(EncryptedResponse, readPair(response, 'response'), 'response')
  const plaintext = open(key, { enc, ciphertext: cipherText }, session)
  const presented = new Map<string, string[]>()
  for (const { docType, bytes } of splitDeviceResponse(plaintext)) {
    const id = credentials.find(({ meta }) => meta.doctype_value === docType)?.id ?? docType
    presented.set(id, [...(presented.get(id) ?? []), toBase64url(bytes)])
  }
  return Object.fromEntries(presented)
}

function open(key: PrivateJwk, message: HpkeMessage, session: AnnexCSession): Uint8Array {
  try {
    return openBase(key, message, { info: toTranscript(session) })
  } catch (cause) {
    const reason = `The response cannot be decrypted: ${reasonOf(cause)}`
    throw new VerificationError('malformed', reason, { cause })
  }
}

/** The second member of an array after `dcapi`. */
function readPair(text: string, place: string): CborValue {
  const value = within(place, () => decodeCbor(fromBase64(text)))
  if (Array.isArray(value) && value.length === 2 && value[0] === dcapi) return value[1]
  throw malformed(`${place}: is not an array of ${dcapi} and a map`)
}

const EncryptionInfo = members({
  nonce: Bytes.refine(({ length }) => length >= 16, 'has less than 16 bytes'),
  recipientPublicKey: z.custom<CborMap>((value) => value instanceof Map, 'is not a map'),
})

function readEncryptionInfo(text: string): { nonce: string; recipient: PublicJwk } {
  const info = parse(EncryptionInfo, readPair(text, 'encryptionInfo'), 'encryptionInfo')
  const recipient = within('recipientPublicKey', () => fromCoseKey(info.recipientPublicKey))
  if (recipient.crv !== 'P-256') throw malformed('recipientPublicKey: is not a key on P-256')
  return { nonce: toBase64url(info.nonce), recipient }
}

/** Reads a request as a wallet. Nothing is verified. @throws {VerificationError} `malformed` */
export function readAnnexCRequest(request: AnnexCRequest): DeviceRequest & { nonce: string } {
  const { nonce } = readEncryptionInfo(request.encryptionInfo)
  return { ...readDeviceRequest(within('deviceRequest', () => fromBase64(request.deviceRequest))), nonce }
}

/** Whether a reader has signed a document request for this page. */
export function isSignedByReader(
  { sign1, itemsRequest }: ReaderSignature,
  key: PublicJwk,
  session: AnnexCSession,
): boolean {
  return verifySign1(sign1, key, readerAuthentication(toTranscript(session), itemsRequest))
}

/** Encrypts presentations, each in base64url, as one response. */
export function sealAnnexCResponse(presentations: readonly string[], session: AnnexCSession): string {
  const { recipient } = readEncryptionInfo(session.encryptionInfo)
  const plaintext = joinDeviceResponses(presentations.map(fromBase64))
  const { enc, ciphertext } = sealBase(recipient, plaintext, { info: toTranscript(session) })
  const content = new Map<CborValue, CborValue>([
    ['enc', enc],
    ['cipherText', ciphertext],
  ])
  return toBase64url(encodeCbor([dcapi, content]))
}
