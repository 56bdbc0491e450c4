/** `org-iso-mdoc` by itself: a response of another implementation, and requests and responses that are wrong. */
import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromBase64, fromHex, toBase64url } from '../../../../src/foundation/bytes.ts'
import {
  type CborValue,
  decodeCbor,
  embed,
  type Embedded,
  encodeCbor,
} from '../../../../src/foundation/cbor/index.ts'
import { fromCoseKey, toCoseKey } from '../../../../src/foundation/cose/index.ts'
import { publicObject } from '../../../../src/foundation/crypto/key-objects.ts'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { fromPrivateBytes } from '../../../../src/foundation/crypto/p256.ts'
import { type DcqlQuery, RequestedDcqlQuery } from '../../../../src/credentials/dcql/query.ts'
import { runChecks } from '../../../../src/credentials/formats/checks.ts'
import {
  isSignedByReader,
  makeAnnexCRequest,
  openAnnexCResponse,
  readAnnexCRequest,
  sealAnnexCResponse,
} from '../../../../src/credentials/formats/mdoc/annex-c.ts'
import {
  findDeviceRequestFault,
  readDeviceRequest,
} from '../../../../src/credentials/formats/mdoc/device-request.ts'
import { readMdocPresentation } from '../../../../src/credentials/formats/mdoc/presentation.ts'
import { splitDeviceResponse } from '../../../../src/credentials/formats/mdoc/device-response.ts'
import { at, readMdoc } from '../../../support/mdoc.ts'
import { make, spkiOf, x5cOf } from '../../../foundation/x509/_chains.ts'

const [docType, namespace] = ['org.iso.18013.5.1.mDL', 'org.iso.18013.5.1']
const licence = {
  id: 'licence',
  format: 'mso_mdoc',
  meta: { doctype_value: docType },
  claims: [
    { path: [namespace, 'family_name'], intent_to_retain: true },
    { path: [namespace, 'age_over_18'] },
    { path: ['org.iso.18013.5.1.aamva', 'sex'] },
  ],
}
const query = { credentials: [licence] } satisfies DcqlQuery

const { exchange } = readMdoc('annex-c') as { exchange: Record<string, string> }
const { origin, encryptionInfoBase64url: encryptionInfo } = exchange
const session = { origin: origin!, encryptionInfo: encryptionInfo! }
const key = fromPrivateBytes(fromHex(exchange['recipientPrivateKey']!))
const response = exchange['responseBase64url']!

const at2020 = Date.parse(exchange['atForValidity']!) / 1_000

/** Checks a presentation as the verifier does. The root of Annex D is not published: its signer is trusted. */
function judge(text: string, expectedSession = session) {
  const presentation = readMdocPresentation(text, [docType])
  const expected = {
    audience: '',
    nonce: '',
    session: { handover: 'org-iso-mdoc' as const, ...expectedSession },
    options: {
      now: at2020,
      resolve: () => Promise.reject(new Error('no DID')),
      verifyStatus: false,
      verifyChain: (x5c: unknown) => {
        const [der] = x5c as [string]
        const certificate = new X509Certificate(Buffer.from(der, 'base64'))
        const publicKey = certificate.publicKey.export({ format: 'jwk' }) as never
        return Promise.resolve({ publicKey, subject: certificate.subject })
      },
    },
  }
  return runChecks(presentation.checks!(expected as never, []))
}

test('the response of another implementation is decrypted and verified at its time', async () => {
  const { licence: [text] = [], ...others } = openAnnexCResponse(response, key, session, query)
  expect(others).toEqual({})
  expect(await judge(text!)).toEqual(
    ['signature', 'digests', 'validity', 'holder-binding', 'audience', 'nonce', 'time', 'status'].map(
      (name) => ({ name, result: 'passed' }),
    ),
  )
  const elsewhere = await judge(text!, { ...session, origin: 'https://another.example' })
  expect(elsewhere.find(({ result }) => result === 'failed')).toMatchObject({ name: 'holder-binding' })
})

const otherInfo = makeAnnexCRequest(query, toPublic(key)).encryptionInfo
test.each<[string, object, typeof key]>([
  ['origin', { origin: 'https://another.example' }, key],
  ['origin', { origin: `${origin}/` }, key],
  ['nonce', { encryptionInfo: otherInfo }, key],
  ['key', {}, generateKey('P-256')],
])('a response for another %s is not decrypted: %j', (_, change, own) => {
  expect(() => openAnnexCResponse(response, own, { ...session, ...change }, query)).toThrow(
    'The response cannot be decrypted',
  )
})

const pair = (...members: CborValue[]) => toBase64url(encodeCbor(members))
const map = (object: Record<string, CborValue>) => new Map(Object.entries(object)) as CborValue
const { enc, cipherText } = Object.fromEntries(
  at(decodeCbor(fromBase64(response)), 1) as Map<string, Uint8Array>,
)
test.each<[string, string, string]>([
  ['text', '§', 'base64'],
  ['nothing', '', 'response'],
  ['a map', toBase64url(encodeCbor(new Map())), 'array of dcapi'],
  ['another array', pair('other', map({ enc, cipherText })), 'array of dcapi'],
  ['a longer array', pair('dcapi', map({ enc, cipherText }), 1), 'array of dcapi'],
  ['no key', pair('dcapi', map({ cipherText })), 'response.enc'],
  ['a text as ciphertext', pair('dcapi', map({ enc, cipherText: 'a' })), 'response.cipherText'],
  ['a key that is no point', pair('dcapi', map({ enc: new Uint8Array(65), cipherText })), 'decrypted'],
  ['half a ciphertext', pair('dcapi', map({ enc, cipherText: cipherText!.slice(0, 9) })), 'decrypted'],
])('a response that is %s is malformed', (_, text, reason) => {
  expect(() => openAnnexCResponse(text, key, session, query)).toThrow(reason)
})

test('an encrypted error of the device, or what is no DeviceResponse, is malformed', () => {
  const { vpToken } = readMdoc('eudi') as { vpToken: Record<string, string[]> }
  const [both] = Object.values(vpToken)[0] as [string]
  expect(() => sealAnnexCResponse([toBase64url(encodeCbor(new Map([['status', 0]])))], session)).toThrow(
    'version',
  )
  const failed = map({ version: '1.0', status: 10 })
  expect(() => splitDeviceResponse(encodeCbor(failed))).toThrow('status 10')
  const sealed = sealAnnexCResponse([both], session)
  expect(Object.keys(openAnnexCResponse(sealed, key, session, query))).toHaveLength(2)
})

test('each of several documents keeps the bytes that its issuer and its device signed', async () => {
  const { vpToken } = readMdoc('eudi') as { vpToken: Record<string, string[]> }
  const [both] = Object.values(vpToken)[0] as [string]
  const parts = splitDeviceResponse(fromBase64(both))
  expect(parts.map((each) => each.docType)).toEqual([docType, 'eu.europa.ec.eudi.pid.1'].toSorted())
  for (const { bytes } of parts) {
    const checks = await judge(toBase64url(bytes))
    expect(checks.slice(0, 2)).toMatchObject([
      { name: 'signature', result: 'passed' },
      { name: 'digests', result: 'passed' },
    ])
  }
})

test('a query is a DeviceRequest with the intents to retain, and is read as the same query', () => {
  const request = makeAnnexCRequest(query, toPublic(key))
  const [dcapi, info] = decodeCbor(fromBase64(request.encryptionInfo)) as [string, CborValue]
  expect(dcapi).toBe('dcapi')
  expect((at(info, 'nonce') as Uint8Array).length).toBe(32)
  expect(fromCoseKey(at(info, 'recipientPublicKey'))).toEqual(toPublic(key))
  const whole = decodeCbor(fromBase64(request.deviceRequest))
  expect(at(whole, 'version')).toBe('1.0')
  const { content } = at(whole, 'docRequests', 0, 'itemsRequest') as Embedded
  const items = decodeCbor(content)
  expect(at(items, 'docType')).toBe(docType)
  expect(at(items, 'nameSpaces', namespace)).toEqual(
    new Map([
      ['family_name', true],
      ['age_over_18', false],
    ]),
  )
  const read = readAnnexCRequest(request)
  const claims = licence.claims.map((claim) => ({ intent_to_retain: false, ...claim }))
  const [asked] = RequestedDcqlQuery.parse(read.query).credentials
  expect(asked).toEqual({ ...licence, id: 'document-1', claims: expect.arrayContaining(claims) })
  expect(asked!.claims).toHaveLength(3)
  expect(read.signatures).toEqual([undefined])
  expect(makeAnnexCRequest(query, toPublic(key)).encryptionInfo).not.toBe(request.encryptionInfo)
})

test('the signature of a reader is for one origin, one nonce and its elements', async () => {
  const own = generateKey('P-256')
  const certificate = await make('CN=Reader', undefined, { publicKey: spkiOf(publicObject(toPublic(own))) })
  const reader = { key: own, x5c: x5cOf(certificate), origin: origin! }
  const request = makeAnnexCRequest(query, toPublic(key), reader)
  const [signature] = readAnnexCRequest(request).signatures
  const isSigned = (change: object = {}, by = toPublic(own)) =>
    isSignedByReader(signature!, by, { origin: origin!, encryptionInfo: request.encryptionInfo, ...change })
  expect(isSigned()).toBe(true)
  expect(isSigned({ origin: 'https://another.example' })).toBe(false)
  expect(isSigned({ encryptionInfo })).toBe(false)
  expect(isSigned({}, toPublic(key))).toBe(false)
  const more = { ...signature!, itemsRequest: embed(encodeCbor(map({ docType, nameSpaces: new Map() }))) }
  const session = { origin: origin!, encryptionInfo: request.encryptionInfo }
  expect(isSignedByReader(more, toPublic(own), session)).toBe(false)
})

test('the request of Annex D is read as a query', () => {
  const { values } = readMdoc('annex-d') as { values: Record<string, string> }
  const { query: read, signatures } = readDeviceRequest(fromHex(values['device_request']!))
  expect(RequestedDcqlQuery.parse(read).credentials).toMatchObject([
    { id: 'document-1', format: 'mso_mdoc', meta: { doctype_value: docType } },
  ])
  expect(signatures).toMatchObject([{ sign1: expect.anything() }])
})

const other = { ...licence, id: 'other', meta: { doctype_value: 'org.example.1' } }
test.each<[string | undefined, object]>([
  [undefined, { credentials: [licence, other] }],
  [undefined, { credentials: [{ ...licence, multiple: true }] }],
  ['credential_sets', { credentials: [licence], credential_sets: [{ options: [['licence']] }] }],
  ['credentials.0.claim_sets', { credentials: [{ ...licence, claim_sets: [['a']] }] }],
  ['credentials.0.claims: is missing', { credentials: [{ ...licence, claims: undefined }] }],
  ['credentials.1.format', { credentials: [licence, { ...other, format: 'dc+sd-jwt' }] }],
  ['credentials.1.meta', { credentials: [licence, { ...licence, id: 'again' }] }],
])('what a DeviceRequest cannot ask is named: %s', (place, asked) => {
  const fault = findDeviceRequestFault(asked as DcqlQuery)
  expect(fault).toEqual(place === undefined ? undefined : expect.stringContaining(place))
})

const infoOf = (nonce: CborValue, recipientPublicKey: CborValue) =>
  pair('dcapi', map({ nonce, recipientPublicKey }))
const nonce = new Uint8Array(16)
const { deviceRequest } = makeAnnexCRequest(query, toPublic(key))
const requestOfVersion = (version: string, ...docRequests: CborValue[]) =>
  toBase64url(encodeCbor(map({ version, docRequests })))
const requestOf = (...docRequests: CborValue[]) => requestOfVersion('1.0', ...docRequests)
test.each<[string, object, string]>([
  ['a nonce of 15 bytes', { encryptionInfo: infoOf(nonce.slice(1), toCoseKey(key)) }, 'nonce'],
  [
    'a key on P-384',
    { encryptionInfo: infoOf(nonce, toCoseKey(generateKey('P-384'))) },
    'is not a key on P-256',
  ],
  ['a key that is none', { encryptionInfo: infoOf(nonce, 'key') }, 'recipientPublicKey'],
  ['no requests', { deviceRequest: requestOf() }, 'docRequests'],
  ['a request that is not embedded', { deviceRequest: requestOf(map({ itemsRequest: 1 })) }, 'itemsRequest'],
  [
    'another version',
    { deviceRequest: requestOfVersion('2.0', map({ itemsRequest: embed(nonce) })) },
    'version',
  ],
  ['text', { deviceRequest: '§' }, 'deviceRequest'],
])('a request with %s is malformed', (_, change, reason) => {
  const request = { deviceRequest, encryptionInfo: encryptionInfo!, ...change }
  expect(() => readAnnexCRequest(request)).toThrow(reason)
})
