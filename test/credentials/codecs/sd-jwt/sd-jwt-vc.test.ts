/**
 * SD-JWT VCs with type metadata: issued, checked, and verified by the SD-JWT VC library of the OpenWallet
 * Foundation.
 */
import { createHash, hash } from 'node:crypto'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { describe, expect, test } from 'vitest'
import { toBase64url, utf8 } from '../../../../src/foundation/bytes.ts'
import { issueSdJwtVc, type SdJwtVcContent } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt-vc.ts'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { presentSdJwt } from '../_present.ts'
import { verifySdJwt, verifySdJwtPresentation } from '../_verify.ts'
import { integrityOf, type TypeMetadata } from '../../../../src/credentials/codecs/sd-jwt/type-metadata.ts'
import { generateKey, sign, toPublic, verify } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
import { createResolver } from '../../../../src/did/resolver.ts'
import { audience, failureOf, nonce, now } from '../_people.ts'
import { checkType, readTypeMetadata } from '../../../../src/credentials/codecs/sd-jwt/type-check.ts'

const [issuerKey, holderKey] = [generateKey('P-256'), generateKey('P-256')]
const issuer = createJwkDid(toPublic(issuerKey))
const { document: resolve } = createResolver({ getState: () => Promise.resolve(undefined) })

const metadata: TypeMetadata = {
  vct: 'https://types.example/licence',
  name: 'Licence',
  claims: [
    { path: ['number'], sd: 'never', mandatory: true },
    { path: ['name'], sd: 'always' },
    { path: ['address'], sd: 'never' },
    { path: ['address', 'city'], sd: 'always' },
    { path: ['address', 'country'], sd: 'never' },
    { path: ['classes'], sd: 'never' },
    { path: ['classes', null], sd: 'always' },
    { path: ['classes', null, 'code'], sd: 'never' },
  ],
}
const type = utf8(JSON.stringify(metadata))
const claims = {
  number: 'L-1',
  name: 'Alice',
  address: { city: 'Bern', country: 'CH' },
  classes: [{ code: 'A' }, { code: 'B' }],
  nickname: 'Al',
}
const content: SdJwtVcContent = {
  issuer,
  issuerKey,
  kid: `${issuer}#0`,
  claims,
  type: metadata,
  integrity: integrityOf(type),
  holderKey: toPublic(holderKey),
  issuedAt: now,
  expiresAt: now + 3_600,
}
const issued = issueSdJwtVc(content)
const pathsOf = (text: string) =>
  decodeSdJwt(text)
    .disclosures.map(({ path }) => path.join('.'))
    .toSorted()
const without = (...names: string[]) => {
  const { sdJwt, disclosures } = decodeSdJwt(issued)
  const hidden = disclosures.filter(({ path }) => names.includes(path.join('.')))
  return hidden.reduce((text, { encoded }) => text.replace(`${encoded}~`, ''), sdJwt)
}

/** The peer, as issuer and verifier. */
const peer = new SDJwtVcInstance({
  hasher: (data, algorithm) =>
    createHash(algorithm.replace('-', '').toLowerCase())
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest(),
  hashAlg: 'sha-256',
  saltGenerator: () => toBase64url(generateKey('P-256').x).slice(0, 22),
  signer: (data) => toBase64url(sign(issuerKey, utf8(data))),
  signAlg: 'ES256',
  verifier: (data, signature) => verify(toPublic(issuerKey), utf8(data), Buffer.from(signature, 'base64url')),
  kbSigner: (data) => toBase64url(sign(holderKey, utf8(data))),
  kbSignAlg: 'ES256',
  kbVerifier: (data, signature, { cnf }) =>
    verify(cnf!.jwk as never, utf8(data), Buffer.from(signature, 'base64url')),
  loadTypeMetadataFormat: true,
  vctFetcher: () => Promise.resolve(metadata as never),
})

describe('an issued credential', () => {
  test('has the media type, the type with its integrity, the key of the holder, and no subject', async () => {
    const verified = await verifySdJwt(issued, { resolve, now })
    expect(verified).toMatchObject({ claims, vct: metadata.vct, holderKey: toPublic(holderKey) })
    expect(verified.jws.header).toEqual({ alg: 'ES256', typ: 'dc+sd-jwt', kid: `${issuer}#0` })
    expect(verified.payload['vct#integrity']).toBe(`sha256-${hash('sha256', type, 'base64')}`)
    expect(verified).not.toHaveProperty('subjectDid')
  })

  test('discloses each claim as its type says, and others selectively', () => {
    expect(pathsOf(issued)).toEqual(['address.city', 'classes.0', 'classes.1', 'name', 'nickname'])
    expect(decodeSdJwt(issued).payload).toMatchObject({
      number: 'L-1',
      address: { country: 'CH', _sd: [expect.any(String)] },
      classes: [{ '...': expect.any(String) }, { '...': expect.any(String) }],
    })
  })

  test('is verified by the peer, presented by the holder, with either software on each side', async () => {
    const { payload, typeMetadata } = await peer.verify(issued, { currentDate: now })
    expect(payload).toMatchObject({ ...claims, vct: metadata.vct })
    expect(typeMetadata!.mergedTypeMetadata).toMatchObject({ vct: metadata.vct })
    const ours = presentSdJwt({
      sdJwt: issued,
      claims: { name: '' },
      audience,
      nonce,
      holderKey,
      now,
    })
    const seen = await peer.verify(ours, { currentDate: now, keyBindingNonce: nonce })
    expect(seen.payload).toMatchObject({ name: 'Alice', number: 'L-1' })
    expect(seen.payload).not.toHaveProperty('nickname')
    const theirs = await peer.present(
      issued,
      { name: true },
      {
        kb: { payload: { iat: now, aud: audience, nonce } },
      },
    )
    const { claims: shown } = await verifySdJwtPresentation(theirs, { resolve, now, audience, nonce })
    expect(shown).toMatchObject({ name: 'Alice', number: 'L-1' })
  })

  test('of the peer is accepted', async () => {
    const text = await peer.issue(
      { iss: issuer, iat: now, vct: metadata.vct, number: 'L-2', name: 'Bob' } as never,
      { _sd: ['name'] } as never,
    )
    const verified = await verifySdJwt(text, { resolve, now })
    expect(verified.jws.header.typ).toBe('dc+sd-jwt')
    checkType(
      verified,
      readTypeMetadata(type, { vct: verified.vct!, integrity: verified.payload['vct#integrity'] }),
      { isComplete: true },
    )
  })

  test.each([
    ['a mandatory claim that is missing', { number: undefined }, /requires the claim number/],
    ['a registered claim', { exp: 1 }, /name exp is reserved/],
    ['a reserved name, deep inside', { address: [{ _sd: [] }] }, /name _sd is reserved/],
  ])('cannot have %s', (_name, change, reason) => {
    const changed = JSON.parse(JSON.stringify({ ...claims, ...change })) as typeof claims
    expect(() => issueSdJwtVc({ ...content, claims: changed })).toThrow(reason)
  })
})

describe('type metadata', () => {
  const read = (document: Uint8Array, integrity?: string) =>
    readTypeMetadata(document, { vct: metadata.vct, integrity })
  const digest = (algorithm: string) => `${algorithm}-${hash(algorithm, type, 'base64')}`
  const wrong = `sha512-${hash('sha512', 'another', 'base64')}`

  test.each([
    ['none', undefined],
    ['SHA-256', digest('sha256')],
    ['SHA-512', digest('sha512')],
    ['options', `${digest('sha384')}?x=y`],
    ['one of two', `${wrong} ${digest('sha512')}`],
    ['a weaker one that differs', `sha256-${hash('sha256', 'another', 'base64')} ${digest('sha512')}`],
  ])('is accepted with integrity metadata: %s', (_name, integrity) => {
    expect(read(type, integrity)).toEqual(metadata)
  })

  test.each([
    ['another digest', wrong, 'is not the document'],
    ['a stronger one that differs', `${digest('sha256')} ${wrong}`, 'is not the document'],
    ['an unsupported function', 'md5-abc', 'no supported hash'],
    ['no base64', 'sha256-!', 'is not the document'],
    ['nothing', '', 'no supported hash'],
  ])('is refused with integrity metadata: %s', async (_name, integrity, reason) => {
    expect(() => read(type, integrity)).toThrow(reason)
    expect(await failureOf(() => read(type, integrity))).toBe('malformed')
  })

  test.each([
    ['of another type', { ...metadata, vct: 'other' }, 'another vct'],
    ['that extends something else', { ...metadata, extends: 1 }, 'extends'],
    ['with an empty path', { ...metadata, claims: [{ path: [] }] }, 'path'],
  ])('%s is refused', (_name, document, reason) => {
    expect(() => read(utf8(JSON.stringify(document)))).toThrow(reason)
  })

  const check = (text: string, ...claimsOf: NonNullable<TypeMetadata['claims']>) => {
    checkType(decodeSdJwt(text), { vct: metadata.vct, claims: claimsOf }, { isComplete: text === issued })
  }
  test.each([
    [
      'a claim in clear',
      { path: ['number'], sd: 'always' as const },
      'requires selective disclosure of the claim number',
    ],
    ['a nested claim in clear', { path: ['address', 'country'], sd: 'always' as const }, 'address.country'],
    [
      'a disclosure',
      { path: ['name'], sd: 'never' as const },
      'forbids selective disclosure of the claim name',
    ],
    ['an element that is a disclosure', { path: ['classes', 1], sd: 'never' as const }, 'classes.1'],
    [
      'a claim inside of a disclosure',
      { path: ['classes', null, 'code'], sd: 'always' as const },
      'classes.0.code',
    ],
    ['a member of a text', { path: ['number', 'x'] }, 'expects an object in the claim number'],
    ['an element of an object', { path: ['address', null] }, 'expects an array in the claim address'],
    [
      'a claim that is missing',
      { path: ['address', 'street'], mandatory: true },
      'requires the claim address.street',
    ],
  ])('is violated by %s', (_name, rule, reason) => {
    expect(() => check(issued, rule)).toThrow(reason)
  })

  test('is kept by what a verifier sees, whose elements of arrays keep their positions', () => {
    const shown = without('classes.0', 'name')
    check(shown, ...metadata.claims!)
    check(shown, { path: ['name'], mandatory: true })
    check(shown, { path: ['classes', 0], sd: 'never' })
    expect(() => check(shown, { path: ['classes', 1], sd: 'never' })).toThrow('classes.1')
    check(issued, ...metadata.claims!)
  })
})
