/**
 * Documents and responses of issuers that are odd, but have what the flow needs: a wallet receives the
 * credential all the same.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { refusal } from '../../../support/tenants.ts'
import { preAuthorizedGrant } from '../_wallet.ts'
import { accept, acceptOffer, inState, receive } from './_holder.ts'
import { startFakeIssuer, withTxCode } from './_issuer.ts'
import { untilEnd } from '../../../support/shared.ts'

const agent = await sharedAgent()
const holder = await agent.newTenant('holder')
const issuer = await untilEnd(startFakeIssuer())
beforeEach(() => issuer.reset())

/** Receives the credential of an offer. */
const take = (offer = issuer.offer()) => acceptOffer(holder, offer)

/** Members of the issuer's metadata, of the offered configuration, and further configurations. */
type Oddity = { metadata?: object; licence?: object; others?: object }

function describeIssuer({ metadata = {}, licence = {}, others = {} }: Oddity): void {
  const { Licence } = issuer.metadata.credential_configurations_supported
  const configurations = { ...others, Licence: { ...Licence, ...licence } }
  issuer.on('openid-credential-issuer', () => ({
    body: { ...issuer.metadata, credential_configurations_supported: configurations, ...metadata },
  }))
}

describe('metadata of an issuer', () => {
  test.each<[string, Oddity]>([
    [
      'another configuration is an mdoc whose claims are an object',
      { others: { mdoc: { format: 'mso_mdoc', doctype: 'a', claims: { 'org.iso.18013.5.1': {} } } } },
    ],
    [
      'another configuration has a proof type with COSE algorithms',
      {
        others: {
          other: {
            format: 'a',
            proof_types_supported: { cwt: { proof_signing_alg_values_supported: [-7] } },
          },
        },
      },
    ],
    [
      'another configuration lists its proof types',
      { others: { other: { format: 'a', proof_types_supported: ['jwt'] } } },
    ],
    ['another configuration has no vct', { others: { other: { format: 'dc+sd-jwt' } } }],
    ['another configuration is null', { others: { other: null } }],
    ['another configuration is a text', { others: { other: 'ldp_vc' } }],
    ['another configuration has no format', { others: { other: { display: [] } } }],
    [
      'another proof type has COSE algorithms',
      {
        licence: {
          proof_types_supported: {
            cwt: { proof_signing_alg_values_supported: [-7] },
            jwt: { proof_signing_alg_values_supported: ['ES256', -7] },
          },
        },
      },
    ],
    ['claims are an object', { licence: { claims: { name: { display: [] } } } }],
    ['credential_metadata is an array', { licence: { credential_metadata: [] } }],
    ['lists are empty', { metadata: { display: [] }, licence: { display: [], claims: [] } }],
    [
      'a locale is null',
      {
        metadata: { display: [{ name: 'Acme', locale: null, logo: null }] },
        licence: { credential_metadata: { display: [{ name: null, locale: 'en' }, null], claims: null } },
      },
    ],
    ['the scope is null', { licence: { scope: null } }],
    ['the scope is empty', { licence: { scope: '' } }],
    [
      'there is no attestation to make',
      {
        licence: {
          proof_types_supported: {
            jwt: { proof_signing_alg_values_supported: ['ES256'], key_attestations_required: null },
          },
        },
      },
    ],
    [
      'members are null',
      {
        metadata: {
          display: null,
          authorization_servers: null,
          batch_credential_issuance: null,
          credential_request_encryption: null,
          credential_response_encryption: null,
          signed_metadata: null,
        },
      },
    ],
    ['authorization_servers is empty', { metadata: { authorization_servers: [] } }],
    ['batches are of one', { metadata: { batch_credential_issuance: { batch_size: 1 } } }],
    [
      'endpoints that are not used are empty',
      {
        metadata: { notification_endpoint: '', deferred_credential_endpoint: '' },
      },
    ],
    [
      'encryption is possible, and described in part',
      {
        metadata: {
          credential_response_encryption: { alg_values_supported: ['ECDH-ES'], encryption_required: false },
          credential_request_encryption: { jwks: [], encryption_required: false },
        },
      },
    ],
  ])('%s', async (_, oddity) => {
    describeIssuer(oddity)
    const { openid4vci } = await receive(holder, issuer.offer())
    expect(openid4vci).toMatchObject({ credentialConfigurationId: 'Licence', format: 'dc+sd-jwt' })
  })

  test('names are read from the valid entries', async () => {
    describeIssuer({
      metadata: { display: [null, 'Acme', { name: 1 }, { name: 'Acme', locale: 'de' }] },
      licence: {
        credential_metadata: {
          display: [{ name: 'Licence', locale: 1 }],
          claims: [null, { path: [] }, { path: ['name'], mandatory: 'yes', display: { name: 'Name' } }],
        },
      },
    })
    const { openid4vci } = await receive(holder, issuer.offer())
    expect(openid4vci).toMatchObject({
      issuerName: 'Acme',
      credentialName: 'Licence',
      claims: [{ path: ['name'] }],
    })
  })

  test.each<[string, Oddity, string]>([
    [
      'credential_endpoint is null',
      { metadata: { credential_endpoint: null } },
      'credential_endpoint: is missing',
    ],
    [
      'nonce_endpoint is a text',
      { metadata: { nonce_endpoint: 'nonce' } },
      'nonce_endpoint: must be an absolute URL',
    ],
    [
      'authorization_servers is a text',
      { metadata: { authorization_servers: 'a' } },
      'authorization_servers: must be an array',
    ],
    [
      'there are no configurations',
      { metadata: { credential_configurations_supported: [] } },
      'credential_configurations_supported: must be an object',
    ],
    [
      'the offered vct is missing',
      { licence: { vct: null } },
      'credential_configurations_supported.Licence.vct: is missing',
    ],
    [
      'the offered proof types are a list',
      { licence: { proof_types_supported: ['jwt'] } },
      'Licence.proof_types_supported: must be an object',
    ],
    ['the format is not a text', { licence: { format: ['dc+sd-jwt'] } }, 'Licence.format: must be a text'],
  ])('%s, and is needed', async (_, oddity, detail) => {
    describeIssuer(oddity)
    expect(await refusal(receive(holder, issuer.offer()))).toMatchObject({
      status: 422,
      type: 'error:OID4VCIHolderError:InvalidIssuerMetadata',
      detail: expect.stringContaining(detail),
    })
  })
})

test.each<[string, object]>([
  [
    'members are null',
    {
      authorization_endpoint: null,
      jwks_uri: null,
      grant_types_supported: null,
      dpop_signing_alg_values_supported: null,
      token_endpoint_auth_methods_supported: null,
      'pre-authorized_grant_anonymous_access_supported': null,
    },
  ],
  [
    'members are of other types',
    {
      authorization_endpoint: 'not a URL',
      pushed_authorization_request_endpoint: false,
      challenge_endpoint: [],
      jwks_uri: {},
      grant_types_supported: preAuthorizedGrant,
      response_types_supported: 'code',
      dpop_signing_alg_values_supported: [null, -7, 'ES256'],
      'pre-authorized_grant_anonymous_access_supported': 'true',
    },
  ],
])('of the metadata of an authorization server, %s', async (_, members) => {
  issuer.on('oauth-authorization-server', () => ({ body: { ...issuer.authorization, ...members } }))
  await take()
})

test.each<[string, object]>([
  [
    'members are null',
    {
      grants: {
        authorization_code: null,
        [preAuthorizedGrant]: { 'pre-authorized_code': 'code', tx_code: null, authorization_server: null },
      },
    },
  ],
  [
    'another grant is a text',
    {
      grants: { authorization_code: 'yes', [preAuthorizedGrant]: { 'pre-authorized_code': 'code' } },
    },
  ],
  ['an id is there twice', { credential_configuration_ids: ['Licence', 'Licence'] }],
  ['an entry of the ids is not a text', { credential_configuration_ids: [{ format: 'a' }, 'Licence'] }],
])('of an offer, %s', async (_, members) => {
  await take(issuer.offer('Licence', members))
})

test.each([
  { input_mode: 'alphanumeric', length: '6', description: null },
  { input_mode: null, length: 0, description: 'x'.repeat(400) },
])('a transaction code is described as %j', async (tx_code) => {
  const { recordId, openid4vci } = await receive(holder, issuer.offer('Licence', withTxCode(tx_code)))
  expect(openid4vci!.txCode).toBeDefined()
  expect(await refusal(accept(holder, recordId))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('txCode is missing'),
  })
  await accept(holder, recordId, '123456')
  await inState(holder, recordId, 'CredentialReceived')
})

test.each<[string, object]>([
  ['authorization_details is null', { authorization_details: null, expires_in: null, scope: null }],
  ['authorization_details is an object', { authorization_details: {} }],
  [
    'authorization_details has other entries',
    {
      authorization_details: [null, 'a', { type: 'openid_credential', credential_identifiers: [] }],
    },
  ],
])('of a token response, %s', async (_, members) => {
  issuer.on('token', (__, { body }) => ({ body: { ...(body as object), ...members } }))
  await take()
})

test('of a credential response, members are odd', async () => {
  issuer.on('credential', (_, { body }) => ({
    body: { ...(body as object), transaction_id: null, notification_id: 1, interval: '5', c_nonce: null },
  }))
  await take()
})

test('of a deferred response, credentials are null or empty', async () => {
  issuer.on('credential', () => ({
    status: 202,
    body: { transaction_id: 't', interval: 1, credentials: [], notification_id: null },
  }))
  issuer.on('deferred', () => ({
    body: {
      credentials: [{ credential: issuer.issue(issuer.at('credential')[0]!.body) }],
      transaction_id: null,
    },
  }))
  await take()
})

describe('the place of metadata', () => {
  const elsewhere = (name: string, status: number, found: string, document: () => object) => {
    issuer.on(name, () => ({ status, body: status === 200 ? '<html></html>' : {} }))
    issuer.on(found, () => ({ body: document() }))
  }

  test.each([400, 401, 403, 404, 405, 410, 301, 200])(
    'of an issuer and its server: the first path answers %i, and the second has it',
    async (status) => {
      elsewhere(
        'openid-credential-issuer',
        status,
        '.well-known/openid-credential-issuer',
        () => issuer.metadata,
      )
      elsewhere(
        'oauth-authorization-server',
        status,
        '.well-known/openid-configuration',
        () => issuer.authorization,
      )
      await receive(holder, issuer.offer())
    },
  )

  test.each([403, 410])('neither path has it: %i', async (status) => {
    for (const name of ['openid-credential-issuer', '.well-known/openid-credential-issuer'])
      issuer.on(name, () => ({ status }))
    expect(await refusal(receive(holder, issuer.offer()))).toMatchObject({
      status: 422,
      type: 'error:OID4VCIHolderError:InvalidIssuerMetadata',
      detail: expect.stringContaining(`it answers with status ${status}; `),
    })
  })

  test('the server is not there now', async () => {
    issuer.on('openid-credential-issuer', () => ({ status: 503 }))
    expect(await refusal(receive(holder, issuer.offer()))).toMatchObject({ status: 503 })
  })

  test('of an identifier that ends with a slash, at the path with this slash', async () => {
    await using slashed = await startFakeIssuer('/tenant/')
    slashed.on('openid-credential-issuer', () => ({ status: 404 }))
    slashed.on('openid-credential-issuer/', () => ({ body: slashed.metadata }))
    await receive(holder, slashed.offer())
  })

  test.each([
    ['an issuer', 'openid-credential-issuer', () => issuer.metadata, 'credential_issuer'],
    ['an authorization server', 'oauth-authorization-server', () => issuer.authorization, 'issuer'],
  ] as const)(
    '%s whose metadata have a slash at the end of its identifier',
    async (_, name, metadata, member) => {
      issuer.on(name, () => ({ body: { ...metadata(), [member]: `${issuer.identifier}/` } }))
      await take()
    },
  )

  test('an offer that names the authorization server with a slash', async () => {
    const grant = { 'pre-authorized_code': 'code', authorization_server: `${issuer.identifier}/` }
    await take(issuer.offer('Licence', { grants: { [preAuthorizedGrant]: grant } }))
  })

  test('documents that begin with a byte order mark', async () => {
    for (const [name, body] of [
      ['openid-credential-issuer', issuer.metadata],
      ['oauth-authorization-server', issuer.authorization],
    ] as const)
      issuer.on(name, () => ({ body: `\ufeff${JSON.stringify(body)}` }))
    await receive(holder, issuer.offer())
  })

  test.each(['/tenant/', '/'])('of an identifier that ends with a slash: %s', async (path) => {
    await using slashed = await startFakeIssuer(path)
    await take(slashed.offer())
  })
})

test.each([
  ['Licence', ['did']],
  ['Person', ['did']],
  ['Person', ['did:key', 'did:jwk']],
] as const)('%s is bound by one of %j', async (configuration, methods) => {
  issuer.on('openid-credential-issuer', () => {
    const metadata = structuredClone(issuer.metadata)
    metadata.credential_configurations_supported[configuration].cryptographic_binding_methods_supported = [
      ...methods,
    ]
    return { body: metadata }
  })
  await take(issuer.offer(configuration))
})

test('a server answers with 201', async () => {
  for (const name of ['token', 'nonce', 'credential'])
    issuer.on(name, (_, usual) => ({ ...usual, status: 201 }))
  await take()
})

test('the first of two authorization servers cannot be read', async () => {
  await using broken = await startFakeIssuer('/broken')
  for (const status of [404, 503]) {
    for (const name of ['oauth-authorization-server', '.well-known/openid-configuration'])
      broken.on(name, () => ({ status }))
    describeIssuer({ metadata: { authorization_servers: [broken.identifier, issuer.identifier] } })
    const { openid4vci } = await receive(holder, issuer.offer())
    expect(openid4vci!.authorizationServer).toBe(issuer.identifier)
    describeIssuer({ metadata: { authorization_servers: [broken.identifier, `${broken.identifier}/b`] } })
    expect(await refusal(receive(holder, issuer.offer()))).toMatchObject({
      status: status === 404 ? 422 : 503,
    })
  }
})

test('binding methods without proof types, as in an example of the specification', async () => {
  describeIssuer({ licence: { proof_types_supported: undefined } })
  await take()
  expect(Object.keys(JSON.parse(issuer.at('credential')[0]!.body).proofs)).toEqual(['jwt'])
})

test('a resource server has a challenge for each scheme', async () => {
  issuer.on('oauth-authorization-server', () => ({
    body: { ...issuer.authorization, dpop_signing_alg_values_supported: ['ES256'] },
  }))
  issuer.on('token', (_, { body }) => ({ body: { ...(body as object), token_type: 'DPoP' } }))
  issuer.on('credential', (_, usual) => {
    if (issuer.at('credential').length > 1) return usual
    const challenges = ['Bearer', 'DPoP algs="ES256", error="use_dpop_nonce"']
    return { status: 401, headers: { 'www-authenticate': challenges, 'dpop-nonce': 'n' }, body: '' }
  })
  await take()
})
