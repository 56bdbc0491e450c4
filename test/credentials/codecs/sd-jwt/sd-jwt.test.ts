/** SD-JWT credentials: issuing, presenting, verifying, also with another implementation on one side. */
import { createHash } from 'node:crypto'
import { SDJwtInstance } from '@sd-jwt/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toBase64url, utf8 } from '../../../../src/foundation/bytes.ts'
import { presentSdJwt } from '../_present.ts'
import { verifySdJwt, verifySdJwtPresentation } from '../_verify.ts'
import { decodeSdJwt, issueSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, sign, toPublic, verify } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
import { createKeyDid } from '../../../../src/did/key.ts'
import { audience, checks, failureOf, holder, issuer, nonce, now } from '../_people.ts'
import { boundTo, holderKey as boundKey } from './_forged.ts'

const issuerKey = issuer.keys['issue-2'].jwk
const holderKey = generateKey('Ed25519')
const keyDid = createKeyDid(toPublic(boundKey))
const claims = {
  name: 'Alice > Wonder~land',
  familyName: 'Ünïcödé ✓',
  address: { city: 'Bern', street: { name: 'Gasse', number: 7 } },
  degrees: ['BSc', { name: 'MSc', year: 2020 }, ['a', 'b']],
  nothing: null,
  empty: {},
  none: [],
}
const content = {
  issuerDid: issuer.longForm,
  issuerKey,
  subjectDid: holder.longForm,
  claims,
  vct: 'https://schemas.example/person',
  expiresAt: now + 3_600,
  now,
}
const bound = issueSdJwt({ ...content, holderKey })
const unbound = issueSdJwt(content)
const options = { resolve: checks.resolve, now }
const answering = { ...options, audience, nonce }
const present = (wanted: object, sdJwt = bound) =>
  presentSdJwt({ sdJwt, claims: wanted as never, audience, nonce, holderKey, now })

/** A peer: the SD-JWT library of the OpenWallet Foundation. */
const peer = new SDJwtInstance<Record<string, unknown>>({
  hasher: (data) =>
    createHash('sha256')
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest(),
  hashAlg: 'sha-256',
  saltGenerator: (length) =>
    toBase64url(createHash('sha256').update(String(length)).digest()).slice(0, 22) +
    Math.random().toString(36).slice(2),
  signer: (data) => toBase64url(sign(issuerKey, utf8(data))),
  signAlg: 'EdDSA',
  verifier: (data, signature) => verify(toPublic(issuerKey), utf8(data), Buffer.from(signature, 'base64url')),
  kbSigner: (data) => toBase64url(sign(holderKey, utf8(data))),
  kbSignAlg: 'EdDSA',
  kbVerifier: (data, signature) =>
    verify(toPublic(holderKey), utf8(data), Buffer.from(signature, 'base64url')),
})

test('an issued credential shows all claims to its holder, and none without its disclosures', async () => {
  const verified = await verifySdJwt(bound, options)
  expect(verified).toMatchObject({
    issuerDid: issuer.longForm,
    subjectDid: holder.longForm,
    vct: content.vct,
    validUntil: now + 3_600,
  })
  expect([verified.claims, verified.holderKey]).toEqual([claims, toPublic(holderKey)])
  const [jwt] = bound.split('~')
  const payload = JSON.parse(Buffer.from(jwt!.split('.')[1]!, 'base64url').toString())
  expect(Object.keys(payload).toSorted()).toEqual([
    '_sd',
    '_sd_alg',
    'cnf',
    'exp',
    'iat',
    'iss',
    'sub',
    'vct',
  ])
  expect(payload['_sd']).toEqual(payload['_sd'].toSorted())
  expect((await verifySdJwt(`${jwt}~`, options)).claims).toEqual({})
})

test('no disclosure contains a character at which the Cloud Agent splits it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, name) => {
      const [, ...disclosures] = issueSdJwt({ ...content, claims: { [`x${name}`]: value } }).split('~')
      expect(disclosures.join('')).not.toMatch(/-/)
    }),
    { seed: 5, numRuns: 300 },
  )
})

test('any claims come back as they were', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().map((name) => `c${name}`),
        fc.jsonValue(),
      ),
      (any) => {
        const { claims: read } = decodeSdJwt(issueSdJwt({ ...content, claims: any }))
        expect(read).toEqual(JSON.parse(JSON.stringify(any)))
      },
    ),
    { seed: 6, numRuns: 200 },
  )
})

describe('a presentation shows the chosen claims, and the claims that contain them', () => {
  test.each([
    ['nothing', {}, {}],
    ['one claim', { name: true }, { name: claims.name }],
    ['a claim and all below', { address: {} }, { address: claims.address }],
    ['one below', { address: { street: { number: '' } } }, { address: { street: { number: 7 } } }],
    ['an element', { degrees: { 1: { year: 0 } } }, { degrees: [{ year: 2020 }] }],
    ['a claim that is not there', { other: true, name: true }, { name: claims.name }],
  ])('%s', async (_name, wanted, shown) => {
    expect((await verifySdJwtPresentation(present(wanted), answering)).claims).toEqual(shown)
  })
})

const wanted = { name: '{}', address: { city: '{}' } }

test('a verifier gets what it asked for, or says what is missing', async () => {
  expect(
    (await verifySdJwtPresentation(present(wanted), { ...answering, claims: wanted })).claims,
  ).toMatchObject({ name: claims.name })
  const less = verifySdJwtPresentation(present({ name: true, address: { street: true } }), {
    ...answering,
    claims: wanted,
  })
  await expect(less).rejects.toMatchObject({
    code: 'claim-missing',
    message: 'The claim address.city is not disclosed',
  })
})

describe('constraints', () => {
  const constrained = (constraint: { schemaId: string; trustIssuers?: string[] }) =>
    verifySdJwtPresentation(present(wanted), { ...answering, constraints: [constraint] })
  test('are met', async () => {
    await constrained({ schemaId: content.vct, trustIssuers: [issuer.longForm] })
  })
  test('are not', async () => {
    await expect(constrained({ schemaId: 'https://schemas.example/other' })).rejects.toMatchObject({
      code: 'schema-not-accepted',
    })
    const distrusted = constrained({ schemaId: content.vct, trustIssuers: [holder.longForm] })
    await expect(distrusted).rejects.toMatchObject({ code: 'issuer-not-trusted' })
  })
})

test('a credential that is bound to no key is shown without one, and a key binding proves nothing for it', async () => {
  expect((await verifySdJwtPresentation(present({ name: true }, unbound), answering)).claims).toEqual({
    name: claims.name,
  })
  const [, keyBinding] = /~([^~]+)$/.exec(present({}, bound))!
  const failure = await failureOf(() => verifySdJwtPresentation(present({}, unbound) + keyBinding, answering))
  expect(failure).toBe('holder-binding')
})

test.each<[string, unknown, typeof holderKey]>([
  ['a did:jwk', { kid: `${createJwkDid(toPublic(boundKey))}#0` }, boundKey],
  ['a did:jwk without a fragment', { kid: createJwkDid(toPublic(boundKey)) }, boundKey],
  ['a did:key', { kid: `${keyDid}#${keyDid.slice('did:key:'.length)}` }, boundKey],
  ['a DID with a document', { kid: `${holder.longForm}#auth-1` }, holder.keys['auth-1'].jwk],
  ['the key itself, and a kid', { jwk: toPublic(boundKey), kid: 'key-1' }, boundKey],
])('a credential is bound to a key of %s', async (_, cnf, key) => {
  const { isBound } = await verifySdJwtPresentation(boundTo(cnf, key), answering)
  expect(isBound).toBe(true)
})

test('a credential is read whatever its cnf is, and is bound unless that is null', async () => {
  for (const cnf of [{ kid: 'key-1' }, { jwk: 'text' }, {}, [], 'text', null])
    expect((await verifySdJwt(boundTo(cnf).replace(/[^~]+$/, ''), options)).isBound).toBe(cnf !== null)
})

describe('another library', () => {
  test('verifies what we issue and present', async () => {
    const presentation = present({ name: true, degrees: { 1: { name: true } } })
    const { payload, kb } = await peer.verify(presentation, { keyBindingNonce: nonce, currentDate: now })
    expect(payload).toMatchObject({ name: claims.name, degrees: [{ name: 'MSc' }] })
    expect(kb?.payload).toMatchObject({ aud: audience, nonce })
  })

  test('presents what we issue', async () => {
    const kb = { payload: { iat: now, aud: audience, nonce } }
    const presented = await peer.present(bound, { name: true, address: { city: true } }, { kb })
    expect((await verifySdJwtPresentation(presented, answering)).claims).toEqual({
      name: claims.name,
      address: { city: 'Bern' },
    })
  })

  test('issues what we verify and present', async () => {
    const payload = {
      iss: issuer.longForm,
      iat: now,
      cnf: { jwk: toPublic(holderKey) },
      name: 'Bob',
      list: ['a', 'b'],
      open: 1,
    }
    const issued = await peer.issue(
      payload as never,
      { _sd: ['name', 'list'], list: { _sd: [1], _sd_decoy: 2 }, _sd_decoy: 3 } as never,
    )
    expect((await verifySdJwt(issued, options)).claims).toEqual({ name: 'Bob', list: ['a', 'b'], open: 1 })
    const shown = await verifySdJwtPresentation(present({ list: true }, issued), answering)
    expect(shown.claims).toEqual({ list: ['a', 'b'], open: 1 })
    const { list, open } = shown.located
    expect([open, (list as unknown[]).indexOf('a'), (list as unknown[]).length]).toEqual([1, 0, 4])
  })
})
