/**
 * Verification of `x5c`: good chains, and forged ones of each kind. OpenSSL judges them too, if this machine
 * has it.
 */
import { spawnSync } from 'node:child_process'
import { createPublicKey, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ChainFailure } from '../../../src/foundation/x509/chain-error.ts'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { checkX5c, type Role, verifyX5c } from '../../../src/foundation/x509/index.ts'
import { newFolder } from '../../support/folder.ts'
import {
  authority,
  constraints,
  make,
  type Made,
  onCurve,
  type Options,
  pemOf,
  spkiOf,
  x5cOf,
} from './_chains.ts'

const names = [{ type: 'dns' as const, value: 'issuer.example' }]

const root = await authority('CN=Root')
const middle = await authority('CN=Middle', root)
const leaf = await make('CN=Leaf', middle, { names })

const verify = (chain: Made[], anchors: Made[] = [root], at = new Date()) =>
  verifyX5c(x5cOf(...chain), { anchors: anchors.map((each) => pemOf(each)), at })

function failureOf(act: () => unknown): ChainFailure | 'accepted' {
  try {
    act()
    return 'accepted'
  } catch (error) {
    return (error as { failure: ChainFailure }).failure
  }
}

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** Whether OpenSSL accepts a chain. */
function opensslAccepts([first, ...others]: Made[], anchor: Made): boolean {
  const folder = newFolder()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const args = ['verify', '-CAfile', file('root.pem', pemOf(anchor))]
  if (others.length > 0) args.push('-untrusted', file('others.pem', pemOf(...others)))
  return spawnSync('openssl', [...args, file('leaf.pem', pemOf(first!))]).status === 0
}

test('a chain to a trust anchor gives the key and the names', async () => {
  const verified = verify([leaf, middle])
  expect(verified).toMatchObject({ subject: 'CN=Leaf', names: [{ type: 'dns', value: 'issuer.example' }] })
  const { x, y } = await crypto.subtle.exportKey('jwk', leaf.keys.publicKey)
  expect(verified.publicKey).toEqual({ kty: 'EC', crv: 'P-256', x, y })
})

test('one of two anchors of the same name is enough', async () => {
  const other = await authority('CN=Root')
  expect(verify([leaf, middle], [other, root]).subject).toBe('CN=Leaf')
  expect(failureOf(() => verify([leaf, middle], [other]))).toBe('signature')
})

/** Makes a chain with one fault: the options of the certificates, from the root down. */
async function forged(ofRoot: Options, ofMiddle: Options, ofLeaf: Options): Promise<[Made[], Made]> {
  const top = await authority('CN=Root', undefined, ofRoot)
  const between = await authority('CN=Middle', top, ofMiddle)
  return [[await make('CN=Leaf', between, { names, ...ofLeaf }), between], top]
}

const uris = (permitted: string[], excluded: string[] = []) =>
  constraints(permitted, excluded, 'uniformResourceIdentifier')
const dns = (value: string): Options => ({ names: [{ type: 'dns', value }] })
const uri = (value: string): Options => ({ names: [{ type: 'url', value }] })

/** A public RSA key of any size, for which nobody has the private one. */
function rsa(bits: number, exponent: Buffer = Buffer.from([1, 0, 1])): Uint8Array<ArrayBuffer> {
  const n = randomBytes(bits / 8)
  n[0]! |= 0x80
  n[n.length - 1]! |= 1
  const key = { kty: 'RSA', n: n.toString('base64url'), e: exponent.toString('base64url') }
  return spkiOf(createPublicKey({ key, format: 'jwk' }))
}

const long = (bytes: number) => Buffer.from([1, ...Array<number>(bytes - 2).fill(0), 1])

const critical = () => new x509.Extension('1.2.3.4', true, new Uint8Array([5, 0]))

// prettier-ignore
const kinds: [string, ChainFailure | 'accepted', Options, Options, Options][] = [
  ['without a fault',                          'accepted',           {}, {}, {}],
  ['path length that is kept',                 'accepted',           { pathLength: 1 }, { pathLength: 0 }, {}],
  ['permitted name',                           'accepted',           {}, { extensions: [constraints(['example'])] }, {}],
  ['leaf that has ended',                      'dates',              {}, {}, { from: -9, until: -1 }],
  ['leaf that has not begun',                  'dates',              {}, {}, { from: 2 }],
  ['authority that has ended',                 'dates',              {}, { from: -9, until: -1 }, {}],
  ['root that has ended',                      'dates',              { from: -9, until: -1 }, {}, {}],
  ['authority without cA',                     'basic-constraints',  {}, { isAuthority: false, usages: x509.KeyUsageFlags.keyCertSign }, {}],
  ['authority without basic constraints',      'basic-constraints',  {}, { isBare: true }, {}],
  ['leaf that is an authority',                'basic-constraints',  {}, {}, { isAuthority: true }],
  ['root that allows no authority below it',   'path-length',        { pathLength: 0 }, {}, {}],
  ['authority that may not sign certificates', 'key-usage',          {}, { usages: x509.KeyUsageFlags.cRLSign }, {}],
  ['leaf that may not sign',                   'key-usage',          {}, {}, { usages: x509.KeyUsageFlags.keyAgreement }],
  ['leaf for servers only',                    'key-usage',          {}, {}, { extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth], true)] }],
  ['name that is not permitted',               'name-constraints',   {}, { extensions: [constraints(['other.example'])] }, {}],
  ['name that ends alike, without a dot',      'name-constraints',   {}, { extensions: [constraints(['suer.example'])] }, {}],
  ['name that the root excludes',              'name-constraints',   { extensions: [constraints([], ['issuer.example'])] }, {}, {}],
  ['unknown critical extension',               'critical-extension', {}, { extensions: [critical()] }, {}],
  ['other issuer name',                        'order',              {}, {}, { issuerName: 'CN=Other' }],
  ['leaf on another curve',                    'key',                {}, {}, { algorithm: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-256' } }],
]

/** Kinds that we judge by more than RFC 5280. */
// prettier-ignore
const stricter: typeof kinds = [
  ['URI outside of permitted DNS names',       'name-constraints',   {}, { extensions: [constraints(['mine.example'])] }, uri('https://bank.example/issuer')],
  ['URI within permitted DNS names',           'accepted',           {}, { extensions: [constraints(['mine.example'])] }, uri('https://a.mine.example/issuer')],
  ['URI on an excluded DNS name',              'name-constraints',   {}, { extensions: [constraints([], ['bank.example'])] }, uri('https://bank.example/issuer')],
  ['URI without a host, DNS names constrained', 'name-constraints',  {}, { extensions: [constraints(['mine.example'])] }, uri('urn:example:bank')],
  ['URI with an address, a DNS name excluded', 'name-constraints',   {}, { extensions: [constraints([], ['bank.example'])] }, uri('https://127.0.0.1/issuer')],
  ['DNS name outside of permitted URIs',       'name-constraints',   {}, { extensions: [uris(['.mine.example'])] }, dns('bank.example')],
  ['DNS name within permitted URIs',           'accepted',           {}, { extensions: [uris(['.mine.example'])] }, dns('a.mine.example')],
  ['DNS name on an excluded host of URIs',     'name-constraints',   {}, { extensions: [uris([], ['bank.example'])] }, dns('bank.example')],
  ['excluded DNS name with a final dot',       'name-constraints',   {}, { extensions: [constraints([], ['bank.example'])] }, dns('bank.example.')],
  ['excluded host of a URI with a final dot',  'name-constraints',   {}, { extensions: [uris([], ['bank.example'])] }, uri('https://bank.example./issuer')],
  ['constraint with a final dot',              'name-constraints',   {}, { extensions: [constraints([], ['issuer.example.'])] }, {}],
  ['constraints that are malformed',           'malformed',          {}, { extensions: [new x509.Extension('2.5.29.30', true, new Uint8Array([5, 0]))] }, {}],
  ['names without end, and constraints',       'name-constraints',   {}, { extensions: [constraints([], Array.from({ length: 400 }, (_, n) => `${n}.example`))] }, { names: Array.from({ length: 400 }, (_, n) => ({ type: 'dns' as const, value: `a${n}.example` })) }],
  ['authority with an RSA key of 4,104 bits',  'algorithm',          {}, { publicKey: rsa(4_104) }, {}],
  ['authority with an RSA key of 1,024 bits',  'algorithm',          {}, { publicKey: rsa(1_024) }, {}],
  ['authority with a public exponent of 65 bits', 'algorithm',       {}, { publicKey: rsa(3_072, long(9)) }, {}],
  ['another key of 4,096 bits, exponent of 57', 'signature',         {}, { publicKey: rsa(4_096, long(8)) }, {}],
  ['leaf on a brainpool curve',                'key',                {}, {}, { publicKey: onCurve('brainpoolP256r1') }],
  ['leaf on P-192',                            'key',                {}, {}, { publicKey: onCurve('prime192v1') }],
  ['leaf on a binary curve',                   'key',                {}, {}, { publicKey: onCurve('sect283k1') }],
]

test.each([...kinds, ...stricter])('%s: %s', async (_, failure, ...options) => {
  const [chain, anchor] = await forged(...options)
  expect(failureOf(() => verify(chain, [anchor]))).toBe(failure)
})

/** Our rules for issuing keys, which are not those of certificates in general. */
const own = ['key', 'key-usage']

test.skipIf(!hasOpenssl)('OpenSSL judges alike (needs the program openssl)', async () => {
  for (const [name, failure, ...options] of kinds) {
    if (own.includes(failure) || name === 'leaf that is an authority') continue
    const [chain, anchor] = await forged(...options)
    expect(opensslAccepts(chain, anchor), name).toBe(failure === 'accepted')
  }
})

test('a signature of another key of the same name', async () => {
  const impostor = await authority('CN=Middle', root)
  const stolen = await make('CN=Leaf', impostor, { names })
  expect(failureOf(() => verify([stolen, middle]))).toBe('signature')
})

test('a changed byte', () => {
  const [first, second] = x5cOf(leaf, middle)
  const bytes = Buffer.from(first!, 'base64')
  bytes[bytes.indexOf('issuer.example')] = 'I'.charCodeAt(0)
  const act = () => verifyX5c([bytes.toString('base64'), second], { anchors: [pemOf(root)], at: new Date() })
  expect(failureOf(act)).toBe('signature')
})

test('roots, anchors, self-signed and missing certificates', async () => {
  expect(failureOf(() => verify([leaf]))).toBe('untrusted')
  expect(failureOf(() => verify([middle, leaf]))).toBe('untrusted')
  expect(failureOf(() => verify([leaf, middle], []))).toBe('untrusted')
  expect(failureOf(() => verify([leaf, middle], [leaf]))).toBe('untrusted')
  const alone = await make('CN=Self', undefined, { names })
  expect(failureOf(() => verify([alone], [alone]))).toBe('self-signed')
  expect(verify([leaf], [middle]).subject).toBe('CN=Leaf')
})

test('certificates from the trust anchor up do not count', async () => {
  const whole = verify([leaf, middle])
  expect(verify([leaf, middle, root])).toEqual(whole)
  for (const chain of [[leaf], [leaf, middle], [leaf, middle, root]])
    expect(verify(chain, [middle])).toEqual({ ...whole, anchor: verify([leaf], [middle]).anchor })
  expect(whole.anchor).not.toBe(verify([leaf], [middle]).anchor)
  expect(checkX5c(x5cOf(leaf, middle, root), new Date(), 'verifier').subject).toBe('CN=Leaf')
  const stranger = await authority('CN=Stranger')
  const forged = await make('CN=Leaf', stranger, { names })
  expect(failureOf(() => verify([forged, stranger]))).toBe('untrusted')
  expect(failureOf(() => verify([forged, stranger, root]))).toBe('untrusted')
})

test('signatures are verified from the trust anchor down', async () => {
  const stranger = await authority('CN=Root')
  const top = await authority('CN=Top', stranger)
  const below = await authority('CN=Below', top)
  // Its signature is wrong too, and is not looked at.
  const forged = await make('CN=Leaf', await authority('CN=Below'), { names })
  expect(() => verify([forged, below, top])).toThrow('Certificate 3 of 4 (CN=Top) is not signed by')
})

const usage = (isCritical: boolean, ...purposes: string[]) =>
  new x509.ExtendedKeyUsageExtension(purposes, isCritical)
const [any, statusSigning] = ['2.5.29.37.0', '1.3.6.1.5.5.7.3.30']

// prettier-ignore
test.each<[string, Role[], x509.Extension[]]>([
  ['no extended key usage',        ['issuer', 'verifier', 'status'], []],
  ['any purpose',                  ['issuer', 'verifier', 'status'], [usage(true, any)]],
  ['signer of driving licences',   ['issuer', 'status'],             [usage(true, '1.0.18013.5.1.2')]],
  ['signer of documents',          ['issuer', 'status'],             [usage(true, '1.0.23220.4.1.2')]],
  ['reader of driving licences',   ['verifier'],                     [usage(true, '1.0.18013.5.1.6')]],
  ['reader of documents',          ['verifier'],                     [usage(true, '1.0.23220.4.1.6')]],
  ['reader and server',            ['verifier'],                     [usage(true, x509.ExtendedKeyUsage.serverAuth, '1.0.18013.5.1.6')]],
  ['signer of status lists',       ['status'],                       [usage(true, statusSigning)]],
  ['server',                       [],                               [usage(true, x509.ExtendedKeyUsage.serverAuth)]],
  ['server, not critical',         ['issuer', 'verifier', 'status'], [usage(false, x509.ExtendedKeyUsage.serverAuth)]],
])('%s: for %j', async (_, roles, extensions) => {
  const x5c = x5cOf(await make('CN=Leaf', root, { names, extensions }))
  for (const role of ['issuer', 'verifier', 'status'] as const) {
    const failure = roles.includes(role) ? 'accepted' : 'key-usage'
    const policy = { anchors: [pemOf(root)], at: new Date(), role }
    expect(failureOf(() => verifyX5c(x5c, policy)), role).toBe(failure)
    expect(failureOf(() => checkX5c(x5c, new Date(), role)), role).toBe(failure)
  }
})

test.each([
  ['nothing', undefined],
  ['an empty array', []],
  ['no base64', ['*']],
  ['no certificate', ['MIIB']],
  ['eleven certificates', Array(11).fill('MIIB')],
])('malformed: %s', (_, x5c) => {
  const act = () => verifyX5c(x5c, { anchors: [pemOf(root)], at: new Date() })
  expect(failureOf(act)).toBe('malformed')
})

test('PEM instead of DER', () => {
  const text = Buffer.from(pemOf(leaf)).toString('base64')
  const act = () => verifyX5c([text, x5cOf(middle)[0]], { anchors: [pemOf(root)], at: new Date() })
  expect(failureOf(act)).toBe('malformed')
})

test('bytes after the certificate', () => {
  const [first, second] = x5cOf(leaf, middle)
  const longer = Buffer.concat([Buffer.from(first!, 'base64'), Buffer.from([0])]).toString('base64')
  const act = () => verifyX5c([longer, second], { anchors: [pemOf(root)], at: new Date() })
  expect(failureOf(act)).toBe('malformed')
})
