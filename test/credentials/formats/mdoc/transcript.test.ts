/** Session transcripts: the published ones byte for byte, what devices signed over them, and wrong forms. */
import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toHex } from '../../../../src/foundation/bytes.ts'
import { decodeCbor, embed, Embedded, encodeCbor } from '../../../../src/foundation/cbor/index.ts'
import {
  fromCoseKey,
  readMac0,
  readSign1,
  readX5chain,
  verifyMac0,
  verifySign1,
} from '../../../../src/foundation/cose/index.ts'
import { openBase } from '../../../../src/foundation/crypto/hpke.ts'
import {
  generateKey,
  type PrivateJwk,
  type PublicJwk,
  thumbprintOf,
} from '../../../../src/foundation/crypto/keys.ts'
import { fromPrivateBytes } from '../../../../src/foundation/crypto/p256.ts'
import {
  deviceAuthentication,
  deviceMacKey,
  encodeTranscript,
  type OldTranscript,
  otherTranscripts,
  readerAuthentication,
  type Transcript,
} from '../../../../src/credentials/formats/mdoc/transcript.ts'
import { at, makeMac0, readMdoc } from '../../../support/mdoc.ts'

type Published = {
  name: string
  clientId: string
  webOrigin?: string
  nonce: string
  jwk?: PublicJwk
  responseUri?: string
  encryptionInfoBase64url?: string
  sessionTranscript: string
}
const { items: published } = readMdoc('transcripts') as { items: Published[] }

function toTranscript({ clientId, webOrigin, nonce, jwk, responseUri, ...item }: Published): Transcript {
  const jwkThumbprint = jwk ? thumbprintOf(jwk) : null
  if (responseUri !== undefined) return { handover: 'redirect', clientId, nonce, responseUri, jwkThumbprint }
  const origin = webOrigin!
  return item.encryptionInfoBase64url === undefined
    ? { handover: 'dc-api', origin, nonce, jwkThumbprint }
    : { handover: 'org-iso-mdoc', origin, encryptionInfo: item.encryptionInfoBase64url }
}

/** Issuance by interactive authorization is of a draft. */
const known = published.filter(({ responseUri, webOrigin }) => responseUri ?? webOrigin)

test.each(known.map((item) => [item.name, item] as const))('%s', (_name, item) => {
  expect(toHex(encodeTranscript(toTranscript(item)))).toBe(item.sessionTranscript)
})

type Foreign = {
  name: string
  data: string
  sessionTranscriptHex: string
  transcript:
    | null
    | ({ form: string; jwkThumbprintHex: string; mdocGeneratedNonce: string } & Record<
        'clientId' | 'nonce' | 'responseUri' | 'origin',
        string
      >)
}
const { items: foreign } = readMdoc('foreign') as { items: Foreign[] }

function ofForeign({ transcript }: Foreign): Transcript | OldTranscript {
  const { form, jwkThumbprintHex, mdocGeneratedNonce: mdocNonce, ...values } = transcript!
  if (form === 'redirect') return { handover: form, ...values, jwkThumbprint: fromHex(jwkThumbprintHex) }
  return form === 'annex-b' ? { handover: form, ...values, mdocNonce } : { handover: 'draft-24', ...values }
}

/** The first document of a response: what its device signed, its key, and its signature or MAC. */
function documentOf(response: Uint8Array) {
  const document = at(decodeCbor(response), 'documents', 0)
  const { payload } = readSign1(at(document, 'issuerSigned', 'issuerAuth'))
  const mso = decodeCbor((decodeCbor(payload!) as Embedded).content)
  const nameSpaces = at(document, 'deviceSigned', 'nameSpaces') as Embedded
  return {
    deviceKey: fromCoseKey(at(mso, 'deviceKeyInfo', 'deviceKey')),
    deviceAuth: at(document, 'deviceSigned', 'deviceAuth'),
    covered: (transcript: Uint8Array) =>
      deviceAuthentication(transcript, at(document, 'docType') as string, nameSpaces),
  }
}

const responses = foreign.filter(({ transcript }) => transcript !== null)

describe.each(responses.map((item) => [item.name, item] as const))('%s', (_name, item) => {
  const transcript = ofForeign(item)
  const { deviceKey, deviceAuth, covered } = documentOf(fromHex(item.data))
  const signature = readSign1(at(deviceAuth, 'deviceSignature'))

  test('has signed the transcript of its session, and no other', () => {
    const encoded = encodeTranscript(transcript)
    expect(toHex(encoded)).toBe(item.sessionTranscriptHex)
    expect(verifySign1(signature, deviceKey, covered(encoded))).toBe(true)
    const other = encodeTranscript({ ...transcript, nonce: 'another' } as Transcript)
    expect(verifySign1(signature, deviceKey, covered(other))).toBe(false)
    expect(verifySign1(signature, generateKey('P-256'), covered(encoded))).toBe(false)
  })
})

describe('Annex D of ISO/IEC 18013-5', () => {
  const { values } = readMdoc('annex-d') as { values: Record<string, string> }
  const bytes = (name: string) => fromHex(values[name]!)
  const { content: transcript } = decodeCbor(bytes('session_transcript_bytes')) as Embedded
  const { deviceKey, deviceAuth, covered } = documentOf(bytes('device_response'))
  const readerKey = fromPrivateBytes(bytes('ephemeral_reader_key_d'))

  test('the device has made its MAC with the key of the reader', () => {
    const mac0 = readMac0(at(deviceAuth, 'deviceMac'))
    const key = deviceMacKey(deviceKey, readerKey, transcript)
    expect(verifyMac0(mac0, key, covered(transcript))).toBe(true)
    expect(verifyMac0(mac0, key, covered(encodeCbor([null, null, null])))).toBe(false)
    const otherReader = deviceMacKey(deviceKey, generateKey('P-256'), transcript)
    expect(verifyMac0(mac0, otherReader, covered(transcript))).toBe(false)
    const otherSession = deviceMacKey(deviceKey, readerKey, encodeCbor([null, null, null]))
    expect(verifyMac0(mac0, otherSession, covered(transcript))).toBe(false)
  })

  test('device and reader derive one key', () => {
    const device = fromPrivateBytes(bytes('static_device_key_d'))
    const key = deviceMacKey(readerKey, device, transcript)
    const payload = covered(transcript)
    const theirs = readMac0(at(deviceAuth, 'deviceMac'))
    expect(verifyMac0(theirs, key, payload)).toBe(true)
    expect(readMac0(makeMac0(key, payload)).tag).toEqual(Buffer.from(theirs.tag))
  })

  test('the reader has signed its request', () => {
    const readerAuth = readSign1(decodeCbor(bytes('reader_auth')))
    const certificate = new X509Certificate(Buffer.from(readX5chain(readerAuth)![0]!, 'base64'))
    const items = at(decodeCbor(bytes('device_request')), 'docRequests', 0, 'itemsRequest') as Embedded
    expect(toHex(items.content)).toBe(values['items_request'])
    const payload = readerAuthentication(transcript, items)
    expect(verifySign1(readerAuth, certificate.publicKey, payload)).toBe(true)
    const more = embed(encodeCbor(new Map([['docType', 'another']])))
    const other = readerAuthentication(transcript, more)
    expect(verifySign1(readerAuth, certificate.publicKey, other)).toBe(false)
  })
})

test('a wallet has made a MAC with the key that the response was encrypted to', () => {
  const { items, readerKey } = readMdoc('oidf') as {
    items: { name: string; deviceResponse: string; sessionTranscript: string }[]
    readerKey: PrivateJwk
  }
  const { deviceResponse, sessionTranscript } = items.find(({ name }) => name === 'mac')!
  const { deviceKey, deviceAuth, covered } = documentOf(fromBase64(deviceResponse))
  const transcript = fromBase64(sessionTranscript)
  const key = deviceMacKey(deviceKey, readerKey, transcript)
  expect(verifyMac0(readMac0(at(deviceAuth, 'deviceMac')), key, covered(transcript))).toBe(true)
})

test('a wallet has answered org-iso-mdoc', () => {
  const { exchange } = readMdoc('annex-c') as { exchange: Record<string, string> }
  const transcript = encodeTranscript({
    handover: 'org-iso-mdoc',
    origin: exchange['origin']!,
    encryptionInfo: exchange['encryptionInfoBase64url']!,
  })
  expect(toHex(transcript)).toBe(exchange['sessionTranscript'])
  const response = at(decodeCbor(fromBase64(exchange['responseBase64url']!)), 1)
  const message = {
    enc: at(response, 'enc') as Uint8Array,
    ciphertext: at(response, 'cipherText') as Uint8Array,
  }
  const key = fromPrivateBytes(fromHex(exchange['recipientPrivateKey']!))
  const { deviceKey, deviceAuth, covered } = documentOf(openBase(key, message, { info: transcript }))
  const signature = readSign1(at(deviceAuth, 'deviceSignature'))
  expect(verifySign1(signature, deviceKey, covered(transcript))).toBe(true)
  const elsewhere = encodeTranscript({
    handover: 'org-iso-mdoc',
    origin: 'https://another.example',
    encryptionInfo: exchange['encryptionInfoBase64url']!,
  })
  expect(() => openBase(key, message, { info: elsewhere })).toThrow('for another request')
})

describe('a wrong transcript is known by its reason', () => {
  const [signing, encrypting] = [generateKey('P-256'), generateKey('P-256')]
  const redirect: Transcript = {
    handover: 'redirect',
    clientId: 'x509_hash:abc',
    nonce: 'n-0S6_WzA2Mj',
    responseUri: 'https://verifier.example/response?session=1',
    jwkThumbprint: thumbprintOf(encrypting),
  }
  const dcApi: Transcript = {
    handover: 'dc-api',
    origin: 'https://verifier.example',
    nonce: redirect.nonce,
    jwkThumbprint: redirect.jwkThumbprint,
  }
  const isoMdoc: Transcript = { handover: 'org-iso-mdoc', origin: dcApi.origin, encryptionInfo: 'gmVk' }
  const { clientId, nonce, responseUri } = redirect
  const plain = (transcript: Transcript) => ({ ...transcript, jwkThumbprint: null }) as Transcript
  const annexB = (mdocNonce: string): OldTranscript => ({
    handover: 'annex-b',
    clientId,
    nonce,
    responseUri,
    mdocNonce,
  })
  const oldEdition = 'the first edition of ISO/IEC TS 18013-7 (Annex B)'
  const hints = { otherThumbprints: [thumbprintOf(signing)], clientId, mdocNonce: 'abc' }

  test.each<[string, Transcript, Transcript | OldTranscript]>([
    ['an unencrypted response', redirect, plain(redirect)],
    ['an unencrypted response', dcApi, plain(dcApi)],
    ['another key of the request', redirect, { ...redirect, jwkThumbprint: thumbprintOf(signing) }],
    ['another key of the request', plain(redirect), { ...redirect, jwkThumbprint: thumbprintOf(signing) }],
    [
      'the response URI without its query',
      redirect,
      { ...redirect, responseUri: 'https://verifier.example/response' },
    ],
    ['the client id without its prefix', redirect, { ...redirect, clientId: 'abc' }],
    [`${oldEdition}, with an empty nonce of the wallet`, redirect, annexB('')],
    [oldEdition, redirect, annexB('abc')],
    ['the origin with a prefix', dcApi, { ...dcApi, origin: `origin:${dcApi.origin}` }],
    ['the origin with a prefix', isoMdoc, { ...isoMdoc, origin: `origin:${dcApi.origin}` }],
    [
      'draft 24 of OpenID4VP, with the client id',
      dcApi,
      { handover: 'draft-24', origin: dcApi.origin, clientId, nonce },
    ],
    [
      'draft 24 of OpenID4VP, with the client id',
      dcApi,
      { handover: 'draft-24', origin: dcApi.origin, clientId: `web-origin:${dcApi.origin}`, nonce },
    ],
  ])('%s', (reason, right, wrong) => {
    const hex = toHex(encodeTranscript(wrong))
    const found = otherTranscripts(right, hints).filter(({ transcript }) => toHex(transcript) === hex)
    expect(found.map((other) => other.reason)).toEqual([reason])
  })

  test('the right one is not among them', () => {
    const short = { ...redirect, clientId: 'abc', responseUri: 'https://verifier.example/response' }
    for (const right of [short, redirect, plain(redirect), dcApi, plain(dcApi), isoMdoc]) {
      const encoded = toHex(encodeTranscript(right))
      const others = otherTranscripts(right, hints).map(({ transcript }) => toHex(transcript))
      expect(others).not.toContain(encoded)
      expect(new Set(others).size).toBe(others.length)
    }
  })
})
