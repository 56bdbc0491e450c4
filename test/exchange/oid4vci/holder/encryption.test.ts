/** Encrypted requests and responses of the credential endpoints, as the holder makes and reads them. */
import { compactDecrypt, CompactEncrypt, importJWK, type JWK } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { generateKey, toPublic, type PrivateJwk } from '../../../../src/foundation/crypto/keys.ts'
import { refusal } from '../../../support/tenants.ts'
import { acceptOffer, inState, licence, receive, startHolderPair, take } from './_holder.ts'
import { type Reply, type Seen, startFakeIssuer } from './_issuer.ts'
import { givesRefreshTokens, refresh, renewalOf, renewed } from './_refresh.ts'
import { untilEnd } from '../../../support/shared.ts'

const [pair, issuer] = await Promise.all([untilEnd(startHolderPair()), untilEnd(startFakeIssuer())])
await pair.setup.tenant.call('PATCH /oid4vci/issuers/{issuerId}', {
  path: { issuerId: pair.setup.issuerId },
  body: { encryptionRequired: true },
})
beforeEach(() => issuer.reset())

test.each([{}, licence])('an issuer that requires encryption issues %j', async (options) => {
  const { recordId } = await take(pair, { ...options, txCode: false })
  await inState(pair.holder, recordId, 'CredentialReceived')
})

test('an issuer that requires encryption issues a deferred credential', async () => {
  const { setup, holder } = pair
  const made = await take(pair, { ...licence, txCode: false, automaticIssuance: false })
  await inState(holder, made.recordId, 'CredentialDeferred')
  await setup.tenant.call('POST /issue-credentials/records/{recordId}/issue-credential', {
    path: { recordId: made.issuerRecordId },
  })
  await inState(holder, made.recordId, 'CredentialReceived')
})

describe('an issuer of the test', () => {
  let key: PrivateJwk
  beforeEach(() => (key = generateKey('P-256')))

  const values = ['A128GCM']
  const requests = (more = {}) => ({
    jwks: { keys: [{ ...toPublic(key), kid: 'one', use: 'enc', alg: 'ECDH-ES' }] },
    enc_values_supported: values,
    encryption_required: false,
    ...more,
  })
  const responses = (more = {}) => ({
    alg_values_supported: ['ECDH-ES'],
    enc_values_supported: values,
    encryption_required: false,
    ...more,
  })

  /** The issuer has members in its metadata. */
  function has(members: object) {
    issuer.on('openid-credential-issuer', () => ({ body: { ...issuer.metadata, ...members } }))
  }
  const both = () => ({
    credential_request_encryption: requests(),
    credential_response_encryption: responses(),
  })

  /** A request of the wallet, decrypted. */
  async function read(jwe: string): Promise<any> {
    const { plaintext, protectedHeader } = await compactDecrypt(
      jwe,
      await importJWK({ ...key, alg: 'ECDH-ES' }),
    )
    expect(protectedHeader).toMatchObject({ alg: 'ECDH-ES', enc: 'A128GCM', kid: 'one' })
    return JSON.parse(Buffer.from(plaintext).toString())
  }

  /** Encrypts a response to the key of the request, or to another. */
  async function answer({ credential_response_encryption: asked, ...request }: any, to: JWK = asked.jwk) {
    const body = { credentials: [{ credential: issuer.issue(JSON.stringify(request)) }] }
    const jwe = new CompactEncrypt(Buffer.from(JSON.stringify(body)))
    const header = { alg: 'ECDH-ES', enc: asked.enc as string }
    return jwe.setProtectedHeader(header).encrypt(await importJWK(to, 'ECDH-ES'))
  }

  const received = (state?: string) => acceptOffer(pair.holder, issuer.offer(), state)

  test('may have another key, and other endpoints, when a credential is renewed', async () => {
    givesRefreshTokens(issuer, { isBound: false })
    const make = issuer.answerOf('credential')
    const answers = async (seen: Seen, usual: Reply) => {
      const { credential_response_encryption: asked, ...request } = await read(seen.body)
      const { body } = await make({ ...seen, body: JSON.stringify(request) }, usual)
      const jwe = new CompactEncrypt(Buffer.from(JSON.stringify(body)))
      jwe.setProtectedHeader({ alg: 'ECDH-ES', enc: asked.enc })
      return { body: await jwe.encrypt(await importJWK(asked.jwk, 'ECDH-ES')) }
    }
    has(both())
    issuer.on('credential', answers)
    const { recordId } = await received()
    key = generateKey('P-256')
    has({ ...both(), credential_endpoint: issuer.metadata.credential_endpoint.replace(/credential$/, 'v2') })
    issuer.on('v2', answers)
    await refresh(pair.holder, recordId)
    expect(renewalOf(await renewed(pair.holder, recordId))).toMatchObject({ state: 'possible', count: 1 })
    expect([issuer.at('credential').length, issuer.at('v2').length]).toEqual([1, 1])
  })

  test.each<[string, (metadata: any) => void, RegExp]>([
    ['another issuer', (metadata) => (metadata.credential_issuer += '/x'), /credential_issuer is not/],
    [
      'another authorization server',
      (metadata) => (metadata.authorization_servers = ['http://127.0.0.1:1']),
      /authorization_server .* is not one/,
    ],
    [
      'another format',
      ({ credential_configurations_supported: all }) => (all.Licence = all.Person),
      /format of Licence is not dc\+sd-jwt/,
    ],
    [
      'no key of the holder',
      ({ credential_configurations_supported: { Licence } }) => {
        delete Licence.proof_types_supported
        delete Licence.cryptographic_binding_methods_supported
      },
      /bound to a key until now/,
    ],
  ])('with %s by now renews nothing, and its refresh token is not sent', async (_, change, reason) => {
    givesRefreshTokens(issuer, { isBound: false })
    const { recordId } = await received()
    const metadata = structuredClone(issuer.metadata)
    change(metadata)
    issuer.on('openid-credential-issuer', () => ({ body: metadata }))
    await refresh(pair.holder, recordId)
    const { state, reason: said } = renewalOf(await renewed(pair.holder, recordId))
    expect([state, said]).toEqual(['possible', expect.stringMatching(reason)])
    expect(issuer.at('token')).toHaveLength(1)
  })

  test('gets encrypted requests if it offers encrypted responses, with another key for each', async () => {
    has(both())
    const seen = new Set<string>()
    issuer.on('credential', async ({ body, headers }) => {
      expect(headers['content-type']).toBe('application/jwt')
      const request = await read(body)
      seen.add(request.credential_response_encryption.jwk.x)
      return { body: await answer(request), headers: { 'content-type': 'application/jwt' } }
    })
    for (const _ of [1, 2]) await received()
    expect(seen.size).toBe(2)
  })

  test('gets plain requests if it offers neither, or only encrypted requests', async () => {
    has({ credential_request_encryption: requests() })
    await received()
    expect(issuer.at('credential')[0]!.headers['content-type']).toBe('application/json')
  })

  test('gets encrypted requests that ask for plain responses if it requires them', async () => {
    has({ credential_request_encryption: requests({ encryption_required: true }) })
    issuer.on('credential', async ({ body }) => {
      const request = await read(body)
      expect(request.credential_response_encryption).toBeUndefined()
      return { body: { credentials: [{ credential: issuer.issue(JSON.stringify(request)) }] } }
    })
    await received()
  })

  test.each<[string, (request: any) => Promise<unknown>, string]>([
    [
      'a plain response',
      async (request) => ({ credentials: [{ credential: issuer.issue(JSON.stringify(request)) }] }),
      'is not encrypted',
    ],
    [
      'a response to another key',
      (request) => answer(request, toPublic(generateKey('P-256'))),
      'cannot be decrypted',
    ],
    [
      'a response with another algorithm',
      (request) =>
        answer({
          ...request,
          credential_response_encryption: { ...request.credential_response_encryption, enc: 'A256GCM' },
        }),
      'cannot be decrypted',
    ],
  ])('%s is refused', async (_, reply, reason) => {
    has(both())
    issuer.on('credential', async ({ body }) => ({ body: await reply(await read(body)) }))
    const { metaLastFailure } = await received('IssuanceFailed')
    expect(metaLastFailure!.detail).toContain(reason)
  })

  test('an error is not encrypted', async () => {
    has(both())
    issuer.on('credential', () => ({ status: 400, body: { error: 'credential_request_denied' } }))
    const { metaLastFailure } = await received('IssuanceFailed')
    expect(metaLastFailure!.detail).toContain('credential_request_denied')
  })

  test.each<[string, () => object, string]>([
    [
      'encrypted requests without a usable key',
      () => ({ credential_request_encryption: requests({ encryption_required: true, jwks: { keys: [] } }) }),
      'encrypted requests, and has no key',
    ],
    [
      'encrypted responses without a key for the request',
      () => ({ credential_response_encryption: responses({ encryption_required: true }) }),
      'no key for the encrypted request',
    ],
    [
      'encrypted responses by another algorithm',
      () => ({
        ...both(),
        credential_response_encryption: responses({
          encryption_required: true,
          alg_values_supported: ['RSA-OAEP-256'],
        }),
      }),
      'other algorithms than ECDH-ES',
    ],
  ])('that requires %s is refused', async (_, members, reason) => {
    has(members())
    const refused = await refusal(receive(pair.holder, issuer.offer()))
    expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining(reason) })
  })
})
