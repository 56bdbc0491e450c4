/** Forged SD-JWTs (RFC 9901 §7), each with the code of its refusal. */
import { createHash } from 'node:crypto'
import { toBase64url, utf8 } from '../../../../src/foundation/bytes.ts'
import { signJws } from '../../../../src/credentials/codecs/jws.ts'
import { presentSdJwt } from '../_present.ts'
import type { PresentationChecks } from '../_verify.ts'
import { issueSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import type { Failure } from '../../../../src/credentials/codecs/verification-error.ts'
import { generateKey, sign, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
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

/** A JWT with disclosures, or with all of the credential. */
const join = (token: string, shown: readonly string[] = disclosures) => [token, ...shown, ''].join('~')
export const presented = join(jwt)

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
  return bind(join(signJws(head, changed, key), shown))
}

/** The credential with another header, signed with the issuer’s key all the same. */
export const withHeader = (head: object) => {
  const input = `${encode(head)}.${payload}`
  return bind(join(`${input}.${toBase64url(sign(issuerKey, utf8(input)))}`))
}

/** The credential with another `cnf`, and a key binding by this key. */
export function boundTo(cnf: unknown, key: typeof holderKey = holderKey): string {
  const text = reissued((token) => (token.cnf = cnf))
  return bind(text.slice(0, text.lastIndexOf('~') + 1), {}, { key })
}

/** The credential signed again, with another key or header. */
export const signedBy = (key: typeof issuerKey, head?: object) => reissued(() => {}, disclosures, key, head)

/** An additional disclosure with its digest in the token's `_sd`. */
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

/** By the code of the refusal: the forgeries, with the checks that differ from the default, if any. */
const cases: Partial<Record<Failure, Record<string, string | [string, Partial<PresentationChecks>]>>> = {
  malformed: {
    'no separator': jwt,
    'a JWT of two parts': bind(join(`${header}.${payload}`)),
    'a type of something else': withHeader({ alg: 'EdDSA', typ: 'kb+jwt' }),
    'a signature that is not canonical base64url': bind(join(`${header}.${payload}.${signature}=`)),
    'a member given twice': bind(join(`${header}.${toBase64url('{"iss":"a","iss":"b"}')}.${signature}`)),
    'no issuer': reissued((token) => delete token.iss),
    'an issuer that is not a URI': reissued((token) => (token.iss = 'issuer')),
    'an issuer that is almost a DID': reissued((token) => (token.iss = 'did:web')),
    'an expiry that is text': reissued((token) => (token.exp = String(now))),
    'a disclosure that was changed': bind(
      join(jwt, [encode(['salt', 'name', 'Mallory']), ...disclosures.slice(1)]),
    ),
    'a disclosure without a digest': bind(join(jwt, [...disclosures, encode(['salt', 'admin', true])])),
    'a disclosure twice': bind(join(jwt, [...disclosures, disclosures[0]!])),
    'a nested disclosure without what it is in': bind(
      join(jwt, [disclosures.find((text) => decode(text)[1] === 'city')!]),
    ),
    'a disclosure that is not base64url': bind(join(jwt, [...disclosures, '!'])),
    'a disclosure that is not an array': reissued(
      (token) => token['_sd'].push(hash(encode({}))),
      [...disclosures, encode({})],
    ),
    'a disclosure of four': extra('salt', 'a', 'b', 'c'),
    'a disclosure without a salt': extra(1, 'a', 'b'),
    'a disclosure for an object without a name': extra('salt', 'value'),
    'a claim by a reserved name': extra('salt', '_sd', ['x']),
    'a claim called ...': extra('salt', '...', 'x'),
    'a claim that is there already': extra('salt', 'name', 'Mallory'),
    'an issuer that is hidden': extra('salt', 'iss', mallory.longForm),
    'an expiry that is hidden': extra('salt', 'nbf', 0),
    'a digest twice': reissued((token) => token['_sd'].push(token['_sd'][0])),
    'digests that are not a list': reissued((token) => (token['_sd'] = 'x')),
    'digests that are not a text': reissued((token) => (token['_sd'] = [1])),
    'an element’s digest with something beside': reissued((token) => (token.more = [{ '...': 'x', y: 1 }])),
    'an unsupported hash function': reissued((token) => (token['_sd_alg'] = 'md5')),
    'a hash function of an object': reissued((token) => (token['_sd_alg'] = 'toString')),
    'a key binding of another type': bind(presented, {}, { typ: 'JWT' }),
    'several audiences': bind(presented, { aud: [audience] }),
    'no nonce': bind(presented, { nonce: undefined }),
    'a key binding without a time': bind(presented, { iat: undefined }),
    'a key binding without a hash': bind(presented, { sd_hash: undefined }),
    'a disclosure with padding': withDigest(
      (digest) => ({ _sd: [digest] }),
      `${encode(['salt', 'more', 1])}=`,
    ),
    'a claim inside by a reserved name': withDigest(
      (digest) => ({ more: { _sd: [digest] } }),
      encode(['salt', '_sd', ['x']]),
    ),
    'a claim by a name that is not a text': withDigest(
      (digest) => ({ more: { _sd: [digest] } }),
      encode(['salt', 1, 'x']),
    ),
    'an element that is disclosed with a name': withDigest(
      (digest) => ({ more: [{ '...': digest }] }),
      encode(['salt', 'name', 'x']),
    ),
    'a claim that is written by a reserved name': reissued((token) => (token.more = { '...': 'x' })),
    'digests inside that are not a list': reissued((token) => (token.more = { _sd: 'x' })),
    'the digest of nothing twice': reissued((token) => token['_sd'].push('decoy', 'decoy')),
    'claims that nest too deep': nested((inner) => ({
      disclosure: ['salt', 'a', inner],
      value: (digest) => ({ _sd: [digest] }),
    })),
    'arrays that nest too deep': nested((inner) => ({
      disclosure: ['salt', inner],
      value: (digest) => [{ '...': digest }],
    })),
  },
  algorithm: {
    'alg none': bind(join(`${encode({ alg: 'none' })}.${payload}.`)),
    'alg HS256': withHeader({ alg: 'HS256', typ: 'vc+sd-jwt' }),
    'another algorithm than the key’s': withHeader({ alg: 'ES256', typ: 'vc+sd-jwt' }),
  },
  'critical-header': {
    'a critical header': withHeader({ alg: 'EdDSA', crit: ['x'], x: 1 }),
  },
  signature: {
    'a payload that was changed': bind(
      join(`${header}.${encode({ ...decode(payload), sub: 'did:example:mallory' })}.${signature}`),
    ),
    'a key of another curve that is not the issuer’s': signedBy(generateKey('secp256k1')),
    'a key of the same curve': signedBy(generateKey('Ed25519')),
    'a binding to a key that the holder chose': bind(
      join(`${header}.${encode({ ...decode(payload), cnf: { jwk: toPublic(malloryKey) } })}.${signature}`),
      {},
      { key: malloryKey },
    ),
  },
  'kid-not-bound': {
    'a key for another purpose': signedBy(issuerKey, {
      typ: 'vc+sd-jwt',
      kid: 'auth-1',
    }),
    'a kid of another DID': signedBy(malloryKey, {
      typ: 'vc+sd-jwt',
      kid: `${mallory.longForm}#issue-1`,
    }),
  },
  expired: {
    expired: reissued((token) => (token.exp = now - 60)),
    'a key binding from before the request': [
      present(issued, holderKey, { now: now - 60 }),
      { requestedAt: now - 10 },
    ],
  },
  'not-yet-valid': {
    'not yet valid': reissued((token) => (token.nbf = now + 60)),
    'issued in the future': reissued((token) => (token.iat = now + 60)),
    'a key binding from the future': present(issued, holderKey, { now: now + 60 }),
  },
  status: {
    'a status of a kind that is not known': reissued(
      (token) => (token.status = { status_list: { idx: 1, uri: 'https://s.example' } }),
    ),
    'a status that is not checked': reissued(
      (token) => (token.credentialStatus = { type: 'StatusList2021Entry', statusListIndex: 1 }),
    ),
    'a status that says no': [
      reissued((token) => (token.credentialStatus = { type: 'StatusList2021Entry' })),
      { checkStatus: () => Promise.reject(new Error('revoked')) },
    ],
  },
  'holder-binding': {
    'no key binding': presented,
    'the key binding of fewer disclosures': [
      jwt,
      ...disclosures.filter((text) => decode(text)[1] !== 'age'),
      keyBinding,
    ].join('~'),
    'a key binding by another key': bind(presented, {}, { key: generateKey('Ed25519') }),
    'a key binding by a key of another curve': bind(presented, {}, { key: generateKey('secp256k1') }),
    'a key binding by another key than that of cnf.kid': boundTo(
      { kid: createJwkDid(toPublic(holderKey)) + '#0' },
      malloryKey,
    ),
    'a key binding by a key of the DID with another id': boundTo(
      { kid: `${holder.longForm}#auth-2` },
      holder.keys['auth-1'].jwk,
    ),
    'a key binding by a key of the DID for another purpose': boundTo(
      { kid: `${holder.longForm}#issue-1` },
      holder.keys['issue-1'].jwk,
    ),
    'a key binding for a cnf that is not known': boundTo({ jkt: 'thumbprint' }),
    'a key binding for a kid that is not a DID URL': boundTo({ kid: 'key-1' }),
    'a key binding for a cnf that is not an object': boundTo('key-1'),
    'no key binding for a cnf that is not known': boundTo({ jkt: 'thumbprint' }).replace(/[^~]+$/, ''),
    'a key binding without cnf': present(issueSdJwt({ ...content, holderKey: undefined })) + keyBinding,
  },
  'holder-unresolvable': {
    'a DID in cnf.kid without a document': boundTo({ kid: 'did:web:other.example#1' }),
  },
  audience: {
    'another audience': present(issued, holderKey, { audience: 'elsewhere' }),
  },
  nonce: {
    'another nonce': present(issued, holderKey, { nonce: 'another' }),
  },
  'too-large': {
    'a token that is too large': `${jwt}~${'a'.repeat(1_048_577)}~`,
  },
  'claim-missing': {
    'a requested claim is not disclosed': [
      present(issued, holderKey, { claims: { age: true } }),
      { claims: { name: true } },
    ],
  },
  'issuer-not-trusted': {
    'an issuer without a DID': reissued((token) => (token.iss = 'https://issuer.example')),
    'an issuer who is not trusted': [
      good,
      { constraints: [{ schemaId: 'person', trustIssuers: [mallory.longForm] }] },
    ],
    'an issuer who is trusted with another type': [
      good,
      {
        constraints: [
          { schemaId: 'person', trustIssuers: [mallory.did] },
          { schemaId: 'degree', trustIssuers: [issuer.did] },
        ],
      },
    ],
  },
  'credential-missing': {
    'one of two types that are asked for': [
      good,
      { constraints: [{ schemaId: 'person' }, { schemaId: 'degree' }] },
    ],
  },
  'schema-not-accepted': {
    'another type of credential': [good, { constraints: [{ schemaId: 'degree' }] }],
  },
}

export const forgeries = Object.entries(cases).flatMap(([failure, all]) =>
  Object.entries(all).map(
    ([name, forged]) =>
      [name, failure, ...[forged].flat()] as [string, Failure, string, Partial<PresentationChecks>?],
  ),
)
