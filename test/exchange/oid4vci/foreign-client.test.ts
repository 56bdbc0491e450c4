/**
 * OAuth clients of others get access tokens from the built-in authorization server: discovery, pushed
 * request, PKCE, response, token; with and without DPoP, and with DPoP by a refresh token too.
 */
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { expect, test } from 'vitest'
import { Daemon } from '../../support/daemon.ts'
import { answer, offered, open, redirectUri, sealedIn } from './_authorization.ts'
import { addIssuer, prove, recordOf, request } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const daemon = await untilEnd(Daemon.start())
const setup = await addIssuer(daemon, await daemon.newTenant('issuer'))
await setup.tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
  path: { issuerId: setup.issuerId, credentialConfigId: 'Person' },
  body: { renewal: { days: 90 } },
})

/** The tests have no https. */
const insecure = { [oauth.allowInsecureRequests]: true }

/** A person opens the page and accepts. Returns the URL at the wallet. */
async function accept(url: URL, txCode: string | undefined): Promise<URL> {
  expect(url.origin + url.pathname).toBe(`${setup.identifier}/authorize`)
  const page = await open(setup, url.searchParams.toString())
  const fields = { request: sealedIn(page), decision: 'accept', tx_code: txCode }
  return (await answer(setup, fields)).location!
}

async function takes(token: string, recordId: string): Promise<void> {
  const { status } = await request(setup, { token, jwt: await prove(setup) })
  expect([status, (await recordOf(setup, recordId)).protocolState]).toEqual([200, 'CredentialSent'])
}

test('oauth4webapi', async () => {
  const { txCode, parameters, recordId } = await offered(setup)
  const issuer = new URL(setup.identifier)
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, found)
  const wallet: oauth.Client = { client_id: 'wallet' }
  const verifier = oauth.generateRandomCodeVerifier()
  const asked = new URLSearchParams({
    ...(parameters as Record<string, string>),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  })
  const pushed = await oauth.pushedAuthorizationRequest(server, wallet, oauth.None(), asked, insecure)
  const { request_uri } = await oauth.processPushedAuthorizationResponse(server, wallet, pushed)
  const url = new URL(server.authorization_endpoint!)
  url.search = new URLSearchParams({ client_id: 'wallet', request_uri }).toString()
  const callback = oauth.validateAuthResponse(server, wallet, await accept(url, txCode), 'a state')
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    wallet,
    oauth.None(),
    callback,
    redirectUri,
    verifier,
    insecure,
  )
  const { access_token } = await oauth.processAuthorizationCodeResponse(server, wallet, response)
  await takes(access_token, recordId)
})

test('openid-client', async () => {
  const { txCode, parameters, recordId } = await offered(setup)
  const config = await client.discovery(new URL(setup.identifier), 'wallet', undefined, client.None(), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  })
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const url = await client.buildAuthorizationUrlWithPAR(config, {
    ...(parameters as Record<string, string>),
    // The library does not keep the query of a redirect URI.
    redirect_uri: 'https://wallet.example/cb',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  })
  const checks = { pkceCodeVerifier, expectedState: 'a state' }
  const { access_token } = await client.authorizationCodeGrant(config, await accept(url, txCode), checks)
  await takes(access_token, recordId)
})

/** The request of the credential with a token that is bound to a key. */
async function credentialRequest() {
  const body = { credential_configuration_id: 'Person', proofs: { jwt: [await prove(setup)] } }
  return {
    url: new URL(`${setup.identifier}/credentials`),
    headers: new Headers({ 'content-type': 'application/json' }),
    body: JSON.stringify(body),
  }
}

test('oauth4webapi with DPoP', async () => {
  const { txCode, parameters, recordId } = await offered(setup)
  const issuer = new URL(setup.identifier)
  const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(issuer, found)
  const wallet: oauth.Client = { client_id: 'wallet' }
  const DPoP = oauth.DPoP(wallet, await oauth.generateKeyPair('ES256'))
  const options = { DPoP, ...insecure }
  const verifier = oauth.generateRandomCodeVerifier()
  const asked = new URLSearchParams({
    ...(parameters as Record<string, string>),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  })
  const pushOnce = async () => {
    const response = await oauth.pushedAuthorizationRequest(server, wallet, oauth.None(), asked, options)
    return oauth.processPushedAuthorizationResponse(server, wallet, response)
  }
  // The first response has the nonce.
  const first: unknown = await pushOnce().catch((error: unknown) => error)
  expect(oauth.isDPoPNonceError(first)).toBe(true)
  const { request_uri } = await pushOnce()
  const url = new URL(server.authorization_endpoint!)
  url.search = new URLSearchParams({ client_id: 'wallet', request_uri }).toString()
  const callback = oauth.validateAuthResponse(server, wallet, await accept(url, txCode), 'a state')
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    wallet,
    oauth.None(),
    callback,
    redirectUri,
    verifier,
    options,
  )
  const token = await oauth.processAuthorizationCodeResponse(server, wallet, response)
  expect(token.token_type).toBe('dpop')
  const takeCredential = async ({ access_token }: oauth.TokenEndpointResponse) => {
    const { url: endpoint, headers, body } = await credentialRequest()
    return oauth.protectedResourceRequest(access_token, 'POST', endpoint, headers, body, options)
  }
  const reply = await takeCredential(token)
  expect([reply.status, (await recordOf(setup, recordId)).protocolState]).toEqual([200, 'CredentialSent'])
  const refreshed = await oauth.processRefreshTokenResponse(
    server,
    wallet,
    await oauth.refreshTokenGrantRequest(server, wallet, oauth.None(), token.refresh_token!, options),
  )
  expect(refreshed.refresh_token).not.toBe(token.refresh_token)
  expect((await takeCredential(refreshed)).status).toBe(200)
  expect((await recordOf(setup, recordId)).renewed?.count).toBe(1)
})

test('openid-client with DPoP', async () => {
  const { txCode, parameters, recordId } = await offered(setup)
  const config = await client.discovery(new URL(setup.identifier), 'wallet', undefined, client.None(), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  })
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const asked = {
    ...(parameters as Record<string, string>),
    redirect_uri: 'https://wallet.example/cb',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  }
  const url = await client.buildAuthorizationUrlWithPAR(config, asked, { DPoP })
  const checks = { pkceCodeVerifier, expectedState: 'a state' }
  const callback = await accept(url, txCode)
  const token = await client.authorizationCodeGrant(config, callback, checks, undefined, { DPoP })
  const takeCredential = async ({ access_token }: { access_token: string }) => {
    const { url: endpoint, headers, body } = await credentialRequest()
    return client.fetchProtectedResource(config, access_token, endpoint, 'POST', body, headers, { DPoP })
  }
  const reply = await takeCredential(token)
  expect([reply.status, (await recordOf(setup, recordId)).protocolState]).toEqual([200, 'CredentialSent'])
  const refreshed = await client.refreshTokenGrant(config, token.refresh_token!, undefined, { DPoP })
  expect(refreshed.refresh_token).not.toBe(token.refresh_token)
  expect((await takeCredential(refreshed)).status).toBe(200)
  expect((await recordOf(setup, recordId)).renewed?.count).toBe(1)
})
