/** Structures of ISO/IEC 18013-5: published ones, in each encoding, and mistakes in them. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toBase64url, toHex } from '../../../src/foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  decodeCbor,
  embed,
  type Embedded,
  encodeCbor,
  Tagged,
} from '../../../src/foundation/cbor/index.ts'
import { header, signSign1 } from '../../../src/foundation/cose/index.ts'
import { generateKey, type PrivateJwk, thumbprintOf, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { issueAuthority } from '../../../src/foundation/x509/issue.ts'
import { makeDeviceResponse } from '../../../src/credentials/formats/mdoc/device-response.ts'
import { readIssuerSigned } from '../../../src/credentials/formats/mdoc/issuer-signed.ts'
import { encodeTranscript } from '../../../src/credentials/formats/mdoc/transcript.ts'
import type { Decoded } from '../../../src/operations/decode/decoded.ts'
import { decodeText } from '../../../src/operations/decode/index.ts'
import { at, readMdoc } from '../../support/mdoc.ts'
import { read, refusalOf, resultsOf } from './_read.ts'

const annexD = (readMdoc('annex-d') as { values: Record<string, string> }).values
type Foreign = {
  name: string
  data: string
  sessionTranscriptHex: string | null
  transcript: Record<string, string> | null
}
const foreign = (readMdoc('foreign') as { items: Foreign[] }).items
const foreignOf = (name: string) => foreign.find((each) => each.name === name)!
type Oidf = { name: string; deviceResponse: string; sessionTranscript: string }
const oidf = (readMdoc('oidf') as { items: Oidf[] }).items
const oidfOf = (name: string) => oidf.find((each) => each.name === name)!

const readWith = (text: string, session: { transcript?: string; request?: string; origin?: string }) =>
  decodeText(text, { isOnline: false, session })
const { key, certificate } = await signerOf()
const detailOf = ({ checks }: Decoded, name: string) => checks.find((each) => each.name === name)?.detail
/** Of what the issuer has signed. */
const documentPath = ['documents', 0, 'issuerSigned']
const response = fromHex(annexD['device_response']!)

describe('the presentation of ISO/IEC 18013-5 Annex D', () => {
  test.each([
    ['hex', annexD['device_response']!],
    ['base64url', toBase64url(response)],
    ['base64', Buffer.from(response).toString('base64')],
    ['folded hex', annexD['device_response']!.replaceAll(/.{64}/g, '$&\n')],
  ])('is read in %s', async (_, text) => {
    const { kind, parts } = await read(text)
    expect({ kind, parts: parts.map((part) => part.kind) }).toEqual({
      kind: 'mdoc-response',
      parts: ['mdoc-document'],
    })
  })

  test('has its document, its elements, the missing items and the certificate', async () => {
    const whole = await read(toHex(response))
    const [document] = whole.parts as [Decoded]
    expect(document.facts).toMatchObject({
      type: 'org.iso.18013.5.1.mDL',
      signed: new Date('2020-10-01T13:30:02Z'),
      expires: new Date('2021-10-01T13:30:02Z'),
      items: 6,
      missing: [
        'org.iso.18013.5.1: 7 of 13 (digests 1, 2, 5, 6, 10, 11, 12)',
        'org.iso.18013.5.1.US: 4 of 4 (digests 0, 1, 2, 3)',
      ],
      'device authentication': 'MAC',
    })
    expect(resultsOf(document)).toEqual({
      signature: 'passed',
      digests: 'passed',
      form: 'passed',
      dates: 'passed',
      // It has no CRL distribution point.
      certificate: 'failed',
      'device MAC': 'not verified',
    })
    expect(document.content['elements']).toMatchObject({
      'org.iso.18013.5.1': { family_name: 'Doe', portrait: 'JPEG, 1,042 bytes', expiry_date: '2024-10-20' },
    })
    const portrait = toBase64url(fromHex(annexD['device_response_portrait_data']!))
    expect(document.content['claims']).toMatchObject({ 'org.iso.18013.5.1': { portrait } })
    expect(document.parts).toMatchObject([{ kind: 'certificate', facts: { subject: 'CN=utopia ds, C=US' } }])
  })

  test('does not show the random bytes of items, but in the notation', async () => {
    const item = at(decodeCbor(response), ...documentPath, 'nameSpaces', 'org.iso.18013.5.1', 0)
    const random = at(decodeCbor((item as Embedded).content), 'random') as Uint8Array
    const shown = JSON.stringify(await read(toHex(response)))
    expect(shown).not.toContain(toBase64url(random))
    expect(shown).not.toContain(toHex(random))
    const { kind, content } = await decodeText(toHex(response), { isOnline: false, asCbor: true })
    expect(kind).toBe('cbor')
    expect(content['notation']).toContain(`"random": h'${toHex(random)}'`)
    expect(content['notation']).toMatch(/^ +0 {2}\{\n +1 {4}"version": "1.0",\n/)
  })

  test('an element that is changed has no digest', async () => {
    const changed = annexD['device_response']!.replace('63446f65', '63446f66')
    const [document] = (await read(changed)).parts as [Decoded]
    expect(resultsOf(document)).toMatchObject({ digests: 'failed', signature: 'passed' })
    expect(detailOf(document, 'digests')).toContain('org.iso.18013.5.1.family_name')
  })

  test('an MSO that is changed is not what the issuer has signed', async () => {
    const docType = Buffer.from('org.iso.18013.5.1.mDL').toString('hex')
    const other = Buffer.from('org.iso.18013.5.1.mDX').toString('hex')
    const [document] = (await read(annexD['device_response']!.replaceAll(docType, other))).parts as [Decoded]
    expect(resultsOf(document)).toMatchObject({ signature: 'failed', digests: 'passed' })
  })
})

describe('the signature of a device', () => {
  test.each(
    foreign.filter((each) => each.sessionTranscriptHex !== null).map((each) => [each.name, each] as const),
  )('of %s fits its transcript, and no other', async (name, { data, sessionTranscriptHex: transcript }) => {
    const check = async (given: string) => {
      const [document] = (await readWith(data, { transcript: given })).parts as [Decoded]
      return resultsOf(document)['device signature']
    }
    const bytes = fromHex(transcript!)
    expect(await check(transcript!)).toBe('passed')
    expect(await check(Buffer.from(embed(bytes).bytes).toString('base64'))).toBe('passed')
    const other = foreign.find((each) => each.sessionTranscriptHex !== null && each.name !== name)!
    expect(await check(other.sessionTranscriptHex!)).toBe('failed')
  })

  test.each([
    ['a text', 'hello!', 'neither hex nor base64'],
    ['what ends early', '83f6', 'it is not CBOR'],
    ['another array', '8101', 'it is not a SessionTranscript'],
    ['what is wrapped and ends early', 'd81841a1', 'its content cannot be read'],
  ])('refuses %s as transcript', async (_, transcript, reason) => {
    await expect(readWith(toHex(response), { transcript })).rejects.toThrow(reason)
  })

  const encryptionKey = { ...toPublic(generateKey('P-256')), kid: 'enc' }
  const other = { ...toPublic(generateKey('P-256')), kid: 'other' }
  const request = {
    client_id: 'x509_san_dns:example.com',
    nonce: 'exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA',
    response_mode: 'direct_post.jwt',
    response_uri: 'https://example.com/response',
    dcql_query: { credentials: [{ id: 'a', format: 'mso_mdoc', meta: { doctype_value: 'b' } }] },
    client_metadata: { jwks: { keys: [other, encryptionKey] } },
  }
  type Published = { name: string; sessionTranscript: string; jwk?: object }
  const transcripts = (readMdoc('transcripts') as { items: Published[] }).items
  const published = (name: string) => transcripts.find((each) => each.name === name)!

  test.each([
    [
      'redirect, plain',
      { ...request, response_mode: 'direct_post' },
      undefined,
      'a response that is not encrypted',
    ],
    [
      'redirect, encrypted',
      { ...request, client_metadata: { jwks: { keys: [other, published('redirect, encrypted').jwk] } } },
      undefined,
      'a response encrypted to its key',
    ],
    [
      'Digital Credentials API, plain',
      {
        ...request,
        response_mode: 'dc_api',
        expected_origins: ['https://other.example', 'https://example.com'],
      },
      undefined,
      'a response that is not encrypted, at https://example.com',
    ],
    [
      'Digital Credentials API, encrypted',
      {
        ...request,
        response_mode: 'dc_api.jwt',
        client_metadata: { jwks: { keys: [published('redirect, encrypted').jwk] } },
      },
      'https://example.com',
      'at https://example.com',
    ],
  ])('the transcript "%s" is computed from its request', async (name, value, origin, detail) => {
    const given = { request: JSON.stringify(value), ...(origin !== undefined && { origin }) }
    const decoded = await readWith(published(name).sessionTranscript, given)
    expect(decoded.checks).toMatchObject([
      { name: 'request', result: 'passed', detail: expect.stringContaining(detail) },
    ])
  })

  test('the transcript of org-iso-mdoc is computed from its request and the origin', async () => {
    const { exchange } = readMdoc('annex-c') as { exchange: Record<string, string> }
    const deviceRequest = toBase64url(fromHex(annexD['device_request']!))
    const request = JSON.stringify({ deviceRequest, encryptionInfo: exchange['encryptionInfoBase64url'] })
    const check = async (origin: string) =>
      (await readWith(exchange['sessionTranscript']!, { request, origin })).checks[0]!.result
    expect(await check(exchange['origin']!)).toBe('passed')
    expect(await check('https://other.example')).toBe('failed')
    await expect(readWith(exchange['sessionTranscript']!, { request })).rejects.toThrow('--origin')
    // The request names its own session.
    const whole = await readWith(request, { origin: exchange['origin']! })
    expect(whole.kind).toBe('iso-mdoc-request')
    expect(whole.parts.map(({ kind }) => kind)).toEqual(['device-request', 'iso-mdoc-encryption'])
    // The reader of Annex D has signed another session.
    expect(resultsOf(whole.parts[0]!.parts[0]!)).toMatchObject({ 'reader signature': 'failed' })
    expect(whole.parts[1]!.facts['nonce']).toBe(exchange['nonce'])
    expect((await read(exchange['encryptedResponse']!)).kind).toBe('iso-mdoc-response')
  })

  test('a transcript of another request has its mistake, if that is known', async () => {
    const given = {
      request: JSON.stringify({ ...request, client_metadata: { jwks: { keys: [encryptionKey] } } }),
    }
    const plain = await readWith(published('redirect, plain').sessionTranscript, given)
    expect(plain.checks).toMatchObject([
      { result: 'failed', detail: 'the transcript is that of an unencrypted response' },
    ])
    const unknown = await readWith(published('redirect, encrypted').sessionTranscript, given)
    expect(unknown.checks).toMatchObject([
      { result: 'failed', detail: 'the transcript is that of another request' },
    ])
  })

  test('of a document fits the request that it answers', async () => {
    const issuerSigned = at(decodeCbor(response), ...documentPath) as CborMap
    const toText = (name: string) => toBase64url(fromHex(annexD[`static_device_key_${name}`]!))
    const device = { kty: 'EC', crv: 'P-256', x: toText('x'), y: toText('y'), d: toText('d') } as const
    const check = async (thumbprint: Uint8Array | null, change: object = {}) => {
      const { client_id: clientId, nonce, response_uri: responseUri } = request
      const presented = makeDeviceResponse(readIssuerSigned(issuerSigned), issuerSigned.get('issuerAuth'), {
        key: device,
        transcript: encodeTranscript({
          handover: 'redirect',
          clientId,
          nonce,
          responseUri,
          jwkThumbprint: thumbprint,
        }),
        discloses: () => true,
      })
      const given = { request: JSON.stringify({ ...request, ...change }) }
      const [document] = (await readWith(toHex(presented), given)).parts as [Decoded]
      return document.checks.at(-1)
    }
    const made = 'made by the device key, for a response'
    expect(await check(thumbprintOf(encryptionKey))).toEqual({
      name: 'device signature',
      result: 'passed',
      detail: `${made} encrypted to its key enc`,
    })
    expect(await check(null, { response_mode: 'direct_post' })).toMatchObject({
      result: 'passed',
      detail: `${made} that is not encrypted`,
    })
    expect(await check(null)).toMatchObject({ result: 'failed', detail: 'made for an unencrypted response' })
    expect(await check(thumbprintOf(other), { nonce: 'replayed' })).toMatchObject({
      result: 'failed',
      detail: 'not made by the device key for this session',
    })
  })

  test.each([
    ['google', 'dc_api', 'draft 24 of OpenID4VP'],
    ['france', 'direct_post', 'the first edition of ISO/IEC TS 18013-7 (Annex B), with an empty nonce'],
  ])('of %s was made for an earlier draft', async (name, mode, draft) => {
    const { data, transcript } = foreignOf(name)
    const asked = {
      client_id: transcript!['clientId'],
      nonce: transcript!['nonce'],
      response_uri: transcript!['responseUri'],
      response_mode: mode,
      expected_origins: [transcript!['origin']],
    }
    const [document] = (await readWith(data, { request: JSON.stringify(asked) })).parts as [Decoded]
    expect(document.checks.at(-1)).toMatchObject({
      result: 'failed',
      detail: expect.stringContaining(`made for ${draft}`),
    })
  })

  test.each([
    ['no request', JSON.stringify({ vct: 'a' }), 'not an authorization request'],
    ['a request elsewhere', 'openid4vp://?client_id=a&request_uri=https%3A%2F%2Fa.example', 'needs --online'],
    ['a request without a key', JSON.stringify({ ...request, client_metadata: {} }), 'no key for that'],
    ['a request without an origin', JSON.stringify({ ...request, response_mode: 'dc_api' }), '--origin'],
    [
      'a request without an address',
      JSON.stringify({ client_id: 'a', nonce: 'b' }),
      'it has no response_uri',
    ],
  ])('refuses %s', async (_, text, reason) => {
    await expect(readWith(toHex(response), { request: text })).rejects.toThrow(reason)
  })
})

test('elements that the issuer did not let the device sign fail', async () => {
  const value = decodeCbor(fromHex(foreignOf('france').data)) as CborMap
  const deviceSigned = at(value, 'documents', 0, 'deviceSigned') as CborMap
  deviceSigned.set(
    'nameSpaces',
    embed(encodeCbor(new Map([['org.iso.18013.5.1', new Map([['admin', true]])]]))),
  )
  const [document] = (await read(toHex(encodeCbor(value)))).parts as [Decoded]
  expect(document.content['deviceClaims']).toEqual({ 'org.iso.18013.5.1': { admin: true } })
  expect(document.checks.at(-1)).toMatchObject({
    result: 'failed',
    detail: expect.stringContaining('org.iso.18013.5.1.admin, and its issuer did not authorize that'),
  })
})

describe('a request for documents', () => {
  const text = annexD['device_request']!

  test('has what it asks for, what is retained, and its reader', async () => {
    const { kind, parts } = await read(text)
    expect({ kind, asks: parts.map(({ facts }) => facts['asks']) }).toMatchObject({
      kind: 'device-request',
      asks: [
        expect.arrayContaining([
          'org.iso.18013.5.1 family_name, to be retained',
          'org.iso.18013.5.1 portrait',
        ]),
      ],
    })
    expect(parts[0]!.parts).toMatchObject([{ facts: { subject: 'CN=reader' } }])
  })

  test('its reader has signed the session', async () => {
    const check = async (session: { transcript?: string }) =>
      resultsOf((await readWith(text, session)).parts[0]!)['reader signature']
    expect(await check({})).toBe('not verified')
    expect(await check({ transcript: annexD['session_transcript_bytes']! })).toBe('passed')
    expect(await check({ transcript: foreignOf('google').sessionTranscriptHex! })).toBe('failed')
  })

  test('a transcript near the reader has an engagement', async () => {
    const { kind, facts } = await read(annexD['session_transcript_bytes']!)
    expect({ kind, facts }).toMatchObject({
      kind: 'session-transcript',
      facts: { 'device engagement': '88 bytes', handover: 'NFC (ISO/IEC 18013-5)' },
    })
  })
})

describe('parts of a document', () => {
  const issuerAuth = at(decodeCbor(response), ...documentPath, 'issuerAuth') as CborValue[]
  const mso = (decodeCbor(issuerAuth[2] as Uint8Array) as Embedded).content

  test.each([
    ['issuerAuth', encodeCbor(issuerAuth), 'mdoc-issuer-auth', { signature: 'passed', form: 'passed' }],
    // A strict reader wants no tag.
    [
      'issuerAuth with its tag',
      encodeCbor(new Tagged(18, issuerAuth)),
      'mdoc-issuer-auth',
      { signature: 'passed', form: 'failed' },
    ],
    ['MSO', mso, 'mso', { signature: 'not verified', form: 'passed' }],
    ['embedded MSO', embed(mso).bytes, 'mso', { signature: 'not verified', form: 'passed' }],
  ])('%s', async (_, bytes, kind, results) => {
    const decoded = await read(toHex(bytes))
    expect({ kind: decoded.kind, type: decoded.facts['type'] }).toEqual({
      kind,
      type: 'org.iso.18013.5.1.mDL',
    })
    expect(resultsOf(decoded)).toMatchObject(results)
    expect(decoded.content['mso']).toMatchObject({ docType: 'org.iso.18013.5.1.mDL' })
  })
})

describe('what a strict reader refuses', () => {
  const formOf = async (text: string) => {
    const whole = await read(text)
    const [document = whole] = whole.parts.filter(({ kind }) => kind === 'mdoc-document')
    return { form: `${detailOf(whole, 'form')} ${detailOf(document, 'form')}`, whole, document }
  }

  test.each([
    ['fractions of seconds', foreignOf('google').data, 'validityInfo.signed has fractions of seconds'],
    ['undefined', oidfOf('animo').deviceResponse, 'the value undefined, at byte 3171, and 1 more'],
    ['undefined as payload', oidfOf('animo').deviceResponse, 'deviceSignature has the payload undefined'],
    ['a root in the chain', oidfOf('animo').deviceResponse, 'x5chain[1] is self-signed'],
    ['a self-signed signer', oidfOf('signed').deviceResponse, 'x5chain[0] is self-signed'],
    [
      'a date as text',
      oidfOf('mac').deviceResponse,
      'driving_privileges[0].issue_date is a date without a tag',
    ],
    [
      'several documents in a response',
      Object.values((readMdoc('eudi') as { vpToken: Record<string, string[]> }).vpToken)[0]![0]!,
      'it has 2 documents',
    ],
  ])('%s', async (_, text, fault) => {
    expect((await formOf(text)).form).toContain(fault)
  })

  test.each([
    ['long heads', foreignOf('bdr').data, 'it has a head that is longer than it must be, at byte 0'],
    ['large digest ids', foreignOf('bdr').data, 'a digestID is 2147483648 or more'],
    ['empty namespaces', oidfOf('signed').deviceResponse, 'nameSpaces is an empty map'],
    ['base64', Buffer.from(fromHex(foreignOf('bdr').data)).toString('base64'), 'it is base64'],
  ])('but it only warns of %s', async (_, text, warning) => {
    const { form, whole, document } = await formOf(text)
    expect([whole, document].flatMap(({ facts }) => facts['warnings'])).toContainEqual(
      expect.stringContaining(warning),
    )
    expect(form).not.toContain(warning)
  })

  test('an item of indefinite length, at its place in the notation', async () => {
    const item = at(decodeCbor(response), ...documentPath, 'nameSpaces', 'org.iso.18013.5.1', 0) as Embedded
    const broken = embed(fromHex(`bf${toHex(item.content).slice(2)}ff`)).bytes
    const text = annexD['device_response']!.replace(toHex(item.bytes), toHex(broken))
    const { content } = await decodeText(text, { isOnline: false, asCbor: true })
    const [, offset] = /\n *(\d+) +\{_\n/.exec(String(content['notation']))!
    const { form } = await formOf(text)
    expect(form).toContain(`family_name has an array or map of indefinite length, at byte ${offset}`)
  })

  test('documents that share digest ids', async () => {
    const { cases } = readMdoc('issuance') as { cases: { base64url: string }[] }
    for (const { base64url } of cases)
      expect(resultsOf(await read(base64url))).toMatchObject({ signature: 'passed', digests: 'failed' })
  })

  test.each([
    [
      'a version of the MSO',
      '6776657273696f6e63312e30',
      '6776657273696f6e63312e31',
      'the version of the MSO is "1.1"',
    ],
    ['a payload without tag 24', 'd81859', 'd82059', 'its payload is tag 32 with a byte string'],
  ])('%s cannot be read', async (_, from, to, reason) => {
    const issuerAuth = toHex(encodeCbor(at(decodeCbor(response), ...documentPath, 'issuerAuth')))
    expect(await refusalOf(issuerAuth.replace(from, to))).toContain(reason)
  })
})

describe('lists', () => {
  const { tokens } = readMdoc('status-list-cwt') as { tokens: Record<string, string> }
  const list = tokens['status_list_cwt']!

  test('a status list is counted, and its form is strict', async () => {
    const decoded = await read(list)
    expect(decoded).toMatchObject({
      kind: 'status-list-cwt',
      facts: {
        entries: 16,
        statuses: ['7 valid (0)', '9 invalid (1)'],
        list: 'https://example.com/statuslists/1',
      },
      content: { payload: { status_list: { bits: 1, lst: 'eNrbuRgAAhcBXQ' } } },
    })
    expect(resultsOf(decoded)).toEqual({ signature: 'not verified', form: 'passed' })
    for (const other of [list.replace(/^d2/, ''), `d83d${list}`])
      expect(resultsOf(await read(other))).toMatchObject({ form: 'failed' })
  })

  const signed = (typ: string | undefined, payload: CborMap) => {
    const unprotected = new Map<CborValue, CborValue>([[header.x5chain, certificate]])
    const named = typ === undefined ? new Map() : new Map([[header.typ, typ]])
    const message = signSign1({
      key,
      protected: named,
      unprotected,
      payload: encodeCbor(payload),
    })
    return toHex(encodeCbor(new Tagged(18, message)))
  }
  const claims: [CborValue, CborValue][] = [
    [2, 'https://issuer.example/list'],
    [6, 1_700_000_000],
  ]

  test('a list of revoked identifiers, by the key of its certificate', async () => {
    const identifiers = new Map<CborValue, CborValue>([[new Uint8Array(16).fill(7), new Map()]])
    const payload = new Map([
      ...claims,
      [4, 1_900_000_000],
      [65_530, new Map([['identifiers', identifiers]])],
    ])
    const decoded = await read(signed('application/identifierlist+cwt', payload))
    expect(decoded).toMatchObject({ kind: 'identifier-list-cwt', facts: { revoked: 1 } })
    expect(resultsOf(decoded)).toEqual({ signature: 'passed', form: 'passed' })
  })

  test('a list without an end is shown, and is not as the standard has it', async () => {
    const entries = new Map<string, CborValue>([
      ['bits', 1],
      ['lst', fromBase64('eNrbuRgAAhcBXQ')],
    ])
    const decoded = await read(signed(undefined, new Map([...claims, [65_533, entries]])))
    expect(decoded.kind).toBe('status-list-cwt')
    expect(detailOf(decoded, 'form')).toContain('exp')
  })

  test('a list of authorities (VICAL)', async () => {
    const info = (country: string) =>
      new Map<CborValue, CborValue>([
        ['certificate', certificate],
        ['docType', ['org.iso.18013.5.1.mDL']],
        ['issuingCountry', country],
      ])
    const payload = new Map<CborValue, CborValue>([
      ['version', '1.0'],
      ['vicalProvider', 'Example'],
      ['date', new Tagged(0, '2026-11-01T00:00:00Z')],
      ['vicalIssueID', 3],
      ['certificateInfos', [info('UT'), info('DE'), info('UT')]],
    ])
    const decoded = await read(signed(undefined, payload))
    expect(decoded).toMatchObject({
      kind: 'vical',
      facts: {
        provider: 'Example',
        certificates: 3,
        issued: new Date('2026-11-01T00:00:00Z'),
      },
    })
    expect(resultsOf(decoded)).toEqual({ signature: 'passed' })
    payload.delete('vicalProvider')
    expect(await refusalOf(signed(undefined, payload))).toContain('VICAL), but its content cannot be read')
  })

  test('a CWT that is no list is named', async () => {
    expect(await refusalOf(tokens['referenced_token_cwt']!)).toContain(
      'This is a COSE_Sign1, but of no known kind: its payload is a map with the members 2, 1, 6, 4, 65535',
    )
  })
})

/** A key, and its certificate in DER. */
async function signerOf(): Promise<{ key: PrivateJwk; certificate: Uint8Array }> {
  const { certificate, key } = await issueAuthority('CN=Signer', 30)
  return {
    key: createPrivateKey(key).export({ format: 'jwk' }) as PrivateJwk,
    certificate: new Uint8Array(new X509Certificate(certificate).raw),
  }
}

test.each([
  ['a map', 'a16161a0', 'a map with the members a'],
  ['an array', '82616101', 'an array of 2, which begins with the text a'],
  ['a tag', 'c11a514b67b0', 'tag 1 with a single value'],
  ['a byte string', '4401020304', 'a byte string of 4 bytes'],
])('CBOR that is %s of no known kind is described', async (_, hex, seen) => {
  expect(await refusalOf(hex)).toBe(
    `DecodeError: This is CBOR, but of no known kind: ${seen}. See its content with --cbor`,
  )
})

test.each([
  ['depth', '81'.repeat(20_000)],
  ['a length', 'a161615b00ffffffffffffff'],
  ['what ends early', annexD['device_response']!.slice(0, -2)],
])('hostile CBOR is refused: %s', async (_, hex) => {
  expect(await refusalOf(hex)).toMatch(/nor CBOR in hex or base64: read as hex, it has .+ at byte \d+$/)
  await expect(decodeText(hex, { isOnline: false, asCbor: true })).rejects.toThrow('The text is not CBOR')
})

test('byte strings in byte strings are opened to a limit', async () => {
  let nested: Uint8Array = encodeCbor(1)
  for (let depth = 0; depth < 5_000; depth++) nested = embed(nested).bytes
  const { content } = await decodeText(toHex(nested), { isOnline: false, asCbor: true })
  expect(String(content['notation']).split('<<')).toHaveLength(9)
  expect(await refusalOf(toHex(nested))).toContain('nested too deeply')
})

test.each([
  ['presentation', annexD['device_response']!, 61],
  ['request', annexD['device_request']!, 17],
  ['transcript', annexD['session_transcript_bytes']!, 17],
  ['list', (readMdoc('status-list-cwt') as { tokens: Record<string, string> }).tokens['status_list_cwt']!, 5],
])('a %s with any byte changed is decoded, or refused with a reason', async (_, hex, step) => {
  const transcript = annexD['session_transcript_bytes']!
  for (let index = 0; index < hex.length / 2; index += step) {
    const bytes = fromHex(hex)
    bytes[index]! ^= 1
    const refusal = await readWith(toHex(bytes), { transcript }).then(
      () => undefined,
      (error: Error) => error.name,
    )
    expect([undefined, 'DecodeError'], `byte ${index}`).toContain(refusal)
  }
})
