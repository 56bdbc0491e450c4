/** Forged presentations: each fails at the check that is named, and passes all checks before it. */
import { createPrivateKey, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromBase64, fromHex } from '../../../../src/foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  decodeCbor,
  embed,
  Embedded,
  encodeCbor,
  Tagged,
} from '../../../../src/foundation/cbor/index.ts'
import { generateKey, thumbprintOf, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { deviceMacKey, encodeTranscript } from '../../../../src/credentials/formats/mdoc/transcript.ts'
import type { Made } from '../../../foundation/x509/_chains.ts'
import { iaca, reader, signer } from '../../../foundation/x509/_mdoc.ts'
import { at, makeMac0, order } from '../../../support/mdoc.ts'
import {
  changeItem,
  changeSignature,
  contentOf,
  dates,
  day,
  flip,
  inMso,
  instant,
  items,
  now,
  set,
  defaultHolder,
  defaultIssuer,
  docType,
  elements,
  type Forgery,
  issueForged,
  type Issuer,
  itemsIn,
  judge,
  type Judging,
  jwkOf,
  map,
  namespace,
  newIssuer,
  present,
  query,
  session,
} from './_documents.ts'

const documentOf = (response: CborMap) => at(response, 'documents', 0) as CborMap

const another = await newIssuer()
const foreign = await newIssuer(await iaca('C=ZZ, CN=Other authority'))
/** Below the authority, with other certificates than those of signers. */
const below = async (leaf: Made): Promise<Issuer> => ({ ...defaultIssuer, leaf, key: await jwkOf(leaf) })
const ofOtherCountry = await below(await signer(defaultIssuer.root, {}, 'C=ZZ, CN=Signer'))
const asReader = await below(await reader(defaultIssuer.root))

/** The response of another holder, in the same session. */
const otherHolder = generateKey('P-256')
const others = decodeCbor(fromBase64(present({ holder: otherHolder }))) as CborMap
const otherDevice = at(others, 'documents', 0, 'deviceSigned', 'deviceAuth')
const otherIssued = at(others, 'documents', 0, 'issuerSigned') as CborMap

type Row = [check: (typeof order)[number], what: string, forgery: Forgery, judging?: Judging]

const form: Row[] = [
  ['form', 'the document type of the document is another', { document: set('docType', 'org.example') }],
  [
    'form',
    'a payload in the signature of the device',
    {
      deviceAuth: (auth, payload) =>
        void auth.set('deviceSignature', (auth.get('deviceSignature') as CborValue[]).with(2, payload)),
    },
  ],
  [
    'form',
    'the algorithm of the issuer only in the unprotected header',
    {
      issuerAuth: ([, unprotected, ...rest]) => [
        new Uint8Array(),
        new Map([...(unprotected as CborMap), [1, -7]]),
        ...rest,
      ],
    },
  ],
  ['form', 'cut off', { bytes: (bytes) => bytes.subarray(0, -1) }],
  ['form', 'more bytes at the end', { bytes: (bytes) => Buffer.concat([bytes, Buffer.of(0)]) }],
  ['form', 'nested 200 deep', { bytes: () => Buffer.alloc(201, 0x81) }],
  ['form', 'an array of 2^32', { bytes: () => fromHex('9b0000000100000000') }],
  ['form', 'empty', { bytes: () => new Uint8Array() }],
  ['form', 'version 1.1', { response: set('version', '1.1') }],
  ['form', 'the device reports an error', { response: set('status', 10) }],
  ['form', 'no document', { response: set('documents', []) }],
  [
    'form',
    'two documents of the asked type',
    { response: (response) => void (at(response, 'documents') as CborValue[]).push(documentOf(response)) },
  ],
  [
    'form',
    'the wallet has none',
    {
      response: (response) => {
        response.delete('documents')
        response.set('documentErrors', [new Map([[docType, 0]])])
      },
    },
  ],
  ['form', 'an MSO of version 2.0', { mso: set('version', '2.0') }],
  ['form', 'digests of SHA-1', { mso: set('digestAlgorithm', 'SHA-1') }],
  [
    'form',
    'signature and MAC at once',
    { deviceAuth: (auth) => void auth.set('deviceMac', auth.get('deviceSignature')) },
  ],
  ['form', 'neither signature nor MAC', { deviceAuth: () => new Map() }],
  [
    'form',
    'no nameSpaces of the device',
    { document: (document) => void (document.get('deviceSigned') as CborMap).delete('nameSpaces') },
  ],
  ['form', 'an MSO without tag 24', { signing: { payload: encodeCbor(map({ version: '1.0' })) } }],
  [
    'form',
    'an item without tag 24',
    items((own) => void own.splice(0, 1, decodeCbor((own[0] as Embedded).content))),
  ],
  [
    'form',
    'an item without its value',
    items(
      (own) =>
        void own.splice(
          0,
          1,
          changeItem(own[0], (item) => void item.delete('elementValue')),
        ),
    ),
  ],
  [
    'form',
    'a salt of 7 bytes',
    items((own) => void own.splice(0, 1, changeItem(own[0], set('random', new Uint8Array(7))))),
  ],
  ['form', 'a date that is no date', dates({ signed: new Tagged(0, '2026-02-30T00:00:00Z') })],
  ['form', 'a device key that is all zeros', { mso: inMso(['deviceKeyInfo'], 'deviceKey', zeroKey()) }],
  [
    'form',
    'a device key that is not on its curve',
    { mso: (mso) => void (at(mso, 'deviceKeyInfo', 'deviceKey') as CborMap).set(-3, new Uint8Array(32)) },
  ],
  [
    'form',
    'a coordinate that is longer than the curve',
    { mso: (mso) => void (at(mso, 'deviceKeyInfo', 'deviceKey') as CborMap).set(-2, new Uint8Array(33)) },
  ],
  ['form', 'an algorithm of brainpool', { issuerAuth: (message) => message.with(0, fromHex('a101390108')) }],
  ['form', 'an IssuerSigned alone', { bytes: () => encodeCbor(issueForged()) }],
]

function zeroKey(): CborMap {
  return new Map<CborValue, CborValue>([
    [1, 2],
    [-1, 1],
    [-2, new Uint8Array(32)],
    [-3, new Uint8Array(32)],
  ])
}

const asked: Row[] = [
  [
    'query',
    'another document type than was asked for',
    { mso: set('docType', 'org.example'), docType: 'org.example', document: set('docType', 'org.example') },
  ],
  ['query', 'an element is withheld', items((own) => void own.shift())],
  [
    'query',
    'another value than was asked for',
    {},
    { query: { ...query, claims: [{ path: [namespace, 'family_name'], values: ['Smith'] }] } },
  ],
  [
    'disclosure',
    'more elements than were asked for',
    {},
    { query: { ...query, claims: [{ path: [namespace, 'family_name'] }] } },
  ],
]

const trusted: Row[] = [
  ['trust', 'no x5chain', { signing: { unprotected: new Map() } }],
  ['trust', 'below another authority', { issuer: foreign }],
  ['trust', 'below another authority of the same name', { issuer: another }],
  ['trust', 'a signer of another country than its authority', { issuer: ofOtherCountry }],
  ['trust', 'a certificate of a reader', { issuer: asReader }],
  [
    'trust',
    'the country that it shows is not that of the signer',
    { claims: { [namespace]: { ...elements, issuing_country: 'ZZ' } } },
  ],
]

const signed: Row[] = [
  ['signature', 'one bit of the MSO', { issuerAuth: (message) => changeDigest(message) }],
  ['signature', 'one bit of the signature', { issuerAuth: (message) => message.with(3, flip(message[3])) }],
  ['signature', 'r and s zero', { issuerAuth: (message) => message.with(3, new Uint8Array(64)) }],
  ['signature', 'a short signature', { issuerAuth: (message) => message.with(3, new Uint8Array(63)) }],
  ['signature', 'no signature', { issuerAuth: (message) => message.with(3, new Uint8Array()) }],
  ['signature', 'signed with another key', { signing: { key: another.key } }],
  [
    'signature',
    'the certificate of another key of the authority',
    { signing: { key: await jwkOf((await newIssuer(defaultIssuer.root)).leaf) } },
  ],
  [
    'signature',
    'an algorithm that says another curve',
    { issuerAuth: (message) => message.with(0, encodeCbor(new Map([[1, -51]]))) },
  ],
]

/** One bit of the digest of an item, which keeps the MSO readable. */
function changeDigest(message: CborValue[]): CborValue[] {
  const { content } = decodeCbor(message[2] as Uint8Array) as Embedded
  const mso = decodeCbor(content)
  const digests = at(mso, 'valueDigests', namespace) as CborMap
  digests.set(0, flip(digests.get(0)))
  return message.with(2, embed(encodeCbor(mso)).bytes)
}

const digested: Row[] = [
  [
    'digests',
    'another value',
    items((own) => {
      const index = own.findIndex((each) => nameIn(each) === 'family_name')
      own[index] = changeItem(own[index], set('elementValue', 'Doo'))
    }),
  ],
  ['digests', 'an item encoded anew', items((own) => void own.splice(0, 1, longHead(own[0] as Embedded)))],
  [
    'digests',
    'an item of the document of another',
    items(
      (own) =>
        void own.splice(
          0,
          1,
          itemsIn(otherIssued).find((each) => nameIn(each) === nameIn(own[0])),
        ),
    ),
  ],
  ['digests', 'an item twice', items((own) => void own.push(own[0]))],
  [
    'digests',
    'a digestID twice, of two elements',
    items((own) => {
      own[1] = changeItem(own[1], set('digestID', at(contentOf(own[0]), 'digestID')))
    }),
  ],
  [
    'digests',
    'a digestID that the issuer has not signed',
    items((own) => void own.splice(0, 1, changeItem(own[0], set('digestID', 99)))),
  ],
  [
    'digests',
    'the namespace is another',
    items((own, namespaces) => {
      namespaces.delete(namespace)
      namespaces.set('org.example', own)
    }),
    {
      query: { ...query, claims: Object.keys(elements).map((name) => ({ path: ['org.example', name] })) },
    },
  ],
  ['digests', 'the MSO of another', { holder: otherHolder, issuerAuth: () => otherIssued.get('issuerAuth') }],
]

const nameIn = (item: CborValue) => at(contentOf(item), 'elementIdentifier')

/** The same item, whose first head is longer than it must be. */
function longHead({ content }: Embedded): Embedded {
  return embed(Buffer.concat([Buffer.of(0xb8, content[0]! & 31), content.subarray(1)]))
}

const valid: Row[] = [
  ['validity', 'before validFrom', dates({ validFrom: instant(now + 3_600) })],
  ['validity', 'after validUntil', dates({ validUntil: instant(now - 3_600) })],
  ['validity', 'at validUntil, a minute ago', dates({ validUntil: instant(now - 60) })],
  [
    'validity',
    'signed after it became valid',
    dates({ signed: instant(now + 3_600), validFrom: instant(now - 60) }),
  ],
  [
    'validity',
    'signed before the certificate of its signer',
    dates({ signed: instant(now - 3 * day), validFrom: instant(now - 60) }),
  ],
  [
    'validity',
    'signed after the certificate of its signer',
    dates({ signed: instant(now + 500 * day), validFrom: instant(now + 500 * day) }),
  ],
]

const encryptionKey = generateKey('P-256')
const otherSessions: [string, Partial<Extract<typeof session, { handover: 'redirect' }>>][] = [
  ['another nonce', { nonce: 'another' }],
  ['another client id', { clientId: 'x509_hash:abd' }],
  ['another response URI', { responseUri: 'https://verifier.example/response?session=2' }],
  ['an encrypted response', { encryptedTo: toPublic(encryptionKey) }],
]

const bound: Row[] = [
  ...otherSessions.map(([what, change]): Row => [
    'holder-binding',
    `for ${what}`,
    { session: { ...session, ...change } as typeof session },
  ]),
  [
    'holder-binding',
    'for another key of encryption',
    { session: { ...session, encryptedTo: generateKey('P-256') } as typeof session },
    { session: { ...session, encryptedTo: encryptionKey } as typeof session },
  ],
  [
    'holder-binding',
    'for an unencrypted response',
    {},
    { session: { ...session, encryptedTo: encryptionKey } as typeof session },
  ],
  [
    'holder-binding',
    'for another origin',
    { session: { handover: 'dc-api', origin: 'https://other.example', nonce: 'n' } },
    { session: { handover: 'dc-api', origin: 'https://shop.example', nonce: 'n' } },
  ],
  [
    'holder-binding',
    'for another encryptionInfo',
    { session: { handover: 'org-iso-mdoc', origin: 'https://shop.example', encryptionInfo: 'AAAA' } },
    { session: { handover: 'org-iso-mdoc', origin: 'https://shop.example', encryptionInfo: 'AAAB' } },
  ],
  ['holder-binding', 'for another document type', { docType: 'org.example' }],
  ['holder-binding', 'signed with another key', { deviceKey: otherHolder }],
  ['holder-binding', 'the signature of another response', { deviceAuth: () => otherDevice }],
  ['holder-binding', 'one bit of the signature', { deviceAuth: changeSignature((each) => flip(each)) }],
  ['holder-binding', 'r and s zero', { deviceAuth: changeSignature(() => new Uint8Array(64)) }],
  ['holder-binding', 'a short signature', { deviceAuth: changeSignature((each) => each.subarray(1)) }],
  [
    'holder-binding',
    'one bit of the namespaces of the device',
    {
      mso: inMso(['deviceKeyInfo'], 'keyAuthorizations', map({ nameSpaces: ['a'] })),
      deviceNamespaces: map({ a: map({ b: 1 }) }),
      document: (document) =>
        (document.get('deviceSigned') as CborMap).set(
          'nameSpaces',
          embed(encodeCbor(map({ a: map({ b: 0 }) }))),
        ),
    },
  ],
  [
    'holder-binding',
    'an element of the device that the issuer did not authorize',
    { deviceNamespaces: map({ [namespace]: map({ family_name: 'King' }) }) },
  ],
  [
    'holder-binding',
    'an element of the device in another namespace than is authorized',
    {
      mso: inMso(
        ['deviceKeyInfo'],
        'keyAuthorizations',
        map({ nameSpaces: ['a'], dataElements: map({ b: ['c'] }) }),
      ),
      deviceNamespaces: map({ b: map({ d: 1 }) }),
    },
  ],
  [
    'holder-binding',
    'a MAC, and the response was not encrypted',
    {
      deviceAuth: (_, payload) => map({ deviceMac: makeMac0(new Uint8Array(32), payload) }),
    },
  ],
  [
    'holder-binding',
    'a MAC with the key of another reader',
    {
      session: { ...session, encryptedTo: toPublic(encryptionKey) } as typeof session,
      deviceAuth: (_, payload) => map({ deviceMac: makeMac0(macKey(generateKey('P-256')), payload) }),
    },
    { session: { ...session, encryptedTo: encryptionKey } as typeof session },
  ],
]

/** The key of a MAC over the transcript of a session whose response is encrypted to `encryptionKey`. */
function macKey(readerKey: ReturnType<typeof generateKey>) {
  const transcript = encodeTranscript({
    ...(session as Extract<typeof session, { handover: 'redirect' }>),
    jwkThumbprint: thumbprintOf(encryptionKey),
  })
  return deviceMacKey(toPublic(readerKey), defaultHolder, transcript)
}

const status: Row[] = [
  ['status', 'revoked', {}, { checkStatus: () => Promise.reject(new Error('it is revoked')) }],
]

const rows = [form, asked, trusted, signed, digested, valid, bound, status].flat()

test.each(rows)('%s: %s', async (check, _, forgery, judging) => {
  const { failed, passed, reason } = await judge(present(forgery), judging)
  expect({ failed, passed }, reason).toEqual({ failed: check, passed: order.slice(0, order.indexOf(check)) })
  expect(reason).not.toMatch(/undefined|\[object|NaN/)
})

test('the reason tells a MAC that cannot be verified from a wrong one', async () => {
  const isMac: Forgery = {
    deviceAuth: (_, payload) => map({ deviceMac: makeMac0(new Uint8Array(32), payload) }),
  }
  const { reason } = await judge(present(isMac))
  expect(reason).toContain('a MAC instead of a signature, and this session has no private key on P-256')
  const encrypted = { ...session, encryptedTo: encryptionKey } as typeof session
  const wrong = await judge(present({ ...isMac, session: encrypted }), { session: encrypted })
  expect(wrong.reason).toContain('has not made its MAC with the keys of the document and this session')
})

test('an issuer that signs ES256 with a key on P-384 is accepted with a warning', async () => {
  const issuer = await newIssuer(defaultIssuer.root, { algorithm: { name: 'ECDSA', namedCurve: 'P-384' } })
  const key = createPrivateKey({ key: issuer.key, format: 'jwk' })
  const asEs256 = ([, unprotected, payload]: CborValue[]): CborValue => {
    const algorithm = encodeCbor(new Map([[1, -7]]))
    const input = encodeCbor(['Signature1', algorithm, new Uint8Array(), payload!])
    return [algorithm, unprotected!, payload!, sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' })]
  }
  const { failed, warnings } = await judge(present({ issuer, issuerAuth: asEs256 }))
  expect([failed, warnings]).toEqual([undefined, ['the issuer signs ES256 with a key on P-384']])
  expect(await judge(present({ issuer }))).toMatchObject({ warnings: [] })
})
