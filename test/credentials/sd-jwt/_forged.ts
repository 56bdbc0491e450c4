/** Forged SD-JWTs (RFC 9901 §7), each with the code of its refusal. */
import { createHash } from 'node:crypto'
import { toBase64url, utf8 } from '../../../src/base/bytes.ts'
import { signJws } from '../../../src/credentials/jws.ts'
import { presentSdJwt, type SdJwtPresentationChecks } from '../../../src/credentials/sd-jwt/presentation.ts'
import { issueSdJwt } from '../../../src/credentials/sd-jwt/sd-jwt.ts'
import type { Failure } from '../../../src/credentials/verification-error.ts'
import { generateKey, sign, toPublic } from '../../../src/crypto/keys.ts'
import { audience, holder, issuer, mallory, nonce, now } from '../_people.ts'

const issuerKey = issuer.keys['issue-2'].jwk
const malloryKey = mallory.keys['auth-1'].jwk
export const holderKey = generateKey('Ed25519')
export const content = {
  issuerDid: issuer.longForm,
  issuerKey,
  subjectDid: holder.longForm,
  claims: { name: 'Alice', age: 30, address: { city: 'Bern' }, list: ['a', 'b'] },
  vct: 'person',
  expiresAt: now + 3_600,
  holderKey,
  now,
}
export const issued = issueSdJwt(content)
export const present = (
  sdJwt: string,
  key = holderKey,
  change: Partial<Parameters<typeof presentSdJwt>[0]> = {},
) => presentSdJwt({ sdJwt, claims: content.claims, audience, nonce, holderKey: key, now, ...change })
export const good = present(issued)
const [jwt, ...rest] = good.split('~') as [string, ...string[]]
const keyBinding = rest.at(-1)!
export const disclosures = rest.slice(0, -1)
const [header, payload, signature] = jwt.split('.') as [string, string, string]

export const encode = (value: unknown) => toBase64url(JSON.stringify(value))
const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
export const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/** The key binding of these disclosures, changed in one respect. */
export function bind(
  token: string,
  change: object = {},
  options: { key?: typeof holderKey; typ?: string } = {},
): string {
  const { key = holderKey, typ = 'kb+jwt' } = options
  return token + signJws({ typ }, { iat: now, aud: audience, nonce, sd_hash: hash(token), ...change }, key)
}

/** The credential with its payload changed and signed again, with these disclosures, bound anew. */
export function reissued(
  change: (payload: any) => void,
  shown = disclosures,
  key = issuerKey,
  head: object = { typ: 'vc+sd-jwt' },
): string {
  const changed = decode(payload)
  change(changed)
  return bind([signJws(head, changed, key), ...shown, ''].join('~'))
}

/** The credential with another header, signed with the issuer’s key all the same. */
export const withHeader = (head: object) => {
  const input = `${encode(head)}.${payload}`
  return bind([`${input}.${toBase64url(sign(issuerKey, utf8(input)))}`, ...disclosures, ''].join('~'))
}

/** A disclosure of our own making with its digest in the token's `_sd`. */
export const extra = (...values: unknown[]) => {
  const encoded = encode(values)
  return reissued((token) => token['_sd'].push(hash(encoded)), [...disclosures, encoded])
}

/** A disclosure with its digest where `place` puts it. */
function withDigest(place: (digest: string) => object, encoded: string): string {
  return reissued(
    (token) => {
      const { _sd: more = [], ...rest } = place(hash(encoded)) as { _sd?: string[] }
      Object.assign(token, rest)
      token['_sd'].push(...more)
    },
    [...disclosures, encoded],
  )
}

/** Disclosures within disclosures, a hundred deep. */
function nested(
  make: (inner: unknown) => { disclosure: unknown[]; value: (digest: string) => unknown },
): string {
  const shown: string[] = []
  let value: unknown = 'deep'
  for (let depth = 0; depth < 100; depth++) {
    const made = make(value)
    const encoded = encode(made.disclosure)
    shown.push(encoded)
    value = made.value(hash(encoded))
  }
  return reissued((token) => Object.assign(token, { _sd: [], more: value }), shown)
}

export const forgeries: [string, Failure, string, Partial<SdJwtPresentationChecks>?][] = [
  ['no separator', 'malformed', jwt],
  ['a JWT of two parts', 'malformed', bind([`${header}.${payload}`, ...disclosures, ''].join('~'))],
  ['alg none', 'algorithm', bind([`${encode({ alg: 'none' })}.${payload}.`, ...disclosures, ''].join('~'))],
  ['alg HS256', 'algorithm', withHeader({ alg: 'HS256', typ: 'vc+sd-jwt' })],
  ['another algorithm than the key’s', 'algorithm', withHeader({ alg: 'ES256', typ: 'vc+sd-jwt' })],
  ['a critical header', 'critical-header', withHeader({ alg: 'EdDSA', crit: ['x'], x: 1 })],
  ['a type of something else', 'malformed', withHeader({ alg: 'EdDSA', typ: 'kb+jwt' })],
  [
    'a payload that was changed',
    'signature',
    bind(
      [
        `${header}.${encode({ ...decode(payload), sub: 'did:example:mallory' })}.${signature}`,
        ...disclosures,
        '',
      ].join('~'),
    ),
  ],
  [
    'a signature that is not canonical base64url',
    'malformed',
    bind([`${header}.${payload}.${signature}=`, ...disclosures, ''].join('~')),
  ],
  [
    'a member given twice',
    'malformed',
    bind([`${header}.${toBase64url('{"iss":"a","iss":"b"}')}.${signature}`, ...disclosures, ''].join('~')),
  ],
  [
    'a key of another curve that is not the issuer’s',
    'signature',
    reissued(() => {}, disclosures, generateKey('secp256k1')),
  ],
  ['a key of the same curve', 'signature', reissued(() => {}, disclosures, generateKey('Ed25519'))],
  [
    'a key for another purpose',
    'kid-not-bound',
    reissued(() => {}, disclosures, issuerKey, { typ: 'vc+sd-jwt', kid: 'auth-1' }),
  ],
  [
    'a kid of another DID',
    'kid-not-bound',
    reissued(() => {}, disclosures, malloryKey, { typ: 'vc+sd-jwt', kid: `${mallory.longForm}#issue-1` }),
  ],
  ['no issuer', 'malformed', reissued((token) => delete token.iss)],
  ['an issuer that is no DID', 'malformed', reissued((token) => (token.iss = 'https://issuer.example'))],
  ['expired', 'expired', reissued((token) => (token.exp = now - 60))],
  ['not yet valid', 'not-yet-valid', reissued((token) => (token.nbf = now + 60))],
  ['issued in the future', 'not-yet-valid', reissued((token) => (token.iat = now + 60))],
  ['an expiry that is text', 'malformed', reissued((token) => (token.exp = String(now)))],
  [
    'a status of a kind that is not known',
    'status',
    reissued((token) => (token.status = { status_list: { idx: 1, uri: 'https://s.example' } })),
  ],
  [
    'a status that is not checked',
    'status',
    reissued((token) => (token.credentialStatus = { type: 'StatusList2021Entry', statusListIndex: 1 })),
  ],

  [
    'a disclosure that was changed',
    'malformed',
    bind([jwt, encode(['salt', 'name', 'Mallory']), ...disclosures.slice(1), ''].join('~')),
  ],
  [
    'a disclosure without a digest',
    'malformed',
    bind([jwt, ...disclosures, encode(['salt', 'admin', true]), ''].join('~')),
  ],
  ['a disclosure twice', 'malformed', bind([jwt, ...disclosures, disclosures[0], ''].join('~'))],
  [
    'a nested disclosure without what it is in',
    'malformed',
    bind([jwt, disclosures.find((text) => decode(text)[1] === 'city'), ''].join('~')),
  ],
  ['a disclosure that is not base64url', 'malformed', bind([jwt, ...disclosures, '!', ''].join('~'))],
  [
    'a disclosure that is no array',
    'malformed',
    reissued((token) => token['_sd'].push(hash(encode({}))), [...disclosures, encode({})]),
  ],
  ['a disclosure of four', 'malformed', extra('salt', 'a', 'b', 'c')],
  ['a disclosure without a salt', 'malformed', extra(1, 'a', 'b')],
  ['a disclosure for an object without a name', 'malformed', extra('salt', 'value')],
  ['a claim by a reserved name', 'malformed', extra('salt', '_sd', ['x'])],
  ['a claim called ...', 'malformed', extra('salt', '...', 'x')],
  ['a claim that is there already', 'malformed', extra('salt', 'name', 'Mallory')],
  ['an issuer that is hidden', 'malformed', extra('salt', 'iss', mallory.longForm)],
  ['an expiry that is hidden', 'malformed', extra('salt', 'nbf', 0)],
  ['a digest twice', 'malformed', reissued((token) => token['_sd'].push(token['_sd'][0]))],
  ['digests that are no list', 'malformed', reissued((token) => (token['_sd'] = 'x'))],
  ['digests that are no text', 'malformed', reissued((token) => (token['_sd'] = [1]))],
  [
    'an element’s digest with something beside',
    'malformed',
    reissued((token) => (token.more = [{ '...': 'x', y: 1 }])),
  ],
  ['an unsupported hash function', 'malformed', reissued((token) => (token['_sd_alg'] = 'md5'))],
  ['a hash function of an object', 'malformed', reissued((token) => (token['_sd_alg'] = 'toString'))],

  ['no key binding', 'holder-binding', [jwt, ...disclosures, ''].join('~')],
  [
    'the key binding of fewer disclosures',
    'holder-binding',
    [jwt, ...disclosures.filter((text) => decode(text)[1] !== 'age'), keyBinding].join('~'),
  ],
  [
    'a key binding by another key',
    'holder-binding',
    bind([jwt, ...disclosures, ''].join('~'), {}, { key: generateKey('Ed25519') }),
  ],
  [
    'a key binding by a key of another curve',
    'holder-binding',
    bind([jwt, ...disclosures, ''].join('~'), {}, { key: generateKey('secp256k1') }),
  ],
  [
    'a key binding of another type',
    'malformed',
    bind([jwt, ...disclosures, ''].join('~'), {}, { typ: 'JWT' }),
  ],
  ['another audience', 'audience', present(issued, holderKey, { audience: 'elsewhere' })],
  ['several audiences', 'malformed', bind([jwt, ...disclosures, ''].join('~'), { aud: [audience] })],
  ['another nonce', 'nonce', present(issued, holderKey, { nonce: 'another' })],
  ['no nonce', 'malformed', bind([jwt, ...disclosures, ''].join('~'), { nonce: undefined })],
  ['a key binding from the future', 'not-yet-valid', present(issued, holderKey, { now: now + 60 })],
  [
    'a key binding without a time',
    'malformed',
    bind([jwt, ...disclosures, ''].join('~'), { iat: undefined }),
  ],
  [
    'a key binding without a hash',
    'malformed',
    bind([jwt, ...disclosures, ''].join('~'), { sd_hash: undefined }),
  ],
  [
    'a binding to a key that the holder chose',
    'signature',
    bind(
      [
        `${header}.${encode({ ...decode(payload), cnf: { jwk: toPublic(malloryKey) } })}.${signature}`,
        ...disclosures,
        '',
      ].join('~'),
      {},
      { key: malloryKey },
    ),
  ],
  [
    'a status that says no',
    'status',
    reissued((token) => (token.credentialStatus = { type: 'StatusList2021Entry' })),
    { checkStatus: () => Promise.reject(new Error('revoked')) },
  ],
  ['a token that is too large', 'too-large', `${jwt}~${'a'.repeat(1_048_577)}~`],
  [
    'a disclosure with padding',
    'malformed',
    withDigest((digest) => ({ _sd: [digest] }), `${encode(['salt', 'more', 1])}=`),
  ],
  [
    'a claim inside by a reserved name',
    'malformed',
    withDigest((digest) => ({ more: { _sd: [digest] } }), encode(['salt', '_sd', ['x']])),
  ],
  [
    'a claim by a name that is no text',
    'malformed',
    withDigest((digest) => ({ more: { _sd: [digest] } }), encode(['salt', 1, 'x'])),
  ],
  [
    'an element that is disclosed with a name',
    'malformed',
    withDigest((digest) => ({ more: [{ '...': digest }] }), encode(['salt', 'name', 'x'])),
  ],
  [
    'a claim that is written by a reserved name',
    'malformed',
    reissued((token) => (token.more = { '...': 'x' })),
  ],
  ['digests inside that are no list', 'malformed', reissued((token) => (token.more = { _sd: 'x' }))],
  ['the digest of nothing twice', 'malformed', reissued((token) => token['_sd'].push('decoy', 'decoy'))],
  [
    'claims that nest too deep',
    'malformed',
    nested((inner) => ({ disclosure: ['salt', 'a', inner], value: (digest) => ({ _sd: [digest] }) })),
  ],
  [
    'arrays that nest too deep',
    'malformed',
    nested((inner) => ({ disclosure: ['salt', inner], value: (digest) => [{ '...': digest }] })),
  ],
  [
    'a key binding without cnf',
    'holder-binding',
    present(issueSdJwt({ ...content, holderKey: undefined })) + keyBinding,
  ],
  [
    'a requested claim is not disclosed',
    'claim-missing',
    present(issued, holderKey, { claims: { age: true } }),
    { claims: { name: true } },
  ],
  [
    'an issuer who is not trusted',
    'issuer-not-trusted',
    good,
    { constraints: [{ schemaId: 'person', trustIssuers: [mallory.longForm] }] },
  ],
  [
    'an issuer who is trusted with another type',
    'issuer-not-trusted',
    good,
    {
      constraints: [
        { schemaId: 'person', trustIssuers: [mallory.did] },
        { schemaId: 'degree', trustIssuers: [issuer.did] },
      ],
    },
  ],
  [
    'one of two types that are asked for',
    'credential-missing',
    good,
    { constraints: [{ schemaId: 'person' }, { schemaId: 'degree' }] },
  ],
  ['another type of credential', 'schema-not-accepted', good, { constraints: [{ schemaId: 'degree' }] }],
]
