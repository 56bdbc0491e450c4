/** The certificates of mdocs and readers: chains that are good, foreign ones, and forged ones of each kind. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ChainFailure } from '../../../src/foundation/x509/chain-error.ts'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { checkMdocChain, type MdocChain, type MdocPolicy } from '../../../src/foundation/x509/mdoc-chain.ts'
import { issuerOfMdoc } from '../../../src/foundation/x509/mdoc-issuer.ts'
import { constraints, make, type Made, onCurve, type Options, pemOf, x5cOf } from './_chains.ts'
import {
  distributionPoints,
  drivingLicence,
  iaca,
  issuerAltName,
  namedBy,
  photoId,
  reader,
  reading,
  signer,
  signing,
  usage,
} from './_mdoc.ts'

const root = await iaca()
const leaf = await signer(root)

type Given = Partial<Omit<MdocPolicy, 'x5c' | 'anchors'>>

const check = (chain: readonly Made[], anchors: readonly Made[] = [root], given: Given = {}): MdocChain =>
  checkMdocChain({
    x5c: x5cOf(...chain),
    anchors: anchors.map((each) => ({ pem: pemOf(each) })),
    docType: drivingLicence,
    now: new Date(),
    ...given,
  })

function failureOf(act: () => unknown): ChainFailure | 'accepted' {
  try {
    act()
    return 'accepted'
  } catch (error) {
    return (error as { failure: ChainFailure }).failure
  }
}

test('a chain to a trusted root gives the key, the place and the issuer', async () => {
  const { publicKey, country, state, subject, warnings, authorityKeyIds, anchor, issuerName } = check([leaf])
  const { x, y } = await crypto.subtle.exportKey('jwk', leaf.keys.publicKey)
  expect(publicKey).toEqual({ kty: 'EC', crv: 'P-256', x, y })
  expect({ country, state, subject, warnings }).toEqual({
    country: 'UT',
    state: undefined,
    subject: 'C=UT, CN=Signer',
    warnings: [],
  })
  const keyId = root.certificate.getExtension(x509.SubjectKeyIdentifierExtension)!.keyId
  expect(authorityKeyIds).toEqual([Buffer.from(keyId, 'hex').toString('base64url')])
  expect(anchor.subject).toBe('C=UT, CN=Authority')
  expect(issuerName).toBe('https://authority.example')
})

test('the root in x5chain counts only as a trust anchor', async () => {
  const textsOf = ({ subject, authorityKeyIds, anchorHash }: MdocChain) => ({
    subject,
    authorityKeyIds,
    anchorHash,
  })
  expect(textsOf(check([leaf, root]))).toEqual(textsOf(check([leaf])))
  const strange = await iaca('C=UT, CN=Strange')
  const forged = await signer(strange)
  expect(failureOf(() => check([forged, strange]))).toBe('untrusted')
  expect(failureOf(() => check([forged, strange], []))).toBe('untrusted')
})

// prettier-ignore
test.each<[string, Options['algorithm']]>([
  ['P-384',   { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' }],
  ['P-521',   { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' }],
  ['Ed25519', { name: 'Ed25519' }],
])('a key on %s', async (curve, algorithm) => {
  expect(check([await signer(root, { algorithm: algorithm! })]).publicKey.crv).toBe(curve)
  if (curve === 'Ed25519') return
  const above = await iaca('C=UT, CN=Large', { algorithm: algorithm! })
  expect(check([await signer(above)], [above]).publicKey.crv).toBe('P-256')
})

test.each(['brainpoolP256r1', 'secp256k1'])('a key on %s', async (curve) => {
  const other = await signer(root, { publicKey: onCurve(curve) })
  expect(() => check([other])).toThrow(`is for a key on ${curve}; only keys on P-256, P-384, P-521, Ed25519`)
})

const extension = (type: string) => new x509.Extension(type, false, new Uint8Array([0x30, 0]))
const { digitalSignature, keyAgreement } = x509.KeyUsageFlags
const own = ['C=UT, CN=Authority', 'C=UT, CN=Signer'] as const

/** The options of the root and of the signer, and their subjects. */
// prettier-ignore
const kinds: [string, ChainFailure | 'accepted', Parameters<typeof iaca>[1], Parameters<typeof signer>[1], (readonly [string, string])?][] = [
  ['without a fault',                     'accepted',          {}, {}],
  ['of the same state',                   'accepted',          {}, {}, ['C=UT, ST=NY, CN=Authority', 'ST=NY, C=UT, CN=Signer']],
  ['of another country',                  'country',           {}, {}, ['C=UT, CN=Authority', 'C=US, CN=Signer']],
  ['of two countries',                    'country',           {}, {}, ['C=UT, CN=Authority', 'C=UT, C=US, CN=Signer']],
  ['of no country',                       'country',           {}, {}, ['C=UT, CN=Authority', 'CN=Signer']],
  ['of another state',                    'country',           {}, {}, ['C=UT, ST=NY, CN=Authority', 'C=UT, ST=CA, CN=Signer']],
  ['of no state below a state',           'country',           {}, {}, ['C=UT, ST=NY, CN=Authority', 'C=UT, CN=Signer']],
  ['of a state below a country',          'country',           {}, {}, ['C=UT, CN=Authority', 'C=UT, ST=CA, CN=Signer']],
  ['a reader as signer',                  'key-usage',         {}, { extensions: [usage([reading])] }],
  ['a reader as signer, not critical',    'key-usage',         {}, { extensions: [usage([reading], false)] }],
  ['a web server as signer, not critical', 'key-usage',        {}, { extensions: [usage([x509.ExtendedKeyUsage.serverAuth], false)] }],
  ['any purpose',                         'key-usage',         {}, { extensions: [usage(['2.5.29.37.0'])] }],
  ['a signer that has ended',             'dates',             {}, { from: -9, until: -1 }],
  ['a signer that has not begun',         'dates',             {}, { from: 2 }],
  ['a root that has ended',               'dates',             { from: -9, until: -1 }, {}],
  ['an authority as signer',              'basic-constraints', {}, { isAuthority: true, usages: digitalSignature }],
  ['a signer that may not sign',          'key-usage',         {}, { usages: keyAgreement }],
  ['a root that may not sign',            'key-usage',         { usages: x509.KeyUsageFlags.cRLSign }, {}],
  ['policy mappings',                     'profile',           {}, { extensions: [extension('2.5.29.33')] }],
  ['name constraints',                    'profile',           {}, { extensions: [constraints(['other.example'])] }],
  ['name constraints of the root',        'profile',           { extensions: [constraints(['other.example'])] }, {}],
  ['policy constraints',                  'profile',           {}, { extensions: [extension('2.5.29.36')] }],
  ['a freshest CRL',                      'profile',           {}, { extensions: [extension('2.5.29.46')] }],
  ['inhibitAnyPolicy',                    'profile',           {}, { extensions: [extension('2.5.29.54')] }],
  ['an unknown critical extension',       'critical-extension', {}, { extensions: [new x509.Extension('1.2.3.4', true, new Uint8Array([5, 0]))] }],
  ['another issuer name',                 'untrusted',         {}, { issuerName: 'C=UT, CN=Other' }],
]

test.each(kinds)('%s: %s', async (_, failure, ofRoot, ofSigner, [subject, name] = own) => {
  const anchor = await iaca(subject, ofRoot)
  const chain = [await signer(anchor, ofSigner, name)]
  expect(failureOf(() => check(chain, [anchor]))).toBe(failure)
})

test('a signer below another root', async () => {
  const other = await iaca('C=UT, CN=Other')
  expect(failureOf(() => check([leaf], [other]))).toBe('untrusted')
  const namesake = await iaca('C=UT, CN=Authority', { isIdentified: false })
  const [bare, named] = [await signer(namesake, { isIdentified: false }), await signer(namesake)]
  expect(failureOf(() => check([bare]))).toBe('signature')
  expect(failureOf(() => check([named]))).toBe('order')
})

test('an intermediate is for other documents than driving licences', async () => {
  const above = await iaca('C=UT, CN=Authority', { pathLength: 1 })
  const between = await iaca('C=UT, CN=Between', {}, above)
  const chain = [await signer(between), between]
  expect(failureOf(() => check(chain, [above]))).toBe('path-length')
  expect(() => check(chain, [above])).toThrow(
    'Certificate 2 of 3 (C=UT, CN=Between) is between signer and root',
  )
  expect(check(chain, [above], { docType: photoId }).authorityKeyIds).toHaveLength(2)
  // Who trusts the intermediate itself has a chain of one step.
  expect(check(chain, [between]).anchor.subject).toBe('C=UT, CN=Between')
})

test('a path length that is exceeded', async () => {
  const between = await iaca('C=UT, CN=Between', {}, root)
  const chain = [await signer(between), between]
  expect(failureOf(() => check(chain, [root], { docType: photoId }))).toBe('path-length')
})

test('a signer is trusted by itself, also if it is self-signed', async () => {
  const alone = await make('C=UT, CN=Alone', undefined, { extensions: [usage([signing])] })
  expect(failureOf(() => check([alone]))).toBe('self-signed')
  expect(check([alone], [alone]).anchor.subject).toBe('C=UT, CN=Alone')
  expect(check([leaf], [leaf]).issuerName).toBe('https://authority.example')
  const ended = await make('C=UT, CN=Alone', undefined, {
    extensions: [usage([signing])],
    from: -9,
    until: -1,
  })
  expect(failureOf(() => check([ended], [ended]))).toBe('dates')
  // A root signs no documents.
  expect(failureOf(() => check([root], [root]))).toBe('basic-constraints')
})

test('a trust anchor for document types signs no others', () => {
  const anchors = [{ pem: pemOf(root), docTypes: [photoId] }]
  expect(check([leaf], [], { anchors, docType: photoId } as Given).subject).toBe('C=UT, CN=Signer')
  const licence = () => check([leaf], [], { anchors } as Given)
  expect(failureOf(licence)).toBe('untrusted')
  expect(licence).toThrow(`C=UT, CN=Authority is trusted for other documents, not for ${drivingLicence}`)
  expect(failureOf(() => check([leaf, root], [], { anchors } as Given))).toBe('untrusted')
  const none = { pem: pemOf(root), docTypes: [] }
  expect(failureOf(() => check([leaf], [], { anchors: [none] } as Given))).toBe('untrusted')
})

test('readers are no signers, and signers no readers', async () => {
  const asking = await reader(root)
  expect(check([asking], [root], { profile: 'reader' }).warnings).toEqual([])
  expect(failureOf(() => check([asking]))).toBe('key-usage')
  expect(failureOf(() => check([leaf], [root], { profile: 'reader' }))).toBe('key-usage')
  // An authority of documents certifies no readers.
  const anchors = [{ pem: pemOf(root), docTypes: [drivingLicence] }]
  const given = { anchors, profile: 'reader' } as Given
  expect(failureOf(() => check([asking], [], given))).toBe('untrusted')
})

const long: Options = { from: -1, until: 500 }

// prettier-ignore
test.each<[string, Parameters<typeof signer>[1]]>([
  ['lacks a CRL distribution point',                    { without: [distributionPoints] }],
  ['lacks an issuerAltName',                            { without: [issuerAltName] }],
  ['lacks the extended key usage 1.0.18013.5.1.2',      { without: ['2.5.29.37'] }],
  ['lacks a critical extended key usage',               { extensions: [usage([signing], false)] }],
  ['lacks a critical extended key usage',               { extensions: [usage([signing, x509.ExtendedKeyUsage.serverAuth])] }],
  ['lacks a critical key usage of digitalSignature alone', { usages: digitalSignature | keyAgreement }],
  ['is valid for more than 457 days',                   long],
  ['lacks a subject key identifier',                    { isIdentified: false }],
])('a warning: %s', async (reason, change) => {
  const { warnings } = check([await signer(root, change)])
  expect(warnings[0]).toContain(`Certificate 1 of 2 (C=UT, CN=Signer) ${reason}`)
})

test('the issuer by the names in a certificate', async () => {
  const uri = { type: 'url' as const, value: 'https://issuer.example/mdl' }
  const dns = { type: 'dns' as const, value: 'issuer.example' }
  const hash = /^x509_hash:[\w-]{43}$/
  // prettier-ignore
  const cases: [string | RegExp, Parameters<typeof signer>[1]][] = [
    ['https://issuer.example/mdl', { names: [dns, uri] }],
    ['https://issuer.example',     { names: [dns] }],
    ['https://authority.example',  {}],
    ['https://authority.example',  { names: [{ type: 'email', value: 'a@issuer.example' }] }],
    // A certificate proves neither a DID nor the hash of another.
    ['https://authority.example',  { names: [{ type: 'url', value: 'did:web:bank.example' }] }],
    ['https://issuer.example/mdl', { names: [{ type: 'url', value: 'DID:web:bank.example' }, uri] }],
    ['https://authority.example',  { names: [{ type: 'url', value: 'x509_hash:abc' }] }],
    [hash,                         { without: [issuerAltName] }],
    [hash,                         { extensions: [new x509.IssuerAlternativeNameExtension([{ type: 'email', value: 'a@b.example' }])] }],
    [hash,                         { extensions: [namedBy('https://a.example/\u0001')] }],
  ]
  for (const [name, change] of cases) {
    const made = await signer(root, change)
    const { issuerName } = check([made])
    expect(issuerName).toMatch(name)
    if (name !== hash) expect(issuerOfMdoc(x5cOf(made))).toBe(issuerName)
  }
  const [bare, other] = [
    await signer(root, { without: [issuerAltName] }),
    await signer(root, { without: [issuerAltName] }),
  ]
  expect(check([bare]).issuerName).toBe(check([other]).issuerName)
  expect(issuerOfMdoc(x5cOf(bare))).not.toBe(issuerOfMdoc(x5cOf(other)))
})

test.each([[[]], [['']], [['AA==']], [['MIIB']], [['MIT/////']]])('no certificate has a name: %j', (x5c) => {
  expect(issuerOfMdoc(x5c)).toMatch(/^x509_hash:/)
})

const { certificates } = JSON.parse(readFileSync('fixtures/mdoc/isomdl.json', 'utf8')) as {
  certificates: Record<string, string>
}
const at2024 = new Date('2024-01-15T00:00:00Z')

function ofOthers(name: string, anchor: string, given: Given): MdocChain {
  const x5c = [certificates[name]!.replaceAll(/-----[^-]+-----|\s/g, '')]
  return checkMdocChain({
    x5c,
    anchors: [{ pem: certificates[anchor]! }],
    docType: drivingLicence,
    now: at2024,
    ...given,
  })
}

test('certificates of isomdl', () => {
  const good = ofOthers('isomdl_iaca_signer.pem', 'isomdl_iaca_root_cert.pem', {})
  expect(good).toMatchObject({
    country: 'US',
    state: 'NY',
    warnings: [],
    issuerName: expect.stringContaining('x509_hash:'),
  })
  const wrong = () => ofOthers('isomdl_incorrect_iaca_signer.pem', 'isomdl_iaca_root_cert.pem', {})
  expect(failureOf(wrong)).toBe('basic-constraints')
  const below = () => ofOthers('isomdl_iaca_leaf_signer.pem', 'isomdl_iaca_intermediate.pem', {})
  expect(failureOf(below)).toBe('basic-constraints')
  const ended = () =>
    ofOthers('isomdl_iaca_signer.pem', 'isomdl_iaca_root_cert.pem', { now: new Date('2026-11-26') })
  expect(failureOf(ended)).toBe('dates')
})

test('a root on P-384, whose signer has a negative serial number', () => {
  const now = new Date('2026-11-26T00:00:00Z')
  const { publicKey, warnings, country } = ofOthers(
    'owf_multipaz_ds_p384.pem',
    'owf_multipaz_iaca_p384.pem',
    { now },
  )
  expect({ country, curve: publicKey.crv }).toEqual({ country: 'US', curve: 'P-256' })
  expect(warnings).toEqual([expect.stringContaining('has a serial number that is not positive')])
})

test('a foreign reader', () => {
  const anchor = 'isomdl_iaca_root_cert.pem'
  const act = () => ofOthers('reader_auth.pem', anchor, { profile: 'reader' })
  expect(failureOf(act)).toBe('untrusted')
})
