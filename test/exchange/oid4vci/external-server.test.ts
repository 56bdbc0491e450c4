/**
 * An issuer whose authorization server is `oidc-provider`: the Cloud Agent's contract, and the access tokens
 * that are refused.
 */
import { expect, test } from 'vitest'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { decodePayload } from '../../../src/credentials/codecs/jws.ts'
import { ask } from '../../support/ask.ts'
import { startServer } from '../../support/server.ts'
import { refusal } from '../../support/tenants.ts'
import { open, requestFor } from './_authorization.ts'
import { issuerClient, startProvider, tokenOf } from './_provider.ts'
import {
  addIssuer,
  offer,
  prove,
  readOffer,
  recordOf,
  request,
  startIssuer,
  type OfferOptions,
  type Setup,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())
const provider = await untilEnd(startProvider({ agentUrl: setup.agent.url }))
await useServer(setup, provider.url)

function useServer({ tenant, issuerId }: Setup, url: string) {
  const body = { authorizationServer: { url, ...issuerClient } }
  return tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path: { issuerId }, body })
}

async function offered(by: Setup = setup, options: OfferOptions = {}) {
  const made = await offer(by, options)
  const { grants } = await readOffer(made.credentialOffer)
  return { ...made, grant: grants.authorization_code, issuerState: grants.authorization_code.issuer_state }
}

async function take(token: string, by: Setup = setup) {
  const { status, body } = await request(by, { token, jwt: await prove(by) })
  return [status, body.error ?? body.credentials.length]
}

test('the offer names the server, which authorizes the wallet, and the wallet gets the credential with its token', async () => {
  const { recordId, grant, issuerState } = await offered()
  expect(grant).toEqual({ issuer_state: expect.any(String), authorization_server: provider.url })
  const token = await tokenOf(provider, setup, issuerState)
  expect(decodePayload(token)).toMatchObject({ iss: provider.url, issuer_state: issuerState })
  expect(provider.nonces.at(-1)).toEqual({ nonce: expect.any(String), nonceExpiresIn: 300 })
  const { nonce } = provider.nonces.at(-1) as { nonce: string }
  const jwt = await prove(setup, { claims: { nonce } })
  const first = await request(setup, { token, jwt })
  expect([first.status, first.body.credentials.length]).toEqual([200, 1])
  expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
  expect((await request(setup, { token, jwt })).body).toEqual(first.body)
  // Another key gets none, and neither does another token of the same offer with another key.
  expect(await take(token)).toEqual([400, 'credential_request_denied'])
  expect(await take(await tokenOf(provider, setup, issuerState))).toEqual([400, 'credential_request_denied'])
})

test('opaque access tokens are introspected with the client of the issuer', async () => {
  await using opaque = await startProvider({ agentUrl: setup.agent.url, format: 'opaque' })
  const third = await addIssuer(setup.agent, setup.tenant)
  await useServer(third, opaque.url)
  const token = await tokenOf(opaque, third, (await offered(third)).issuerState)
  expect(token).not.toContain('.')
  expect(await take('unknown', third)).toEqual([401, 'invalid_token'])
  expect(await take(token, third)).toEqual([200, 1])
})

test('a token is for the offer that it names, of the issuer and the server that made it', async () => {
  const { issuerState } = await offered()
  const third = await addIssuer(setup.agent, setup.tenant)
  const { issuerState: builtIn } = await offered(third, { grant: 'authorization_code' })
  await useServer(third, provider.url)
  const { issuerState: earlier } = await offered(third)
  const token = await tokenOf(provider, setup, issuerState)
  expect(await take(token, third)).toEqual([401, 'invalid_token'])
  // The token names an offer of another issuer, for which it is not.
  const foreign = await tokenOf(provider, third, issuerState)
  expect(await take(foreign, third)).toEqual([401, 'invalid_token'])
  expect(await take(foreign)).toEqual([401, 'invalid_token'])
  expect(await take(await tokenOf(provider, setup, 'unknown'))).toEqual([401, 'invalid_token'])
  await using other = await startProvider({ agentUrl: setup.agent.url })
  await useServer(third, other.url)
  // Both offers are not for the later server of the issuer.
  for (const state of [earlier, builtIn])
    expect(await take(await tokenOf(other, third, state), third)).toEqual([401, 'invalid_token'])
  const { issuerState: later } = await offered(third)
  expect(await take(await tokenOf(provider, third, later), third)).toEqual([401, 'invalid_token'])
  expect(await take(await tokenOf(other, third, later), third)).toEqual([200, 1])
  expect(await take(token)).toEqual([200, 1])
})

test('a token for another server than the issuer is refused', async () => {
  await using other = await startProvider({ agentUrl: setup.agent.url, audience: 'https://api.example' })
  const third = await addIssuer(setup.agent, setup.tenant)
  await useServer(third, other.url)
  const token = await tokenOf(other, third, (await offered(third)).issuerState)
  expect(await take(token, third)).toEqual([401, 'invalid_token'])
})

test('a JWT that breaks one rule is refused, with each kind of fault', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const { privateKey: otherKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }
  const bad = [
    { ...jwk, y: jwk.x, kid: 'off the curve' },
    { ...jwk, key_ops: ['sign', 'verify'], kid: 'odd' },
  ]
  await using server = await startServer((incoming, response) => {
    const issuer = `http://${incoming.headers.host}/realms/a`
    const documents: Record<string, unknown> = {
      '/.well-known/oauth-authorization-server/realms/a': { issuer, jwks_uri: `${issuer}/keys` },
      '/realms/a/keys': { keys: [null, ...bad, jwk] },
    }
    response.end(JSON.stringify(documents[incoming.url!]))
  })
  const url = `${server.url}/realms/a`
  const third = await addIssuer(setup.agent, setup.tenant)
  await useServer(third, url)
  const { issuerState } = await offered(third)
  const now = Math.floor(Date.now() / 1_000)
  const make = (claims: Record<string, unknown> = {}, header: object = {}, key = privateKey) => {
    const all = { iss: url, aud: third.identifier, exp: now + 600, issuer_state: issuerState, ...claims }
    const protectedHeader = { alg: 'ES256', kid: 'one', typ: 'at+jwt', ...header }
    return new SignJWT(all).setProtectedHeader(protectedHeader).sign(key)
  }
  const unsigned = (await make()).split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  for (const token of [
    await make({ iss: 'https://login.example' }),
    await make({ aud: 'https://api.example' }),
    await make({ exp: now - 600 }),
    await make({ exp: undefined }),
    await make({ nbf: now + 600 }),
    await make({ issuer_state: undefined }),
    // Bound to a key, and sent without a proof.
    await make({ cnf: { jkt: 'a-key' } }),
    await make({}, { typ: 'openid4vci-proof+jwt' }),
    await make({}, {}, otherKey),
    await make({}, { kid: 'two' }),
    await make({}, { kid: 'off the curve' }),
    await make({}, { kid: 'odd' }),
    `${none}.${unsigned[1]}.${unsigned[2]}`,
  ])
    expect(await take(token, third)).toEqual([401, 'invalid_token'])
  // For a client of the server, such as the one that the Cloud Agent has.
  expect(await take(await make({ aud: ['account', issuerClient.clientId] }), third)).toEqual([200, 1])
})

test('an introspected token that is not active, or not for the issuer, is refused', async () => {
  let active: object = {}
  await using server = await startServer((incoming, response) => {
    const issuer = `http://${incoming.headers.host}`
    const metadata = { issuer, introspection_endpoint: `${issuer}/introspect` }
    response.end(JSON.stringify(incoming.method === 'GET' ? metadata : active))
  })
  const third = await addIssuer(setup.agent, setup.tenant)
  await useServer(third, server.url)
  const valid = { active: true, issuer_state: (await offered(third)).issuerState }
  for (const change of [
    { active: false },
    { exp: Math.floor(Date.now() / 1_000) - 60 },
    { iss: 'https://login.example' },
    { aud: 'https://api.example' },
    { issuer_state: undefined },
  ]) {
    active = { ...valid, ...change }
    expect(await take('opaque', third)).toEqual([401, 'invalid_token'])
  }
  active = { ...valid, aud: [third.identifier] }
  expect(await take('opaque', third)).toEqual([200, 1])
})

test('a server that does not answer is the fault of nobody: the wallet may repeat the request', async () => {
  const server = await startServer(() => undefined)
  await server[Symbol.asyncDispose]()
  const third = await addIssuer(setup.agent, setup.tenant)
  await useServer(third, server.url)
  const reply = await request(third, { token: 'a.b.c', jwt: 'unused' })
  expect([reply.status, reply.body.type]).toEqual([503, 'error:ServiceUnavailable'])
})

test('the page of this agent does not authorize an offer of an external server, which has no transaction code', async () => {
  const { credentialOffer } = await offered()
  const { parameters } = await requestFor(credentialOffer)
  expect((await open(setup, parameters)).status).toBe(400)
  const refused = await refusal(offer(setup, { txCode: true }))
  expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining('txCode') })
})

test('the tenant may offer a pre-authorized code, which this agent redeems', async () => {
  const made = await offer(setup, { grant: 'pre-authorized_code' })
  expect(Object.values((await readOffer(made.credentialOffer)).grants)).toMatchObject([
    { authorization_server: setup.identifier },
  ])
})

test('there is no nonce for an unknown state, nor for an offer of the built-in server', async () => {
  const third = await addIssuer(setup.agent, setup.tenant)
  const { issuerState } = await offered(third, { grant: 'authorization_code' })
  for (const unknown of ['unknown', `${third.issuerId}.unknown`, issuerState]) {
    const reply = await ask(setup.agent, 'POST /oid4vci/nonces', { body: { issuerState: unknown } })
    expect(reply.status).toBe(404)
  }
})
