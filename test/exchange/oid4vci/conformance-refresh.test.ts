/**
 * What the conformance suite of the OpenID Foundation checks of refresh tokens, by the names there (package
 * `fapi2spfinal`, and conditions of `vci10issuer`, commit of 2026-08): the module of the HAIP plan, whose
 * wallet is attested and comes with another DPoP key each time (RFC 9449 §5), and the conditions of batches
 * on what is issued anew. The documentation has the same names.
 */
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { publishSchema } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'
import { documented } from '../_conformance.ts'
import { attested, clientId, newProvider, trust } from './_attestations.ts'
import { consent, newPkce, redirectUri, requestFor } from './_authorization.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { errorOf, newNonce, prove, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId, issuingDID, agent } = setup
const path = { issuerId }
const schemaId = await publishSchema(tenant, issuingDID, { name: 'licence' })
const display = [
  { locale: 'de', name: 'Ausweis' },
  { locale: 'zh-hant-tw', name: '證' },
  { locale: 'EN-gb', name: 'Licence' },
]
await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path,
  body: {
    configurationId: 'Licence',
    format: 'dc+sd-jwt',
    schemaId,
    issuingDID,
    renewal: { days: 90 },
    display,
    claims: [{ path: ['name'], labels: { de: 'Name', 'EN-us': 'Name' } }],
  },
})
await tenant.call('PATCH /oid4vci/issuers/{issuerId}', {
  path,
  body: { display: [{ locale: 'DE', name: 'Acme' }] },
})
const provider = await newProvider()
await trust(setup, provider)

/** A wallet: its attested key, its name, and the DPoP key and nonce that it uses now. */
type Client = { id: string; instance: PrivateJwk; key: PrivateJwk; nonce: string }

const attestationOf = ({ id, instance }: Client) =>
  attested(setup, provider, {
    key: instance,
    attestation: { claims: { sub: id } },
    proof: { claims: { iss: id } },
  })

async function newClient(id = clientId): Promise<Client> {
  const client = { id, instance: generateKey('P-256'), key: generateKey('P-256'), nonce: '' }
  return { ...client, nonce: await newDpopNonce(setup, attestationOf(client)) }
}

/** The token response of a client to which a person consented. `asked` is in the request. */
async function authorize(client: Client, asked: object = { scope: 'Licence' }, credentials = 1) {
  const licences = ['Alice', 'Bob'].slice(0, credentials)
  const { credentialOffer } = await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path,
    body: {
      credentials: licences.map((name) => ({ credentialConfigurationId: 'Licence', claims: { name } })),
      grant: 'authorization_code',
      txCode: false,
    },
  })
  const { verifier, challenge } = newPkce()
  const { parameters } = await requestFor(credentialOffer)
  const all = { ...parameters, scope: undefined, ...asked, client_id: client.id, code_challenge: challenge }
  const pushed = await post(setup, 'par', all, proofFor(setup, 'par', client), attestationOf(client))
  const { request_uri } = pushed.body
  const code = await consent(setup, { client_id: client.id, request_uri })
  const form = { grant_type: 'authorization_code', code, client_id: client.id, redirect_uri: redirectUri }
  return sendForm(client, { ...form, code_verifier: verifier })
}

/** A token request. `headers` replace the attestation, and `key: undefined` leaves out the DPoP proof. */
function sendForm(
  client: Client,
  form: Record<string, string>,
  { headers = attestationOf(client), isBound = true } = {},
): Promise<Reply> {
  return post(setup, 'token', form, isBound ? proofFor(setup, 'token', client) : undefined, headers)
}

const refresh = (client: Client, token: string, how: Parameters<typeof sendForm>[2] = {}) =>
  sendForm(
    client,
    { grant_type: 'refresh_token', refresh_token: token, client_id: client.id, scope: 'Licence' },
    how,
  )

/** Requests a credential for each key. */
async function take({ key, nonce }: Client, accessToken: string, keys: PrivateJwk[], asked?: object) {
  const challenge = await newNonce(setup)
  const jwt = await Promise.all(keys.map((each) => prove(setup, { key: each, claims: { nonce: challenge } })))
  return ask(agent, `POST /oid4vci/issuers/${issuerId}/credentials`, {
    body: { ...(asked ?? { credential_configuration_id: 'Licence' }), proofs: { jwt } },
    headers: {
      authorization: `DPoP ${accessToken}`,
      dpop: proofFor(setup, 'credentials', { accessToken, key, nonce }),
    },
  })
}

/** `CheckTokenEndpointReturnedInvalidClientGrantRequestOrAttestationError` */
function expectRefused({ status, body, headers }: Reply) {
  expect([400, 401]).toContain(status)
  expect(headers.get('content-type')).toContain('application/json')
  expect(['invalid_client', 'invalid_grant', 'invalid_request', 'invalid_dpop_proof']).toContain(body.error)
}

/** `RefreshTokenRequestSteps`: with a new DPoP key. Returns the client with it. */
async function refreshed(client: Client, token: string) {
  const next = { ...client, key: generateKey('P-256') }
  const { status, body, headers } = await refresh(next, token)
  expect([status, body.token_type], JSON.stringify(body)).toEqual([200, 'DPoP'])
  expect(headers.get('cache-control')).toContain('no-store')
  expect(body.refresh_token).toMatch(/^[\w-]{43}$/)
  expect(body.expires_in).toBeGreaterThan(0)
  return { client: next, access: body.access_token as string, token: body.refresh_token as string }
}

const licences = ({ body }: Reply) =>
  body.credentials.map(({ credential }: { credential: string }) => decodeSdJwt(credential)) as ReturnType<
    typeof decodeSdJwt
  >[]

/** A batch that is issued with a refreshed token, after the first one. */
async function renewedBatch() {
  const client = await newClient()
  const { body } = await authorize(client)
  await take(client, body.access_token, [generateKey('P-256')])
  const next = await refreshed(client, body.refresh_token)
  const keys = [1, 2, 3, 4].map(() => generateKey('P-256'))
  return { keys, all: licences(await take(next.client, next.access, keys)) }
}
const batch = renewedBatch()
const indexesOf = async () =>
  (await batch).all.map(
    ({ payload }) => (payload['status'] as { status_list: { idx: number } }).status_list.idx,
  )

const modules: Record<string, () => Promise<void>> = {
  async FAPI2SPFinalRefreshToken() {
    const server = await ask(agent, `GET /.well-known/oauth-authorization-server/oid4vci/issuers/${issuerId}`)
    expect(server.body.grant_types_supported).toContain('refresh_token')
    const clients = [await newClient(), await newClient('https://wallet.example/second')] as const
    const tokens = []
    for (const client of clients) {
      // The token is used before the credential is requested.
      const first = await authorize(client)
      expect(first.body.refresh_token).toMatch(/^[\w-]{43}$/)
      const next = await refreshed(client, first.body.refresh_token)
      expect([next.access, next.token]).not.toContain(first.body.refresh_token)
      // The answer may be lost: the token before is good for half a minute more.
      const again = await refreshed(next.client, first.body.refresh_token)
      const other = { ...client, instance: generateKey('P-256') }
      expectRefused(await refresh(other, again.token))
      expectRefused(await refresh(client, again.token, { headers: {} }))
      const unbound = await refresh(client, again.token, { isBound: false })
      expect(unbound.status).toBe(400)
      expectRefused(unbound)
      const key = generateKey('P-256')
      const reply = await take(again.client, again.access, [key])
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
      expect(licences(reply)[0]!.holderKey).toMatchObject({ x: key.x })
      tokens.push(again)
    }
    const [one, two] = tokens as [(typeof tokens)[0], (typeof tokens)[0]]
    expect((await take(one.client, two.access, [generateKey('P-256')])).status).toBe(401)
    expectRefused(await refresh(one.client, two.token))
    await refreshed(two.client, two.token)
  },

  async VCIEnsureBatchBindingKeysMatchSentProofKeys() {
    const { keys, all } = await batch
    expect(all.map(({ holderKey }) => holderKey!.x)).toEqual(keys.map(({ x }) => x))
  },

  async VCIEnsureBatchBindingKeysAreDistinct() {
    const keys = (await batch).all.map(({ holderKey }) => holderKey!.x)
    expect(new Set(keys).size).toBe(4)
  },

  async VCIEnsureBatchSdJwtCredentialDatasetsMatch() {
    for (const { claims } of (await batch).all) expect(claims).toEqual({ name: 'Alice' })
  },

  async VCIEnsureBatchSdJwtDisclosureSaltsAreDistinct() {
    const salts = (await batch).all.flatMap(({ disclosures }) => disclosures.map(({ encoded }) => encoded))
    expect(new Set(salts).size).toBe(salts.length)
  },

  async VCIEnsureBatchStatusReferencesAreDistinct() {
    const indexes = await indexesOf()
    expect(indexes).toHaveLength(4)
    expect(new Set(indexes).size).toBe(4)
  },

  async VCIEnsureBatchStatusListIndicesAreUnpredictable() {
    const sorted = (await indexesOf()).toSorted((a, b) => a - b)
    const strides = sorted.slice(1).map((index, at) => index - sorted[at]!)
    expect(new Set(strides).size).toBeGreaterThan(1)
  },

  async VCIEnsureBatchTimeClaimsNotLinkable() {
    for (const { payload } of (await batch).all)
      for (const name of ['iat', 'exp']) expect((payload[name] as number) % 3_600, name).toBe(0)
  },

  /** Of two credentials of one configuration, of which one is taken before. */
  async VCIEnsureCredentialIdentifiersUnchangedAcrossTokenResponses() {
    const client = await newClient()
    const details = [{ type: 'openid_credential', credential_configuration_id: 'Licence' }]
    const first = await authorize(client, { authorization_details: JSON.stringify(details) }, 2)
    const [{ credential_identifiers: identifiers }] = first.body.authorization_details
    expect(identifiers).toHaveLength(2)
    const taken = { credential_identifier: identifiers[0] }
    expect((await take(client, first.body.access_token, [generateKey('P-256')], taken)).status).toBe(200)
    const form = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token }
    const { body } = await sendForm(client, form)
    expect(body.authorization_details).toEqual(first.body.authorization_details)
    for (const credential_identifier of identifiers) {
      const reply = await take(client, body.access_token, [generateKey('P-256')], { credential_identifier })
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    }
  },

  /** `VCIValidateDisplayLocales` too: each tag is there once. */
  async VCIWarnOnNonCanonicalDisplayLocales() {
    const { body } = await ask(agent, `GET /.well-known/openid-credential-issuer/oid4vci/issuers/${issuerId}`)
    const all = JSON.stringify(body).matchAll(/"locale":"([^"]*)"/g)
    const tags = Array.from(all, ([, tag]) => tag!)
    expect(tags).toHaveLength(6)
    for (const tag of tags) expect(tag).toBe(Intl.getCanonicalLocales(tag)[0])
  },
}

test.each(Object.entries(modules))('%s', (_, run) => run())

test('the documentation has the same names', () => {
  const { row, names } = documented('Refresh tokens of the issuer')
  expect(names).toEqual(Object.keys(modules))
  expect(row).toContain('1 of 1 module and 9 of 9 conditions pass')
})

test('a refresh token of a client without an attestation is bound to its DPoP key', async () => {
  await trust(setup, provider, 'optional')
  const client = await newClient()
  const bare = { headers: {} }
  const { credentialOffer } = await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
    path,
    body: { credentialConfigurationId: 'Licence', claims: { name: 'Alice' }, txCode: false },
  })
  const { grants } = JSON.parse(new URL(credentialOffer).searchParams.get('credential_offer')!)
  const [[grant_type, secret]] = Object.entries(grants) as [[string, { 'pre-authorized_code': string }]]
  const { body } = await sendForm(client, { grant_type, ...secret }, bare)
  const other = { ...client, key: generateKey('P-256') }
  expect(errorOf(await refresh(other, body.refresh_token, bare))).toEqual([400, 'invalid_grant'])
  expect((await refresh(client, body.refresh_token, bare)).status).toBe(200)
  await trust(setup, provider)
})
