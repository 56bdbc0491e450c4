/** Verification of `x5c`: good chains, and forged ones of each kind. OpenSSL judges them too, if this machine has it. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AsnConvert } from '@peculiar/asn1-schema'
import { GeneralName, GeneralSubtree, GeneralSubtrees, NameConstraints } from '@peculiar/asn1-x509'
import { beforeAll, expect, test } from 'vitest'
import type { ChainFailure } from '../../src/x509/chain-error.ts'
import { x509 } from '../../src/x509/issue.ts'
import { verifyX5c } from '../../src/x509/index.ts'
import { newFolder } from '../_folder.ts'
import { authority, make, type Made, type Options, pemOf, x5cOf } from './_chains.ts'

const names = [{ type: 'dns' as const, value: 'issuer.example' }]
let root: Made
let middle: Made
let leaf: Made

beforeAll(async () => {
  root = await authority('CN=Root')
  middle = await authority('CN=Middle', root)
  leaf = await make('CN=Leaf', middle, { names })
})

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

test('the name that is asked for must be there', () => {
  const ask = (value: string) =>
    verifyX5c(x5cOf(leaf, middle), {
      anchors: [pemOf(root)],
      at: new Date(),
      name: { type: 'dns', value },
    })
  expect(ask('Issuer.Example').subject).toBe('CN=Leaf')
  expect(failureOf(() => ask('example'))).toBe('name')
  expect(failureOf(() => ask('other.example'))).toBe('name')
})

/** Constraints on DNS names. */
function constraints(permitted: string[], excluded: string[] = []): x509.Extension {
  const subtrees = (bases: string[]) =>
    new GeneralSubtrees(bases.map((dNSName) => new GeneralSubtree({ base: new GeneralName({ dNSName }) })))
  const value = new NameConstraints({
    ...(permitted.length > 0 && { permittedSubtrees: subtrees(permitted) }),
    ...(excluded.length > 0 && { excludedSubtrees: subtrees(excluded) }),
  })
  return new x509.Extension('2.5.29.30', true, AsnConvert.serialize(value))
}

/** Makes a chain with one fault: the options of the certificates, from the root down. */
async function forged(ofRoot: Options, ofMiddle: Options, ofLeaf: Options): Promise<[Made[], Made]> {
  const top = await authority('CN=Root', undefined, ofRoot)
  const between = await authority('CN=Middle', top, ofMiddle)
  return [[await make('CN=Leaf', between, { names, ...ofLeaf }), between], top]
}

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

test.each(kinds)('%s: %s', async (_, failure, ...options) => {
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
  expect(failureOf(() => verify([leaf, middle, root]))).toBe('anchor-in-chain')
  expect(failureOf(() => verify([leaf, middle], [middle]))).toBe('anchor-in-chain')
  expect(failureOf(() => verify([leaf]))).toBe('untrusted')
  expect(failureOf(() => verify([middle, leaf]))).toBe('untrusted')
  expect(failureOf(() => verify([leaf, middle], []))).toBe('untrusted')
  expect(failureOf(() => verify([leaf, middle], [leaf]))).toBe('anchor-in-chain')
  const alone = await make('CN=Self', undefined, { names })
  expect(failureOf(() => verify([alone], [alone]))).toBe('self-signed')
  expect(verify([leaf], [middle]).subject).toBe('CN=Leaf')
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
