/** Session transcripts of ISO/IEC 18013-5, and the encryption of `org-iso-mdoc` (ISO/IEC TS 18013-7 Annex C). */
import { toBase64url, toHex } from '../../foundation/bytes.ts'
import { type CborValue, Embedded } from '../../foundation/cbor/index.ts'
import { fromCoseKey } from '../../foundation/cose/index.ts'
import { thumbprintOf } from '../../foundation/crypto/keys.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { toJson } from '../../credentials/formats/mdoc/values.ts'
import { describe, type Given } from './binary.ts'
import { type Check, type Decoded, decodedOf, DecodeError, type Facts, type Sources } from './decoded.ts'
import { type Candidate, findMistake } from './session.ts'

/** Handovers by their first text. */
const handovers: Readonly<Record<string, string>> = {
  OpenID4VPHandover: 'OpenID4VP 1.0, by redirect',
  OpenID4VPDCAPIHandover: 'OpenID4VP, over the Digital Credentials API',
  OpenID4VCIIAEHandover: 'OpenID4VCI 1.1, interactive authorization',
  dcapi: 'org-iso-mdoc (ISO/IEC TS 18013-7 Annex C)',
}

/** `--request` says whether it is that of a request. */
export function decodeTranscript({ value, bytes }: Given, { candidates }: Sources): Decoded {
  const [engagement, readerKey, handover] = value as CborValue[]
  const facts = {
    'device engagement': lengthOf(engagement),
    'reader key': lengthOf(readerKey),
    ...handoverFacts(handover),
  }
  const checks = candidates ? [requestCheck(bytes, candidates)] : []
  return decodedOf('session-transcript', 'session transcript of an ISO mdoc', facts, {
    checks,
    content: { document: toJson(value) },
  })
}

const lengthOf = (part: CborValue) =>
  part instanceof Embedded ? `${part.content.length} bytes` : 'none: the session is over the Internet'

function handoverFacts(handover: CborValue): Facts {
  const [first, second, third] = Array.isArray(handover) ? handover : []
  if (typeof first === 'string')
    return {
      handover: handovers[first] ?? first,
      hash: second instanceof Uint8Array ? toHex(second) : undefined,
    }
  if (first instanceof Uint8Array && typeof third === 'string')
    return { handover: 'first edition of ISO/IEC TS 18013-7 (Annex B)', nonce: third }
  if (first instanceof Uint8Array) return { handover: 'NFC (ISO/IEC 18013-5)' }
  return { handover: handover === null ? 'QR code (ISO/IEC 18013-5)' : describe(handover) }
}

function requestCheck(bytes: Uint8Array, candidates: readonly Candidate[]): Check {
  const name = 'request'
  const isSame = ({ transcript }: { transcript: Uint8Array }) => Buffer.compare(transcript, bytes) === 0
  const found = candidates.find(isSame)
  if (found) return { name, result: 'passed', detail: `the transcript is that of ${found.what}` }
  const mistake = findMistake(candidates, isSame)
  const detail = mistake
    ? `the transcript is that of ${mistake}`
    : 'the transcript is that of another request'
  return { name, result: 'failed', detail }
}

/** EncryptionInfo of a request, or the encrypted response: `["dcapi", {…}]`. @throws {DecodeError} */
export function decodeEncryption({ value }: Given): Decoded {
  const [, members] = value as CborValue[]
  const get = (name: string) => (members instanceof Map ? members.get(name) : undefined)
  const [text, key] = [get('cipherText'), get('recipientPublicKey')]
  if (text instanceof Uint8Array)
    return decodedOf(
      'iso-mdoc-response',
      'encrypted response of org-iso-mdoc: only the verifier can read it',
      { 'encrypted bytes': text.length, encryption: 'HPKE with P-256, HKDF-SHA-256 and AES-128-GCM' },
      {},
    )
  if (key === undefined)
    throw new DecodeError(
      `This is CBOR of org-iso-mdoc ("dcapi"), but of no known kind: ${describe(members)}`,
    )
  const nonce = get('nonce')
  return decodedOf(
    'iso-mdoc-encryption',
    'EncryptionInfo of org-iso-mdoc',
    {
      nonce: nonce instanceof Uint8Array ? toHex(nonce) : undefined,
      'encrypted to': describeKey(key),
    },
    { content: { document: toJson(value) } },
  )
}

/** The curve and the thumbprint (RFC 7638) of a COSE_Key, or why it is none. */
function describeKey(key: CborValue): string {
  try {
    const jwk = fromCoseKey(key)
    return `a key on ${jwk.crv} with the thumbprint ${toBase64url(thumbprintOf(jwk))}`
  } catch (error) {
    return reasonOf(error)
  }
}
