/** Tokens: published ones, those of this agent, and faults in each part. */
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { toBase64url } from '../../../src/foundation/bytes.ts'
import { signJws } from '../../../src/credentials/codecs/jws.ts'
import { presentSdJwt } from '../../credentials/codecs/_present.ts'
import { issueSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { compressStatuses, signTokenStatusList } from '../../../src/credentials/codecs/token-status-list.ts'
import {
  createBitstringStatusList,
  compressBits,
  listLength,
} from '../../../src/credentials/codecs/bitstring.ts'
import { generateKey, type PrivateJwk, sign, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createKeyDid } from '../../../src/did/key.ts'
import { toLongForm } from '../../../src/did/prism/did.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { issueAuthority, x509 } from '../../../src/foundation/x509/issue.ts'
import { createBytes, key as prismKey, masterKey, secret } from '../../did/prism/_make.ts'
import { named, type PublishedVector, readPublished } from '../../support/vectors.ts'
import { fixture, read, refusalOf, resultsOf } from './_read.ts'

type Token = PublishedVector & { jwt: string }
/** Without the two that are sound and rejected because another issuer is expected. */
const identus = (readPublished('identus-jwt') as { vectors: Token[] }).vectors.filter(
  ({ id, kind, expect: expected }) =>
    /^jwt-v[cp]$/.test(kind) && expected !== 'either' && !id.startsWith('issuer-is-another'),
)

test.each(named(identus))('the checks of the published token %s', async (_, { jwt, expect: expected }) => {
  const isSound = await read(jwt).then(
    ({ checks }) => checks.every(({ result }) => result === 'passed'),
    () => false,
  )
  expect(isSound).toBe(expected === 'ok')
})

describe('an SD-JWT with key binding of the OpenID4VP specification', () => {
  const text = fixture('openid/credentials/sd_jwt_presentation.txt')

  test('has its disclosed claim in place, its digests and its key binding', async () => {
    const decoded = await read(text)
    expect(decoded).toMatchObject({
      kind: 'sd-jwt-vc',
      title: 'SD-JWT VC with key binding',
      content: { claims: { ld: { credentialSubject: { givenName: 'John' } } } },
      facts: { expires: new Date(1_883_000_000_000), disclosed: ['givenName'] },
    })
    expect(resultsOf(decoded)).toEqual({ signature: 'not verified', disclosures: 'passed', form: 'passed' })
    expect(decoded.parts.map(resultsOf)).toEqual([{ signature: 'passed', sd_hash: 'passed', form: 'passed' }])
  })

  test('is read when it is folded into lines', async () => {
    expect(await read(text.replaceAll(/.{68}/g, '$&\n'))).toEqual(await read(text))
  })

  test('fails without its disclosure: the key binding was for other disclosures', async () => {
    const [jwt, , binding] = text.trim().split('~')
    const { parts } = await read(`${jwt}~${binding}`)
    expect(parts.map(resultsOf)).toEqual([{ signature: 'passed', sd_hash: 'failed', form: 'passed' }])
  })

  test('fails with a disclosure that matches no digest, and shows it', async () => {
    const [jwt, , binding] = text.trim().split('~')
    const other = toBase64url(JSON.stringify(['salt', 'admin', true]))
    const decoded = await read(`${jwt}~${other}~${binding}`)
    expect(resultsOf(decoded)).toMatchObject({ disclosures: 'failed' })
    expect(decoded.content).toMatchObject({ disclosures: [{ name: 'admin', value: true }] })
    expect(decoded.content).not.toHaveProperty('claims')
  })
})

test('an SD-JWT of this agent is verified by the key in its DID', async () => {
  const [issuerKey, holderKey] = [generateKey('Ed25519'), generateKey('P-256')]
  const sdJwt = issueSdJwt({
    issuerDid: createKeyDid(toPublic(issuerKey)),
    issuerKey,
    subjectDid: createJwkDid(toPublic(holderKey)),
    claims: { name: 'Alice', address: { city: 'Bern', street: 'Gasse 1' } },
    vct: 'urn:person',
    expiresAt: 1_700_000_000,
    holderKey: toPublic(holderKey),
    now: 1_600_000_000,
  })
  const whole = await read(sdJwt)
  expect(resultsOf(whole)).toEqual({ signature: 'passed', disclosures: 'passed', form: 'passed' })
  expect(whole.facts['holder']).toMatch(/a presentation needs a key binding/)
  const presented = await read(
    presentSdJwt({ sdJwt, claims: { address: { city: {} } }, audience: 'a', nonce: 'n', holderKey, now: 1 }),
  )
  expect(presented.content['claims']).toMatchObject({ address: { city: 'Bern' } })
  expect(presented.facts['disclosed']).toEqual(['address', 'city'])
  expect(presented.checks[1]!.detail).toMatch(/2 more digests are of withheld claims/)
})

test.each([
  ['the DID of the holder', 'passed', '', 'authentication'],
  ['an authentication key of the holder', 'passed', '#auth-1', 'authentication'],
  ['the DID of the holder, and signed by its assertion key', 'failed', '', 'assertionMethod'],
  ['an assertion key of the holder', 'failed', '#issue-1', 'assertionMethod'],
] as const)('the key binding by %s has %s', async (_, result, fragment, signer) => {
  const publicKeys = [masterKey, prismKey('auth-1', 'authentication'), prismKey('issue-1', 'assertionMethod')]
  const kid = toLongForm(createBytes({ publicKeys })) + fragment
  const payload = { vct: 'urn:person', cnf: { kid } }
  const sdJwt = `${signJws({ typ: 'dc+sd-jwt' }, payload, generateKey('P-256'))}~`
  const binding = signJws({ typ: 'kb+jwt' }, { iat: 1, aud: 'a', nonce: 'n' }, secret(signer))
  const [part] = (await read(sdJwt + binding)).parts
  expect(resultsOf(part!)).toMatchObject({ signature: result })
})

test('the key binding by a DID that cannot be resolved here is not verified', async () => {
  const payload = { vct: 'urn:person', cnf: { kid: 'did:web:holder.example#key-1' } }
  const sdJwt = `${signJws({ typ: 'dc+sd-jwt' }, payload, generateKey('P-256'))}~`
  const [part] = (await read(sdJwt + signJws({ typ: 'kb+jwt' }, {}, generateKey('P-256')))).parts
  expect(part!.checks[0]).toEqual({
    name: 'signature',
    result: 'not verified',
    detail: 'did:web needs --online',
  })
})

describe('a JWT', () => {
  const key = generateKey('P-256')

  test('is verified by the key in its header, which may be of anyone', async () => {
    const header = { typ: 'openid4vci-proof+jwt', alg: 'ES256', jwk: toPublic(key) }
    const proof = signWith(header, { aud: 'https://issuer.example', iat: 1, nonce: 'n' }, key)
    const decoded = await read(proof)
    expect(decoded.kind).toBe('key-proof')
    expect(decoded.checks).toEqual([
      {
        name: 'signature',
        result: 'passed',
        detail: 'made by the key in its header (jwk), which may be of anyone',
      },
    ])
    const other = signWith({ ...header, jwk: toPublic(generateKey('P-256')) }, {}, key)
    expect(resultsOf(await read(other))).toEqual({ signature: 'failed' })
  })

  test('is verified by the first certificate in its header, whose issuer is not checked', async () => {
    const { certificate, key: pem } = await issueAuthority('CN=Issuer', 30)
    const signer = createPrivateKey(pem).export({ format: 'jwk' }) as PrivateJwk
    const x5c = [new X509Certificate(certificate).raw.toString('base64')]
    const { checks } = await read(signJws({ typ: 'JWT', x5c }, { iss: 'https://issuer.example' }, signer))
    expect(checks).toMatchObject([{ result: 'passed', detail: expect.stringContaining('not checked') }])
    const other = await read(signJws({ typ: 'JWT', x5c }, { iss: 'https://issuer.example' }, key))
    expect(resultsOf(other)).toEqual({ signature: 'failed' })
  })

  test('is of the subject of its certificate, whatever the iss of the SD-JWT is', async () => {
    const { certificate, key: pem } = await issueAuthority('CN=Issuer', 30, [
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'issuer.example' }]),
    ])
    const signer = createPrivateKey(pem).export({ format: 'jwk' }) as PrivateJwk
    const x5c = [new X509Certificate(certificate).raw.toString('base64')]
    const ofIssuer = async (iss: string) => {
      const jwt = signJws({ typ: 'dc+sd-jwt', x5c }, { iss, vct: 'https://types.example/person' }, signer)
      return (await read(`${jwt}~`)).facts['issuer']
    }
    expect(await ofIssuer('https://bank.example')).toBe('https://issuer.example')
    expect(await ofIssuer('https://issuer.example/acme')).toBe('https://issuer.example/acme')
  })

  test('is not verified if its issuer publishes its key elsewhere', async () => {
    const decoded = await read(signJws({ typ: 'JWT' }, { iss: 'did:web:example.org' }, key))
    expect(decoded.checks).toEqual([
      { name: 'signature', result: 'not verified', detail: 'did:web needs --online' },
    ])
  })

  test.each([
    [
      'header',
      'eyJ.e30.AA',
      'This is a JWT (three parts with dots between them), but its header cannot be read',
    ],
    [
      'payload',
      `${toBase64url('{"alg":"ES256"}')}.e30x.AA`,
      'but its payload cannot be read: The payload is not acceptable JSON',
    ],
  ])('with a broken %s is refused with the reason', async (_, text, reason) => {
    expect(await refusalOf(text)).toContain(reason)
  })
})

test('a status list token has the number of entries of each status', async () => {
  const key = generateKey('P-256')
  const lst = compressStatuses(
    [
      [0, 1],
      [3, 2],
      [7, 1],
    ],
    2,
    100,
  )
  const token = signTokenStatusList({
    url: 'https://issuer.example/list',
    issuer: createKeyDid(toPublic(key)),
    key,
    bits: 2,
    lst,
    issuedAt: 1,
    expiresAt: 2,
    ttlSeconds: 60,
  })
  const decoded = await read(token)
  expect(decoded).toMatchObject({
    kind: 'status-list-token',
    facts: {
      entries: 100,
      statuses: ['97 valid (0)', '2 invalid (1)', '1 suspended (2)'],
      'compressed bytes': lst.length,
    },
  })
  expect(resultsOf(decoded)).toEqual({ signature: 'passed' })
})

test('a status list credential has the number of entries that are set', async () => {
  const key = generateKey('Ed25519')
  const issuerDid = createKeyDid(toPublic(key))
  const url = 'https://issuer.example/list'
  const bits = compressBits([5, 6])
  const token = createBitstringStatusList({
    url,
    issuerDid,
    kid: `${issuerDid}#${issuerDid.slice(8)}`,
    key,
    bits,
    validFrom: '2026-01-01T00:00:00Z',
  })
  expect(await read(token)).toMatchObject({
    kind: 'status-list-credential',
    facts: {
      entries: listLength,
      statuses: [`${listLength - 2} not set (0)`, '2 set (1)'],
      purpose: ['revocation'],
    },
    checks: [{ result: 'passed' }],
  })
})

test('a JWE shows its header only', async () => {
  const header = { alg: 'ECDH-ES', enc: 'A256GCM', kid: randomUUID() }
  const decoded = await read(`${toBase64url(JSON.stringify(header))}..AAAA.BBBB.CCCC`)
  expect(decoded).toMatchObject({ kind: 'jwe', content: { header }, facts: { encryption: 'A256GCM' } })
})

function signWith(header: object, payload: object, key: ReturnType<typeof generateKey>): string {
  // The signer of the agent writes no jwk.
  const [, body] = signJws({}, payload, key).split('.')
  const input = `${toBase64url(JSON.stringify(header))}.${body}`
  return `${input}.${toBase64url(sign(key, Buffer.from(input)))}`
}
