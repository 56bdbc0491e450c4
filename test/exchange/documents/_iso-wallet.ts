/**
 * A wallet of ISO/IEC TS 18013-7 Annex C, with documents of an issuer of its own. HPKE is that of another
 * implementation. Each part of an answer can be another.
 */
import { Aes128Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core'
import { fromBase64, toBase64url } from '../../../src/foundation/bytes.ts'
import { type CborValue, decodeCbor, type Embedded, encodeCbor } from '../../../src/foundation/cbor/index.ts'
import { fromCoseKey } from '../../../src/foundation/cose/index.ts'
import {
  generateKey,
  type PrivateJwk,
  type PublicJwk,
  toPublic,
} from '../../../src/foundation/crypto/keys.ts'
import { toUncompressed } from '../../../src/foundation/crypto/p256.ts'
import { signMdoc } from '../../../src/credentials/formats/mdoc/issue.ts'
import { readIssuerSigned } from '../../../src/credentials/formats/mdoc/issuer-signed.ts'
import { makeDeviceResponse } from '../../../src/credentials/formats/mdoc/device-response.ts'
import { encodeTranscript } from '../../../src/credentials/formats/mdoc/transcript.ts'
import type { JsonObject } from '../../../src/foundation/json.ts'
import { at } from '../../support/mdoc.ts'
import { iaca, signer } from '../../foundation/x509/_mdoc.ts'
import { pemOf, x5cOf } from '../../foundation/x509/_chains.ts'

const root = await iaca('C=UT, CN=Authority of the wallet')
const made = await signer(root)
const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', made.keys.privateKey)
const issuerKey = { kty, crv, x, y, d } as PrivateJwk

/** The authority of the documents, in PEM. */
export const authority = pemOf(root)

export type Held = { issuerSigned: string; key: PrivateJwk }

/** A document, whose status nobody can read. */
export function issueDocument(docType: string, claims: JsonObject, key = generateKey('P-256')): Held {
  return { issuerSigned: signDocument(docType, claims, toPublic(key)), key }
}

/** The same for a key of another. */
export function signDocument(docType: string, claims: JsonObject, holderKey: PublicJwk): string {
  return signMdoc(
    { claims, schemaIds: [], type: { docType, encodings: [] } },
    {
      issuerDid: 'https://issuer.example',
      issuerKey,
      x5c: x5cOf(made),
      subjectDid: '',
      holderKey,
      credentialStatus: {} as never,
      tokenStatus: { status_list: { idx: 1, uri: 'https://issuer.example/list' } },
      now: Math.floor(Date.now() / 1_000),
      defaultPeriod: 86_400,
    },
  )
}

export type Answer = {
  documents: Held[]
  origin: string
  /** What the device signs, if it is another page or request than that of the encryption. */
  signed?: { origin?: string; encryptionInfo?: string }
  encryptionInfo?: string
  recipient?: PublicJwk
  /** The elements to disclose. Default: those of the request. */
  elements?: string[]
}

/** The `data` that the platform returns to the page. */
export async function answerIso(
  request: { data: Record<string, unknown> },
  { documents, origin, signed, elements, ...change }: Answer,
): Promise<{ response: string }> {
  const encryptionInfo = change.encryptionInfo ?? (request.data['encryptionInfo'] as string)
  const asked = elements ?? elementsOf(request.data['deviceRequest'] as string)
  const session = { handover: 'org-iso-mdoc' as const, origin, encryptionInfo }
  const transcript = encodeTranscript({ ...session, ...signed })
  const responses = documents.map(({ issuerSigned, key }) => {
    const value = decodeCbor(fromBase64(issuerSigned))
    const discloses = ([, element]: readonly string[]) => asked.includes(element!)
    const options = { transcript, key, discloses }
    const one = makeDeviceResponse(readIssuerSigned(value), at(value, 'issuerAuth'), options)
    return at(decodeCbor(one), 'documents', 0)
  })
  const plaintext = encodeCbor(mapOf({ version: '1.0', documents: responses, status: 0 }))
  const info = decodeCbor(fromBase64(encryptionInfo))
  const recipient = change.recipient ?? fromCoseKey(at(info, 1, 'recipientPublicKey'))
  const { enc, cipherText } = await seal(recipient, plaintext, encodeTranscript(session))
  return { response: toBase64url(encodeCbor(['dcapi', mapOf({ enc, cipherText })])) }
}

const mapOf = (object: Record<string, CborValue>): CborValue => new Map(Object.entries(object))

function elementsOf(deviceRequest: string): string[] {
  const requests = at(decodeCbor(fromBase64(deviceRequest)), 'docRequests') as CborValue[]
  return requests.flatMap((each) => {
    const { content } = at(each, 'itemsRequest') as Embedded
    const namespaces = at(decodeCbor(content), 'nameSpaces') as Map<string, Map<string, boolean>>
    return [...namespaces.values()].flatMap((elements) => [...elements.keys()])
  })
}

async function seal(recipient: PublicJwk, plaintext: Uint8Array, info: Uint8Array) {
  const suite = new CipherSuite({
    kem: new DhkemP256HkdfSha256(),
    kdf: new HkdfSha256(),
    aead: new Aes128Gcm(),
  })
  const recipientPublicKey = await suite.kem.deserializePublicKey(bufferOf(toUncompressed(recipient)))
  const sender = await suite.createSenderContext({ recipientPublicKey, info: bufferOf(info) })
  const cipherText = new Uint8Array(await sender.seal(bufferOf(plaintext)))
  return { enc: new Uint8Array(sender.enc), cipherText }
}

const bufferOf = (bytes: Uint8Array) => Uint8Array.from(bytes).buffer
