/**
 * The signed and encrypted examples of OpenID4VP 1.0 and OpenID4VCI 1.0, with the keys that the
 * specifications publish.
 */
import { verifySdJwt } from './_verify.ts'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { readJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import { decodeHeader, decodeJws, isSignedBy } from '../../../src/credentials/codecs/jws.ts'
import { verifyProofJwt } from '../../../src/credentials/codecs/proof-jwt.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, type PublicJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { DcqlQuery } from '../../../src/credentials/dcql/query.ts'
import { runChecks } from '../../../src/credentials/formats/checks.ts'
import { decryptResponse } from '../../../src/exchange/oid4vp/encryption.ts'
import { demandsOf, readPresentation } from '../../../src/wallet/verification/answer.ts'
import { checksOf, type Expected } from '../../../src/credentials/formats/presentation.ts'
import { requireProvider } from '../../../src/exchange/oid4vci/wallet-providers.ts'

const text = (path: string) =>
  readFileSync(new URL(`../../../fixtures/openid/${path}`, import.meta.url), 'utf8').trim()
const read = (name: string): any => JSON.parse(text(`signed/${name}`))

const presentation = text('credentials/sd_jwt_presentation.txt')
const issuerKey = read('sd_jwt_issuer_key.json')
/** `iat` of the key binding. */
const presentedAt = 1_744_743_394

const query = DcqlQuery.parse({
  credentials: [
    {
      id: 'example',
      format: 'dc+sd-jwt',
      meta: { vct_values: ['https://credentials.example.com/example_credential'] },
      claims: [{ path: ['ld', 'credentialSubject', 'givenName'], values: ['John'] }],
    },
  ],
})

/** The request of the example, whose issuer has the published key. */
const expected: Expected = {
  audience: 'https://verifier.example.org',
  nonce: '1234567890',
  requestedAt: presentedAt,
  leewaySeconds: 60,
  options: {
    now: presentedAt,
    resolve: () => expect.unreachable('the issuer has no DID'),
    verifyChain: (_, issuer) => {
      expect(issuer).toBe('https://issuer.example.com')
      return Promise.resolve({ publicKey: issuerKey, subject: 'CN=Issuer', authorityKeyIds: [] })
    },
  },
}

/** The names of checks with their results. */
async function check(changes: Partial<Expected> = {}): Promise<string[]> {
  const [asked] = query.credentials
  const demands = demandsOf(asked!, { query, constraints: [], checkTrust: () => Promise.resolve(undefined) })
  const read = readPresentation(presentation, asked!, true)
  return (await runChecks(checksOf(read, { ...expected, ...changes }, demands))).map(
    ({ name, result }) => `${name} ${result}`,
  )
}

test('the verifier accepts the presentation of OpenID4VP', async () => {
  expect(await check()).toEqual([
    'audience passed',
    'nonce passed',
    'time passed',
    'query passed',
    'disclosure passed',
    'policy passed',
    'trust passed',
    'validity passed',
    'holder-binding passed',
    'signature passed',
    'status passed',
  ])
})

const otherKey = toPublic(generateKey('P-256'))
const { options } = expected

test.each<[string, Partial<Expected>]>([
  ['audience', { audience: 'https://other.example' }],
  ['nonce', { nonce: '1234567891' }],
  ['time', { requestedAt: presentedAt + 61 }],
  // `exp` of the credential. The key binding has no end.
  ['validity', { options: { ...options, now: 1_883_000_061 } }],
  [
    'signature',
    {
      options: {
        ...options,
        verifyChain: async () => ({ publicKey: otherKey, subject: 'CN=Other', authorityKeyIds: [] }),
      },
    },
  ],
])('the check %s of the presentation can fail', async (name, changes) => {
  expect((await check(changes)).filter((each) => each.endsWith('failed'))).toEqual([`${name} failed`])
})

test('the presentation discloses what the specification says', () => {
  const { processed } = decodeSdJwt(presentation)
  expect(processed).toEqual(read('sd_jwt_verified_contents.json'))
})

test('the encrypted response of OpenID4VP', async () => {
  const { response, key, payload } = read('encrypted_response.json')
  expect(await decryptResponse(response, { kid: 'ac' }, key)).toEqual(payload)
})

test('the SD-JWT VC of OpenID4VCI', async () => {
  const { processed } = await verifySdJwt(text('signed/sd_jwt_vc.txt'), {
    ...options,
    verifyChain: () => Promise.resolve({ publicKey: issuerKey, subject: 'CN=Issuer', authorityKeyIds: [] }),
  })
  expect(processed).toMatchObject({
    iss: 'https://example.com/issuer',
    vct: 'https://credentials.example.com/identity_credential',
    given_name: 'John',
    address: { locality: 'Anytown', country: 'US' },
    is_over_65: true,
  })
})

test('the JWT credential of OpenID4VCI, whose issuer has no DID', () => {
  const jwt = text('signed/jwt_vc_json.txt')
  const [key] = read('issuer_jwks.json').keys
  expect(isSignedBy(decodeJws(jwt), key)).toBe(true)
  expect(isSignedBy(decodeJws(jwt), otherKey)).toBe(false)
  expect(() => readJwtVc(jwt)).toThrow("The claim 'iss' is invalid: is not a DID")
})

/**
 * The key of the certificate in a token. It is self-signed, which HAIP 1.0 excludes: the key itself is
 * trusted.
 */
function certifiedKey(jwt: string): PublicJwk {
  const [certificate] = decodeHeader(jwt)['x5c'] as [string]
  const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'))
  return publicKey.export({ format: 'jwk' }) as unknown as PublicJwk
}

test('the wallet attestation of OpenID4VCI', async () => {
  const jwt = text('signed/wallet_attestation.txt')
  /** Verifies it with a key of the wallet provider, at a time. */
  const verify = async (key: PublicJwk, now: number) => {
    const clock = { now, leewaySeconds: 0 }
    const { claims } = await verifyProofJwt(jwt, {
      typ: 'oauth-client-attestation+jwt',
      claims: z.looseObject({ sub: z.string() }),
      clock,
      signer: requireProvider({ keys: [key as never], attestation: 'required' }, clock),
      refuse: (_, cause) => cause,
    })
    return claims
  }
  const [from, to] = [1_755_023_547, 1_755_102_745]
  const key = certifiedKey(jwt)
  for (const now of [from, to - 1])
    expect(await verify(key, now)).toMatchObject({ sub: 'https://wallet.example.com', nbf: from, exp: to })
  for (const now of [from - 1, to]) await expect(verify(key, now)).rejects.toThrow()
  await expect(verify(otherKey, from)).rejects.toThrow('no key of a trusted wallet provider')
})

test('the signed metadata of OpenID4VCI', () => {
  const jws = decodeJws(text('signed/credential_issuer_metadata.txt'))
  expect(isSignedBy(jws, certifiedKey(text('signed/credential_issuer_metadata.txt')))).toBe(true)
  expect(jws.payload).toMatchObject({ credential_issuer: 'https://credential-issuer.example.com' })
})
