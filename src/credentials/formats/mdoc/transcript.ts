/**
 * Session transcripts: what ties the answer of a device to one request. The device signs a hash of the
 * request's values, so a signature over another transcript does not say which value was another.
 */
import { createHash, hkdfSync } from 'node:crypto'
import { concat, toBase64url, utf8 } from '../../../foundation/bytes.ts'
import { type CborValue, embed, type Embedded, encodeCbor } from '../../../foundation/cbor/index.ts'
import { agree, type PrivateJwk, type PublicJwk } from '../../../foundation/crypto/keys.ts'

/** OpenID4VP 1.0 B.2.6.1. All values are those of the signed request. */
type Redirect = {
  handover: 'redirect'
  /** With its prefix, such as `x509_hash:`. */
  clientId: string
  nonce: string
  /** `response_uri`, or else `redirect_uri`. */
  responseUri: string
  /** RFC 7638, 32 bytes, of the key that the response was encrypted to. Null if it was not encrypted. */
  jwkThumbprint: Uint8Array | null
}

/** OpenID4VP 1.0 B.2.6.2, over the Digital Credentials API. A client id has no place in it. */
type DcApi = {
  handover: 'dc-api'
  /** Without the prefix `origin:`. */
  origin: string
  nonce: string
  jwkThumbprint: Uint8Array | null
}

/** ISO/IEC TS 18013-7 Annex C, the protocol `org-iso-mdoc` of the Digital Credentials API. */
type IsoMdoc = {
  handover: 'org-iso-mdoc'
  origin: string
  /** `encryptionInfo` of the request as it was sent, base64url. */
  encryptionInfo: string
}

export type Transcript = Redirect | DcApi | IsoMdoc

/** ISO/IEC TS 18013-7:2024 Annex B, with OpenID4VP draft 18. */
type AnnexB = Omit<Redirect, 'handover' | 'jwkThumbprint'> & {
  handover: 'annex-b'
  /** From the header `apu` of the encrypted response. */
  mdocNonce: string
}

/** OpenID4VP draft 24, over the Digital Credentials API. */
type Draft24 = { handover: 'draft-24'; origin: string; clientId: string; nonce: string }

/** Forms of earlier drafts, which are read to say what is wrong. */
export type OldTranscript = AnnexB | Draft24

/** The CBOR of the SessionTranscript, without tag 24. */
export function encodeTranscript(transcript: Transcript | OldTranscript): Uint8Array {
  return encodeHandover(handoverOf(transcript))
}

/** There is neither a device engagement nor a reader key over the Internet. */
function encodeHandover(handover: CborValue): Uint8Array {
  return encodeCbor([null, null, handover])
}

function handoverOf(transcript: Transcript | OldTranscript): CborValue {
  switch (transcript.handover) {
    case 'redirect':
      return redirectHandover(transcript, transcript.jwkThumbprint)
    case 'dc-api':
      return dcApiHandover(transcript, transcript.jwkThumbprint)
    case 'org-iso-mdoc':
      return ['dcapi', hash([transcript.encryptionInfo, transcript.origin])]
    case 'annex-b': {
      const { clientId, responseUri, nonce, mdocNonce } = transcript
      return [hash([clientId, mdocNonce]), hash([responseUri, mdocNonce]), nonce]
    }
    case 'draft-24': {
      const { origin, clientId, nonce } = transcript
      return ['OpenID4VPDCAPIHandover', hash([origin, clientId, nonce])]
    }
  }
}

/** The thumbprint is a text only in wrong forms. */
type Thumbprint = Uint8Array | string | null

function redirectHandover(
  { clientId, nonce, responseUri }: Pick<Redirect, 'clientId' | 'nonce' | 'responseUri'>,
  jwkThumbprint: Thumbprint,
): CborValue {
  return ['OpenID4VPHandover', hash([clientId, nonce, jwkThumbprint, responseUri])]
}

function dcApiHandover(
  { origin, nonce }: Pick<DcApi, 'origin' | 'nonce'>,
  jwkThumbprint: Thumbprint,
): CborValue {
  return ['OpenID4VPDCAPIHandover', hash([origin, nonce, jwkThumbprint])]
}

function hash(info: CborValue): Uint8Array {
  return createHash('sha256').update(encodeCbor(info)).digest()
}

/** What else the sender of a request knows, to find out which transcript a wallet has used. */
export type TranscriptHints = {
  /** Thumbprints of other keys of the request: further encryption keys, and the key that signed it. */
  otherThumbprints?: readonly Uint8Array[]
  /** The client id of a request over the Digital Credentials API. */
  clientId?: string | undefined
  /** From the header `apu` of the encrypted response. */
  mdocNonce?: string | undefined
}

/** Another transcript. The reason says of the signature what it was made for: "an unencrypted response". */
export type OtherTranscript = { reason: string; transcript: Uint8Array }

/**
 * The mistakes of wallets that are known, each by itself. A signature over one of these is not valid: they
 * serve to say why.
 */
export function otherTranscripts(transcript: Transcript, hints: TranscriptHints = {}): OtherTranscript[] {
  const others = mistakes(transcript, hints).map(([reason, handover]) => ({
    reason,
    transcript: encodeHandover(handover),
  }))
  const right = encodeTranscript(transcript)
  return others.filter((other) => Buffer.compare(other.transcript, right) !== 0)
}

type Mistake = [reason: string, handover: CborValue]

function mistakes(transcript: Transcript, hints: TranscriptHints): Mistake[] {
  switch (transcript.handover) {
    case 'redirect':
      return redirectMistakes(transcript, hints)
    case 'dc-api':
      return dcApiMistakes(transcript, hints)
    case 'org-iso-mdoc':
      return [['the origin with a prefix', handoverOf(withPrefix(transcript))]]
  }
}

function redirectMistakes(transcript: Redirect, hints: TranscriptHints): Mistake[] {
  const { clientId, responseUri, jwkThumbprint, nonce } = transcript
  const changed = (change: Partial<Redirect>) => redirectHandover({ ...transcript, ...change }, jwkThumbprint)
  const annexB = (mdocNonce: string) =>
    handoverOf({ handover: 'annex-b', clientId, nonce, responseUri, mdocNonce })
  const old = 'the first edition of ISO/IEC TS 18013-7 (Annex B)'
  return [
    ...thumbprintMistakes(transcript, hints, (thumbprint) => redirectHandover(transcript, thumbprint)),
    ['the response URI without its query', changed({ responseUri: responseUri.replace(/\?.*$/s, '') })],
    ['the client id without its prefix', changed({ clientId: clientId.replace(/^[^:]*:/, '') })],
    [`${old}, with an empty nonce of the wallet`, annexB('')],
    ...(hints.mdocNonce === undefined ? [] : ([[old, annexB(hints.mdocNonce)]] satisfies Mistake[])),
  ]
}

function dcApiMistakes(transcript: DcApi, hints: TranscriptHints): Mistake[] {
  const { origin, nonce, jwkThumbprint } = transcript
  const draft24 = (clientId: string) => handoverOf({ handover: 'draft-24', origin, clientId, nonce })
  const clientIds = [hints.clientId ?? [], `web-origin:${origin}`].flat()
  return [
    ...thumbprintMistakes(transcript, hints, (thumbprint) => dcApiHandover(transcript, thumbprint)),
    ['the origin with a prefix', dcApiHandover(withPrefix(transcript), jwkThumbprint)],
    ...clientIds.map((id): Mistake => ['draft 24 of OpenID4VP, with the client id', draft24(id)]),
  ]
}

function thumbprintMistakes(
  { jwkThumbprint }: { jwkThumbprint: Uint8Array | null },
  { otherThumbprints = [] }: TranscriptHints,
  handover: (jwkThumbprint: Thumbprint) => CborValue,
): Mistake[] {
  const others = otherThumbprints.map((other): Mistake => ['another key of the request', handover(other)])
  if (jwkThumbprint === null) return others
  return [
    ['an unencrypted response', handover(null)],
    ...others,
    ['the thumbprint of the key as text', handover(toBase64url(jwkThumbprint))],
  ]
}

function withPrefix<T extends { origin: string }>(transcript: T): T {
  return { ...transcript, origin: `origin:${transcript.origin}` }
}

/**
 * The detached payload of a device signature or MAC (ISO/IEC 18013-5 §9.1.3.4): DeviceAuthenticationBytes.
 * The transcript is written as it is, and so are the namespaces.
 */
export function deviceAuthentication(
  transcript: Uint8Array,
  docType: string,
  nameSpaces: Embedded,
): Uint8Array {
  return authentication('DeviceAuthentication', transcript, encodeCbor(docType), nameSpaces.bytes)
}

/** The detached payload of the signature of a reader (§9.1.4.5): ReaderAuthenticationBytes. */
export function readerAuthentication(transcript: Uint8Array, itemsRequest: Embedded): Uint8Array {
  return authentication('ReaderAuthentication', transcript, itemsRequest.bytes)
}

/** An array of a text and encoded members, with tag 24. */
function authentication(context: string, ...members: Uint8Array[]): Uint8Array {
  const head = Uint8Array.of(0x80 + 1 + members.length)
  return embed(concat(head, encodeCbor(context), ...members)).bytes
}

/**
 * The key of a device MAC (ISO/IEC 18013-5 §9.1.3.5), 32 bytes, which the caller overwrites with zeros. Over
 * OpenID4VP, the reader's key is that which the response was encrypted to.
 *
 * @throws {TypeError} when the keys are on other curves
 */
export function deviceMacKey(
  deviceKey: PublicJwk,
  readerKey: PrivateJwk,
  transcript: Uint8Array,
): Uint8Array {
  const secret = agree(readerKey, deviceKey, { isPassing: true })
  const salt = createHash('sha256').update(embed(transcript).bytes).digest()
  try {
    return new Uint8Array(hkdfSync('sha256', secret, salt, utf8('EMacKey'), 32))
  } finally {
    secret.fill(0)
  }
}
