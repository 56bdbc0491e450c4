/** Issuers, offers and responses that a wallet must refuse, each with a reason that names it. */
import { beforeEach, describe, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
import { startAgent } from '../../../support/agent.ts'
import { startServer } from '../../../support/server.ts'
import { refusal } from '../../../support/tenants.ts'
import { accept, acceptOffer, inState, receive, show } from './_holder.ts'
import { startFakeIssuer, type Changes } from './_issuer.ts'
import { untilEnd } from '../../../support/shared.ts'

const agent = await untilEnd(startAgent())
const holder = await agent.newTenant('holder')
const [issuer, other] = [await untilEnd(startFakeIssuer()), await untilEnd(startFakeIssuer('/other'))]
beforeEach(() => issuer.reset())

const refused = (credentialOffer: string, more: object = {}) =>
  refusal(receive(holder, credentialOffer, more))
const isInvalidOffer = (detail: string) => ({
  status: 400,
  type: 'error:CredentialServiceError:InvalidCredentialOffer',
  detail: expect.stringContaining(detail),
})
const isMissingCertificate = (attestation: string) => ({
  status: 400,
  detail: expect.stringContaining(
    `attestationCertificateId is missing: the issuer requires a ${attestation}`,
  ),
})
const isInvalidMetadata = (detail: string) => ({
  status: 422,
  type: 'error:OID4VCIHolderError:InvalidIssuerMetadata',
  detail: expect.stringContaining(detail),
})
const isRefused = (detail: string) => ({
  status: 422,
  type: 'error:OID4VCIHolderError:IssuerRefused',
  detail: expect.stringContaining(detail),
})

test('without an attack, both credentials are received', async () => {
  for (const configuration of ['Licence', 'Person'] as const) {
    await acceptOffer(holder, issuer.offer(configuration))
  }
})

describe('an offer', () => {
  test.each<[string, string, string]>([
    ['is not a URL', 'an offer', 'neither a URL nor a JSON object'],
    ['is a URL of something else', 'openid-credential-offer://?other=1', 'neither credential_offer nor'],
    ['is not JSON', 'openid-credential-offer://?credential_offer=%7B', 'is not JSON'],
    [
      'is given in two ways',
      'openid-credential-offer://?credential_offer=%7B%7D&credential_offer_uri=https%3A%2F%2Fa.example',
      'both credential_offer and credential_offer_uri',
    ],
    ['lacks the issuer', '{"credential_configuration_ids":["a"]}', 'credential_issuer'],
  ])('that %s', async (_, offer, reason) => {
    expect(await refused(offer)).toMatchObject(isInvalidOffer(reason))
  })

  test('of a host over http, which is not this machine', async () => {
    const offer = JSON.stringify({
      credential_issuer: 'http://issuer.example/acme',
      credential_configuration_ids: ['Licence'],
    })
    expect(await refused(offer)).toMatchObject(isRefused('it is not https'))
  })

  test('of an issuer whose URL begins with another host', async () => {
    const credential_issuer = issuer.identifier.replace('://', '://trusted.example@')
    const offer = JSON.stringify({ credential_issuer, credential_configuration_ids: ['Licence'] })
    issuer.on('openid-credential-issuer', () => ({ body: { ...issuer.metadata, credential_issuer } }))
    expect(await refused(offer)).toMatchObject(isRefused('user name before the host'))
  })

  test('by reference at a host over http', async () => {
    const offer = 'openid-credential-offer://?credential_offer_uri=http%3A%2F%2Fissuer.example%2Foffer'
    expect(await refused(offer)).toMatchObject(isRefused('it is not https'))
  })

  test('of an issuer at a private address', async () => {
    const offer = JSON.stringify({
      credential_issuer: 'https://10.0.0.1/acme',
      credential_configuration_ids: ['Licence'],
    })
    expect(await refused(offer)).toMatchObject(isRefused('AGENT_ALLOW_HOSTS'))
  })

  test('by reference that redirects to a private address', async () => {
    await using server = await startServer((_, response) =>
      response.writeHead(302, { location: 'http://10.0.0.1/offer' }).end(),
    )
    expect(await refused(`${server.url}/offer`)).toMatchObject(isInvalidOffer('redirects with status 302'))
  })

  test.each([400, 401, 403, 405])('by reference that is refused with status %i', async (status) => {
    await using server = await startServer((_, response) => response.writeHead(status).end())
    const reason = `answers with status ${status}. Ask the issuer for a new one`
    expect(await refused(`${server.url}/offer`)).toMatchObject(isInvalidOffer(reason))
  })

  test.each([408, 425, 429, 500, 503])(
    'by reference that is not there now, with status %i',
    async (status) => {
      await using server = await startServer((_, response) => response.writeHead(status).end())
      expect(await refused(`${server.url}/offer`)).toMatchObject({
        status: 503,
        detail: expect.stringContaining(`status ${status}. Try again later`),
      })
    },
  )

  test.each(['javascript:alert(1)', 'file:///etc/issuer', 'urn:issuer'])(
    'of an issuer that is not at a URL with https: %s',
    async (credential_issuer) => {
      const offer = JSON.stringify({ credential_issuer, credential_configuration_ids: ['Licence'] })
      const reason = `The request to ${credential_issuer} failed: it is not a URL with https`
      expect(await refused(offer)).toMatchObject(isRefused(reason))
    },
  )

  test('by reference that was redeemed or has expired', async () => {
    await using server = await startServer((_, response) => response.writeHead(404).end())
    expect(await refused(`${server.url}/offer`)).toMatchObject(isInvalidOffer('has expired'))
  })

  test.each([
    ['without the wanted grant', {}, { grant: 'authorization_code' }, 'does not have the grant'],
    ['of another credential than wanted', {}, { credentialConfigurationId: 'Person' }, 'is not for Person'],
    [
      'of other credentials than wanted',
      {},
      { credentialConfigurationIds: ['Licence', 'Person'] },
      'is not for Person, which credentialConfigurationIds names',
    ],
    [
      'for more credentials than are received together',
      { credential_configuration_ids: Array.from({ length: 11 }, (_, index) => `${index}`) },
      {},
      'name at most 10 of them in credentialConfigurationIds',
    ],
    [
      'that names a server which the issuer does not have',
      {
        grants: {
          'urn:ietf:params:oauth:grant-type:pre-authorized_code': {
            'pre-authorized_code': 'code',
            authorization_server: 'https://thief.example',
          },
        },
      },
      {},
      'authorization_server https://thief.example is not one',
    ],
  ])('%s', async (_, offer, wanted, reason) => {
    expect(await refused(issuer.offer('Licence', offer), wanted)).toMatchObject(isInvalidOffer(reason))
  })
})

describe('metadata', () => {
  const configurationOf = (changes: object) => ({
    ...issuer.metadata,
    credential_configurations_supported: {
      Licence: { ...issuer.metadata.credential_configurations_supported.Licence, ...changes },
    },
  })

  test.each<[string, 'openid-credential-issuer' | 'oauth-authorization-server', () => unknown, object]>([
    [
      'of another issuer',
      'openid-credential-issuer',
      () => other.metadata,
      isInvalidMetadata('credential_issuer is not'),
    ],
    [
      'of another authorization server',
      'oauth-authorization-server',
      () => other.authorization,
      isInvalidMetadata('issuer is not'),
    ],
    ['that are not JSON', 'openid-credential-issuer', () => '<html>', isInvalidMetadata('it is not JSON')],
    [
      'without the offered credential',
      'openid-credential-issuer',
      () => ({ ...issuer.metadata, credential_configurations_supported: {} }),
      isInvalidMetadata('no configuration Licence'),
    ],
    [
      'that send the proof to a host over http',
      'openid-credential-issuer',
      () => ({ ...issuer.metadata, credential_endpoint: 'http://thief.example/credential' }),
      isRefused('it is not https'),
    ],
    [
      'that send the code to a host over http',
      'oauth-authorization-server',
      () => ({ ...issuer.authorization, token_endpoint: 'http://thief.example/token' }),
      isRefused('it is not https'),
    ],
    [
      'of an unknown format',
      'openid-credential-issuer',
      () => configurationOf({ format: 'ldp_vc' }),
      isInvalidOffer('format of Licence is ldp_vc'),
    ],
    [
      'that require a key attestation',
      'openid-credential-issuer',
      () =>
        configurationOf({
          proof_types_supported: {
            jwt: { proof_signing_alg_values_supported: ['ES256'], key_attestations_required: {} },
          },
        }),
      isMissingCertificate('key attestation'),
    ],
    [
      'that require another algorithm',
      'openid-credential-issuer',
      () =>
        configurationOf({
          proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['RS256'] } },
        }),
      isInvalidOffer('key proofs by RS256, and this wallet signs by ES256'),
    ],
    [
      'that require a wallet attestation',
      'oauth-authorization-server',
      () => ({ ...issuer.authorization, token_endpoint_auth_methods_supported: ['attest_jwt_client_auth'] }),
      isMissingCertificate('wallet attestation'),
    ],
  ])('%s', async (_, name, body, problem) => {
    issuer.on(name, () => ({ body: body() }))
    expect(await refused(issuer.offer())).toMatchObject(problem)
    expect(issuer.at('token')).toEqual([])
  })

  test('that are too large', async () => {
    issuer.on('openid-credential-issuer', () => ({ body: 'x'.repeat(1_100_000) }))
    expect(await refused(issuer.offer())).toMatchObject(isRefused('more than 1048576 bytes'))
  })

  test('of a server that redirects to a private address', async () => {
    issuer.on('oauth-authorization-server', () => ({
      status: 302,
      headers: { location: 'http://10.0.0.1/' },
    }))
    expect(await refused(issuer.offer())).toMatchObject(isInvalidMetadata('redirects with status 302'))
  })
})

/**
 * Accepts an offer, and returns the reason why the credential was not received, with what the issuer is
 * notified of.
 */
async function failed(configuration: 'Licence' | 'Person' = 'Licence') {
  const { recordId, metaLastFailure, credential } = await acceptOffer(
    holder,
    issuer.offer(configuration),
    'IssuanceFailed',
  )
  expect(credential).toBeUndefined()
  const content = holder.call('GET /issue-credentials/records/{recordId}/credential', { path: { recordId } })
  expect(await refusal(content)).toMatchObject({ status: 400 })
  return metaLastFailure!.detail!
}

describe('a credential', () => {
  const thief = generateKey('P-256')
  test.each<[string, 'Licence' | 'Person', () => Changes, string]>([
    [
      'for another key',
      'Licence',
      () => ({ holderKey: toPublic(thief) }),
      'not bound to the key of the request',
    ],
    [
      'for another key, by its DID',
      'Licence',
      () => ({ cnf: { kid: `${createJwkDid(toPublic(thief))}#0` } }),
      'not bound to the key of the request',
    ],
    [
      'for a key that cannot be known',
      'Licence',
      () => ({ cnf: { jkt: 'a' } }),
      'not bound to the key of the request',
    ],
    ['of another type', 'Licence', () => ({ vct: 'https://issuer.example/other' }), 'its vct is'],
    [
      'that is not typed as one',
      'Licence',
      () => ({ typ: 'JWT' }),
      'typ in the header of the credential is "JWT"',
    ],
    ['signed by another key', 'Licence', () => ({ signer: thief }), 'made the signature'],
    ['that has expired', 'Licence', () => ({ expiresAt: 1_000_000_000 }), 'Valid until 2001'],
    [
      'for another subject',
      'Person',
      () => ({ subject: createJwkDid(toPublic(thief)) }),
      'not bound to the key of the request',
    ],
    ['signed by another key, as JWT', 'Person', () => ({ signer: thief }), 'made the signature'],
  ])('%s is refused, and the issuer is notified', async (_, configuration, changes, reason) => {
    const notified = new Promise<{ body: string }>((resolve) => {
      issuer.on('notification', (seen, usual) => (resolve(seen), usual))
    })
    issuer.on('credential', ({ body }) => ({
      body: { credentials: [{ credential: issuer.issue(body, changes()) }], notification_id: 'n' },
    }))
    expect(await failed(configuration)).toContain(reason)
    expect(JSON.parse((await notified).body)).toEqual({
      notification_id: 'n',
      event: 'credential_failure',
      event_description: expect.stringContaining('The credential is not accepted'),
    })
  })

  test('of a type that JWT credentials do not have', async () => {
    issuer.on('openid-credential-issuer', (_, { body }) => {
      const metadata = structuredClone(body) as typeof issuer.metadata
      metadata.credential_configurations_supported.Person.credential_definition.type.push('Licence')
      return { body: metadata }
    })
    expect(await failed('Person')).toContain('not of the type Licence')
  })

  test.each([
    ['with something else than a certificate', { x5c: ['AAAA'] }, 'not an X.509 certificate'],
    ['with neither a DID nor a certificate', {}, 'has no certificates in x5c'],
  ])('%s', async (_, header, reason) => {
    issuer.on('credential', () => {
      const token = {
        iss: 'https://issuer.example',
        vct: 'https://issuer.example/licence',
        _sd_alg: 'sha-256',
      }
      const parts = [{ typ: 'dc+sd-jwt', alg: 'ES256', ...header }, token]
      const encoded = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      return { body: { credentials: [{ credential: `${encoded.join('.')}.${'A'.repeat(86)}~` }] } }
    })
    expect(await failed()).toContain(reason)
  })

  test.each<[string, unknown, string]>([
    ['is not text', { credentials: [{ credential: 1 }] }, 'credentials.0.credential'],
    [
      'comes twice for one key',
      { credentials: [{ credential: 'a' }, { credential: 'b' }] },
      '2 credentials for 1 keys',
    ],
    ['is missing', { notification_id: 'n' }, 'neither credentials nor transaction_id'],
    ['is not readable', { credentials: [{ credential: 'a.b.c' }] }, 'not accepted'],
  ])('that %s', async (_, body, reason) => {
    issuer.on('credential', () => ({ body }))
    expect(await failed()).toContain(reason)
  })

  test('that is larger than a response may be', async () => {
    issuer.on('credential', () => ({ body: 'x'.repeat(1_100_000) }))
    expect(await failed()).toContain('more than 1048576 bytes')
  })

  test.each<['Licence' | 'Person', string, string]>([
    ['Person', 'a.b.c~d~', 'it is an SD-JWT, and the format jwt_vc_json is a JWT'],
    ['Licence', 'a.b.c', 'it is a JWT, and the format dc+sd-jwt is an SD-JWT'],
    ['Licence', 'omppc3N1ZXJBdXRo', 'it is binary data in base64url, such as an mdoc, and the format'],
    ['Person', '{"@context":[]}', 'it is JSON, and the format jwt_vc_json is a JWT'],
  ])('%s, of another format than offered: %s', async (configuration, credential, reason) => {
    issuer.on('credential', () => ({ body: { credentials: [{ credential }] } }))
    expect(await failed(configuration)).toContain(reason)
  })

  test('whose refusal is in WWW-Authenticate alone', async () => {
    const challenge = 'DPoP algs="ES256", error="invalid_token", error_description="it has \\"expired\\""'
    issuer.on('credential', () => ({ status: 401, headers: { 'www-authenticate': challenge }, body: '' }))
    expect(await failed()).toContain('invalid_token: it has "expired"')
  })

  test('that the issuer denies', async () => {
    issuer.on('credential', () => ({ status: 400, body: { error: 'credential_request_denied' } }))
    expect(await failed()).toContain('credential_request_denied')
  })
})

describe('a token response', () => {
  test.each<[string, object, string]>([
    ['with a token of two lines', { body: { access_token: 'a\n', token_type: 'Bearer' } }, 'visible ASCII'],
    ['without a token', { body: { token_type: 'Bearer' } }, 'access_token'],
    ['of another type', { body: { access_token: 'a', token_type: 'mac' } }, 'neither Bearer nor DPoP'],
    ['bound to no proof', { body: { access_token: 'a', token_type: 'DPoP' } }, 'had no DPoP proof'],
    ['with an error', { status: 400, body: { error: 'invalid_grant' } }, 'ask for a new offer'],
    [
      'with control characters in its error',
      { status: 400, body: { error: 'a\u001b[31m', error_description: 'b\u001b[0m\nc' } },
      'a??31m: b [0m c',
    ],
  ])('%s leaves the offer open', async (_, reply, reason) => {
    issuer.on('token', () => reply)
    const { recordId } = await receive(holder, issuer.offer())
    expect(await refusal(accept(holder, recordId))).toMatchObject(isRefused(reason))
    expect(await show(holder, recordId)).toMatchObject({
      protocolState: 'OfferReceived',
      metaLastFailure: { detail: expect.stringContaining(reason) },
    })
    issuer.reset()
    await accept(holder, recordId)
    await inState(holder, recordId, 'CredentialReceived')
  })
})

describe('an authorization response', () => {
  const begin = async () => {
    const offer = issuer.offer('Licence', { grants: { authorization_code: { issuer_state: 'is' } } })
    const { recordId } = await receive(holder, offer)
    const path = { recordId }
    const begun = await holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
      path,
      body: { redirectUri: 'http://127.0.0.1:1/callback' },
    })
    const asked = new URL(begun.openid4vci!.authorizationUrl!).searchParams
    const complete = (body: { state: string; code?: string; iss?: string; error?: string }) =>
      holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body })
    return { recordId, asked, complete, state: asked.get('state')! }
  }

  test('asks with PKCE, the issuer’s state and the scope', async () => {
    const { asked } = await begin()
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      client_id: 'identity-agent',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      issuer_state: 'is',
      scope: 'licence',
    })
  })

  test.each([
    ['of another request', { state: 'other', iss: () => issuer.identifier }, 'state: is not that'],
    ['of another server (mix-up)', { iss: () => other.identifier }, 'iss: is not the authorization server'],
    ['without its server', { iss: () => undefined }, 'iss: is missing, and the authorization server http'],
  ])(
    '%s',
    async (_, { iss, state: otherState }: { state?: string; iss: () => string | undefined }, reason) => {
      const { complete, state, recordId } = await begin()
      const named = iss()
      const response = complete({
        code: 'code',
        state: otherState ?? state,
        ...(named !== undefined && { iss: named }),
      })
      expect(await refusal(response)).toMatchObject({ status: 400, detail: expect.stringContaining(reason) })
      expect(issuer.at('token')).toEqual([])
      await complete({ code: 'code', state, iss: issuer.identifier })
      await inState(holder, recordId, 'CredentialReceived')
      const form = new URLSearchParams(issuer.at('token')[0]!.body)
      expect(Object.fromEntries(form)).toMatchObject({ code: 'code', code_verifier: expect.any(String) })
    },
  )

  test('with an error ends the flow', async () => {
    const { complete, state, recordId } = await begin()
    await complete({ error: 'access_denied', state, iss: issuer.identifier })
    expect((await inState(holder, recordId, 'IssuanceFailed')).metaLastFailure!.detail).toContain(
      'access_denied',
    )
  })

  test.each(['http://wallet.example/cb', 'javascript:alert(1)', 'https://a.example/#x'])(
    'is not sent to %s',
    async (redirectUri) => {
      const offer = issuer.offer('Licence', { grants: { authorization_code: {} } })
      const { recordId } = await receive(holder, offer)
      const begun = holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
        path: { recordId },
        body: { redirectUri },
      })
      expect(await refusal(begun)).toMatchObject({
        status: 400,
        detail: expect.stringContaining('redirectUri'),
      })
    },
  )
})
