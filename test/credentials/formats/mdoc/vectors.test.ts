/** Published documents, each judged as a verifier does at its time: its checks, its warnings, its claims. */
import { describe, expect, test } from 'vitest'
import { concat, fromBase64, fromHex, toBase64url, toHex } from '../../../../src/foundation/bytes.ts'
import { type CborValue, decodeCbor, Embedded, encodeCbor } from '../../../../src/foundation/cbor/index.ts'
import { verifyMac0, verifySign1 } from '../../../../src/foundation/cose/index.ts'
import type { PrivateJwk } from '../../../../src/foundation/crypto/keys.ts'
import { fromPrivateBytes } from '../../../../src/foundation/crypto/p256.ts'
import type { CredentialQuery } from '../../../../src/credentials/dcql/query.ts'
import { decodeMdoc } from '../../../../src/credentials/formats/mdoc/decode.ts'
import { readIssuerSigned } from '../../../../src/credentials/formats/mdoc/issuer-signed.ts'
import {
  type Presented,
  readDeviceResponse,
} from '../../../../src/credentials/formats/mdoc/device-response.ts'
import { deviceAuthentication, deviceMacKey } from '../../../../src/credentials/formats/mdoc/transcript.ts'
import { at, readMdoc } from '../../../support/mdoc.ts'
import { judge } from './_documents.ts'

/** A certificate in PEM. */
const toPem = (der: string) =>
  `-----BEGIN CERTIFICATE-----\n${der.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----`
const hexToPem = (hex: string) => toPem(Buffer.from(hex, 'hex').toString('base64'))

/** Asks for all elements of a response. */
function queryFor(bytes: Uint8Array): CredentialQuery {
  const document = at(decodeCbor(bytes), 'documents', 0)
  const namespaces = (at(document, 'issuerSigned', 'nameSpaces') ?? new Map()) as Map<string, Embedded[]>
  const claims = [...namespaces].flatMap(([namespace, items]) =>
    items.map(({ content }) => ({
      path: [namespace, at(decodeCbor(content), 'elementIdentifier') as string],
    })),
  )
  return {
    id: 'document',
    format: 'mso_mdoc',
    meta: { doctype_value: at(document, 'docType') as string },
    ...(claims.length > 0 && { claims }),
  }
}

/** Whether the device has signed a document, or made a MAC with the key of a reader. */
function isBound(
  { docType, deviceNamespaces, deviceAuth, issuerSigned: { mso } }: Presented,
  transcript: Uint8Array,
  readerKey?: PrivateJwk,
): boolean {
  const payload = deviceAuthentication(transcript, docType, deviceNamespaces)
  if (deviceAuth.kind === 'signature') return verifySign1(deviceAuth.sign1, mso.deviceKey, payload)
  return verifyMac0(deviceAuth.mac0, deviceMacKey(mso.deviceKey, readerKey!, transcript), payload)
}

/**
 * The session of a published response has the thumbprint of a key alone, or is of an old draft, so that the
 * device's part is judged apart, and fails here. Everything before it passes.
 */
const unbound = {
  failed: 'holder-binding',
  passed: ['form', 'query', 'disclosure', 'policy', 'trust', 'signature', 'digests', 'validity'],
}

describe('Annex D of ISO/IEC 18013-5', () => {
  const { values } = readMdoc('annex-d') as { values: Record<string, string> }
  const bytes = fromHex(values['device_response']!)
  const text = toBase64url(bytes)
  const own = { query: queryFor(bytes), anchors: [hexToPem(values['ds_cert']!)], at: new Date('2020-12-01') }

  test('the issuer has signed six elements, and the device has made a MAC', async () => {
    const verdict = await judge(text, own)
    expect(verdict).toMatchObject({
      ...unbound,
      reason:
        'The document is not bound to this session: the device has made a MAC instead of a signature, and this session has no private key on P-256 to verify it',
    })
    expect(verdict.claims).toEqual({
      'org.iso.18013.5.1': {
        family_name: 'Doe',
        issue_date: '2019-10-20',
        expiry_date: '2024-10-20',
        document_number: '123456789',
        portrait: expect.stringMatching(/^_9j_4AAQSkZJRgABAQ/),
        driving_privileges: [
          { vehicle_category_code: 'A', issue_date: '2018-08-09', expiry_date: '2024-10-20' },
          { vehicle_category_code: 'B', issue_date: '2017-02-23', expiry_date: '2024-10-20' },
        ],
      },
    })
    const { content: transcript } = decodeCbor(fromHex(values['session_transcript_bytes']!)) as Embedded
    const presented = readDeviceResponse(bytes)
    const readerKey = fromPrivateBytes(fromHex(values['ephemeral_reader_key_d']!))
    expect(isBound(presented, transcript, readerKey)).toBe(true)
    expect(isBound(presented, encodeCbor([null, null, null]), readerKey)).toBe(false)
  })

  test.each([
    ['2020-09-30', 'trust'],
    ['2021-10-02', 'trust'],
  ])('at %s it fails at %s: the certificate of the signer', async (day, check) => {
    expect(await judge(text, { ...own, at: new Date(day) })).toMatchObject({ failed: check })
  })
})

describe('documents of other makers', () => {
  type Foreign = {
    name: string
    at: string
    data: string
    certificates: Partial<Record<'rootCertificate' | 'signingCertificate' | 'issuerCertificate', string>>
    sessionTranscriptHex: string | null
  }
  const { items } = readMdoc('foreign') as { items: Foreign[] }
  const responses = items.filter(({ sessionTranscriptHex }) => sessionTranscriptHex !== null)

  const crl = 'lacks a CRL distribution point with a URI, without reasons and cRLIssuer.'
  /** What is not as the standard wants it, without the names of certificates. */
  const warnings: Record<string, string[]> = {
    google: ['signed', 'validFrom', 'validUntil'].map(
      (name) => `validityInfo.${name} has fractions of seconds`,
    ),
    france: [crl],
    ubique: [
      'lacks the extended key usage 1.0.18013.5.1.2.',
      'has a serial number that is not positive or has more than 20 bytes.',
      'lacks a critical key usage of digitalSignature alone.',
      'lacks a subject key identifier.',
      'lacks an authority key identifier.',
      crl,
      'lacks an issuerAltName with a URI or an e-mail.',
    ],
    animo: [crl],
  }

  test.each(responses.map((each) => [each.name, each] as const))('%s', async (name, item) => {
    const bytes = fromHex(item.data)
    const { signingCertificate, rootCertificate, issuerCertificate } = item.certificates
    const verdict = await judge(toBase64url(bytes), {
      query: queryFor(bytes),
      // The root that the publisher of `google` names is unrelated to it.
      anchors: [toPem((name === 'animo' ? rootCertificate : (signingCertificate ?? issuerCertificate))!)],
      at: new Date(item.at),
    })
    expect(verdict, verdict.reason).toMatchObject(unbound)
    expect(verdict.warnings.map((each) => each.replace(/^Certificate .*\) /, ''))).toEqual(warnings[name])
    expect(isBound(readDeviceResponse(bytes), fromHex(item.sessionTranscriptHex!))).toBe(true)
  })

  test('bdr: digestIDs above the limit, keys in another order, long heads', () => {
    const { data } = items.find(({ name }) => name === 'bdr')!
    const bytes = fromHex(data)
    expect(readIssuerSigned(decodeCbor(bytes)).warnings).toEqual(['a digestID is 2147483648 or more'])
    const { types, claims, disclosures, signed } = decodeMdoc(toBase64url(bytes))
    expect(types).toEqual(['org.iso.18013.5.1.mDL'])
    expect(Object.keys(claims)).toMatchInlineSnapshot(`
      [
        "org.iso.18013.5.1",
        "org.iso.18013.5.1.DE",
      ]
    `)
    expect(disclosures).toHaveLength(18)
    expect(() => signed.checkDigests!()).not.toThrow()
  })

  test('google: a root that is not that of the signer is not trusted', async () => {
    const { data, certificates, at: day } = items.find(({ name }) => name === 'google')!
    const anchors = [toPem(certificates.rootCertificate!)]
    const bytes = fromHex(data)
    const judging = { query: queryFor(bytes), anchors, at: new Date(day) }
    expect(await judge(toBase64url(bytes), judging)).toMatchObject({ failed: 'trust' })
  })
})

describe('responses of the conformance suite of the OpenID Foundation', () => {
  const { items, readerKey } = readMdoc('oidf') as {
    items: { name: string; deviceResponse: string; sessionTranscript: string | null }[]
    readerKey: PrivateJwk
  }
  const find = (name: string) => {
    const item = items.find((each) => each.name === name)!
    return { bytes: fromBase64(item.deviceResponse), transcript: fromBase64(item.sessionTranscript ?? '') }
  }

  test('signed: no element is disclosed, and nameSpaces is an empty map', () => {
    const { bytes, transcript } = find('signed')
    const presented = readDeviceResponse(bytes)
    expect(presented.issuerSigned.items).toEqual([])
    expect(presented.warnings).toContain('nameSpaces is an empty map')
    expect(isBound(presented, transcript)).toBe(true)
    expect(isBound(presented, find('mac').transcript)).toBe(false)
  })

  test('mac: made with the key that the response was encrypted to', () => {
    const { bytes, transcript } = find('mac')
    const presented = readDeviceResponse(bytes)
    expect(presented.issuerSigned.items).toHaveLength(11)
    expect(isBound(presented, transcript, readerKey)).toBe(true)
    expect(isBound(presented, find('signed').transcript, readerKey)).toBe(false)
  })

  test('animo: both members of deviceAuth, one of them undefined', () => {
    const { warnings, issuerSigned, deviceAuth } = readDeviceResponse(find('animo').bytes)
    expect([issuerSigned.items.length, deviceAuth.kind]).toEqual([6, 'signature'])
    expect(warnings).toMatchInlineSnapshot(`
      [
        "deviceSignature has the payload undefined instead of null",
      ]
    `)
  })
})

describe('the wallet of the EU sends two documents under each query', () => {
  const { vpToken, request } = readMdoc('eudi') as {
    vpToken: Record<string, [string]>
    request: { dcql_query: { credentials: CredentialQuery[] } }
  }

  test.each(request.dcql_query.credentials.map((query) => [query.id, query] as const))(
    '%s: the one of the asked type is taken',
    async (id, query) => {
      const verdict = await judge(vpToken[id]![0], { query, at: new Date('2025-03-01') })
      // The authority of the EU is not published with it.
      expect(verdict).toMatchObject({ failed: 'trust', passed: ['form', 'query', 'disclosure', 'policy'] })
      expect(verdict.warnings).toEqual(
        expect.arrayContaining([
          'the response has 2 documents, and one is expected',
          'validityInfo.signed has fractions of seconds',
        ]),
      )
    },
  )

  test('none is taken if no type is asked for, or another', () => {
    const bytes = fromBase64(Object.values(vpToken)[0]![0])
    for (const asked of [[], ['org.example']])
      expect(() => readDeviceResponse(bytes, asked)).toThrow(
        'the response has 2 documents, and one is expected',
      )
  })
})

describe('issued documents', () => {
  const { cases } = readMdoc('issuance') as { cases: { name: string; issuerSignedHex: string }[] }

  test.each(cases)('$name: decoded and encoded it has the same bytes', ({ issuerSignedHex }) => {
    const value = decodeCbor(fromHex(issuerSignedHex))
    expect(toHex(encodeInOrder(value))).toBe(issuerSignedHex)
    const { payload } = readIssuerSigned(value).issuerAuth
    const { content } = decodeCbor(payload!) as Embedded
    expect(toHex(encodeInOrder(decodeCbor(content)))).toBe(toHex(content))
  })

  test.each(cases)('$name: its items share a digestID, and it is refused', ({ issuerSignedHex }) => {
    const { signed } = decodeMdoc(toBase64url(fromHex(issuerSignedHex)))
    expect(() => signed.checkDigests!()).toThrow(expect.objectContaining({ code: 'digests' }))
  })

  test('isomdl: six elements', () => {
    const { definitions } = readMdoc('isomdl') as { definitions: Record<string, string> }
    const { signed, disclosures } = decodeMdoc(toBase64url(fromHex(definitions['issuer_signed.cbor']!)))
    expect(disclosures).toHaveLength(6)
    expect(() => signed.checkDigests!()).not.toThrow()
    const dehydrated = decodeMdoc(toBase64url(fromHex(definitions['issuer_signed_dehydrated.cbor']!)))
    expect(() => dehydrated.signed.checkDigests!()).toThrow('the element is not what the issuer has signed')
  })
})
/** Encodes without sorting the keys of maps. */
function encodeInOrder(value: CborValue): Uint8Array {
  if (Array.isArray(value))
    return concat(Uint8Array.of(0x80 + value.length), ...value.map((each) => encodeInOrder(each)))
  if (!(value instanceof Map)) return encodeCbor(value)
  return concat(Uint8Array.of(0xa0 + value.size), ...[...value].flat().map(encodeInOrder))
}
