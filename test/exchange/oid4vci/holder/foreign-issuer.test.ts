/**
 * An issuer of others, of the OpenWallet Foundation's library: it makes the offer, and checks token request,
 * DPoP proof and key proof, and refresh tokens.
 */
import { createHash, randomBytes } from 'node:crypto'
import * as oauth2 from '@openid4vc/oauth2'
import { Openid4vciIssuer, setGlobalConfig } from '@openid4vc/openid4vci'
import { importJWK, jwtVerify, type JWK } from 'jose'
import { expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { preAuthorizedGrant } from '../_wallet.ts'
import { accept, inState, receive } from './_holder.ts'
import { proofIn, startFakeIssuer, type Seen } from './_issuer.ts'
import { refresh, renewalOf, renewed } from './_refresh.ts'

// The issuers of tests have no https.
for (const configure of [setGlobalConfig, oauth2.setGlobalConfig]) configure({ allowInsecureUrls: true })

const callbacks = {
  hash: (data: Uint8Array, algorithm: string) => createHash(algorithm.replace('-', '')).update(data).digest(),
  generateRandom: (bytes: number) => randomBytes(bytes),
  clientAuthentication: oauth2.clientAuthenticationAnonymous(),
  signJwt: () => expect.unreachable(),
  verifyJwt: async (signer: oauth2.JwtSigner, { compact }: { compact: string }) => {
    const jwk =
      signer.method === 'did' ? jwkOf(signer.didUrl) : (signer as { publicJwk: oauth2.Jwk }).publicJwk
    await jwtVerify(compact, await importJWK(jwk as JWK, 'ES256'))
    return { verified: true as const, signerJwk: jwk }
  },
}

/** The key of a did:jwk. */
function jwkOf(didUrl: string): oauth2.Jwk {
  return JSON.parse(Buffer.from(didUrl.split(/[:#]/)[2]!, 'base64url').toString()) as oauth2.Jwk
}

const toRequest = (seen: Seen, url: string) => ({
  method: 'POST' as const,
  url,
  headers: new Headers(seen.headers as Record<string, string>),
})

test.each(['Licence', 'Person'] as const)('%s is received from it', async (configuration) => {
  const agent = await sharedAgent()
  await using server = await startFakeIssuer()
  const holder = await agent.newTenant('holder')
  const issuer = new Openid4vciIssuer({ callbacks })
  const authorizationServer = new oauth2.Oauth2AuthorizationServer({ callbacks })
  const serverMetadata = authorizationServer.createAuthorizationServerMetadata({
    issuer: server.identifier,
    token_endpoint: `${server.identifier}/token`,
    dpop_signing_alg_values_supported: ['ES256'],
    'pre-authorized_grant_anonymous_access_supported': true,
  })
  const credentialIssuer = issuer.createCredentialIssuerMetadata(server.metadata)
  const issuerMetadata = {
    credentialIssuer,
    authorizationServers: [serverMetadata],
    originalDraftVersion: 'V1',
    knownCredentialConfigurations: credentialIssuer.credential_configurations_supported,
  } as never
  const { credentialOffer } = await issuer.createCredentialOffer({
    issuerMetadata,
    credentialConfigurationIds: [configuration],
    grants: { [preAuthorizedGrant]: { 'pre-authorized_code': 'code', tx_code: { length: 6 } } },
  })
  const checked: string[] = []
  server.on('openid-credential-issuer', () => ({ body: credentialIssuer }))
  server.on('oauth-authorization-server', () => ({ body: serverMetadata }))
  server.on('token', async (seen) => {
    const request = toRequest(seen, `${server.identifier}/token`)
    const accessTokenRequest = Object.fromEntries(new URLSearchParams(seen.body))
    const parsed = authorizationServer.parseAccessTokenRequest({ accessTokenRequest, request })
    const { dpop } = await authorizationServer.verifyPreAuthorizedCodeAccessTokenRequest({
      authorizationServerMetadata: serverMetadata,
      accessTokenRequest: parsed.accessTokenRequest,
      grant: parsed.grant as never,
      request,
      expectedPreAuthorizedCode: 'code',
      expectedTxCode: '123456',
      dpop: { ...parsed.dpop, required: true },
    })
    checked.push(`token ${typeof dpop?.jwkThumbprint}`)
    return { body: { access_token: 'token', token_type: 'DPoP', expires_in: 60 } }
  })
  server.on('credential', async (seen, usual) => {
    const request = issuer.parseCredentialRequest({
      issuerMetadata,
      credentialRequest: JSON.parse(seen.body),
    })
    expect(request.credentialConfigurationId).toBe(configuration)
    for (const jwt of request.proofs!['jwt'] as string[]) {
      const { signer } = await issuer.verifyCredentialRequestJwtProof({
        issuerMetadata,
        jwt,
        expectedNonce: 'nonce',
      })
      checked.push(`proof ${signer.method}`)
    }
    expect(seen.headers.authorization).toBe('DPoP token')
    return usual
  })
  const { recordId } = await receive(holder, credentialOffer)
  await accept(holder, recordId, '123456')
  await inState(holder, recordId, 'CredentialReceived')
  expect(checked).toEqual(['token string', `proof ${configuration === 'Licence' ? 'jwk' : 'did'}`])
  expect(proofIn(server.at('credential')[0]!).count).toBe(1)
})

test('a credential is renewed by it: it checks refresh token and DPoP key, and gives a new token', async () => {
  const agent = await sharedAgent()
  await using server = await startFakeIssuer()
  const holder = await agent.newTenant('holder')
  const authorizationServer = new oauth2.Oauth2AuthorizationServer({ callbacks })
  const serverMetadata = authorizationServer.createAuthorizationServerMetadata({
    ...server.authorization,
    issuer: server.identifier,
    token_endpoint: `${server.identifier}/token`,
    dpop_signing_alg_values_supported: ['ES256'],
  })
  server.on('oauth-authorization-server', () => ({ body: serverMetadata }))
  const state = { refresh: 'refresh-0', jkt: undefined as string | undefined, count: 0 }
  server.on('token', async (seen) => {
    const request = toRequest(seen, `${server.identifier}/token`)
    const accessTokenRequest = Object.fromEntries(new URLSearchParams(seen.body))
    const parsed = authorizationServer.parseAccessTokenRequest({ accessTokenRequest, request })
    const known = {
      authorizationServerMetadata: serverMetadata,
      accessTokenRequest: parsed.accessTokenRequest,
      request,
      dpop: { ...parsed.dpop, required: true, ...(state.jkt && { expectedJwkThumbprint: state.jkt }) },
    }
    if (parsed.grant.grantType === 'refresh_token') {
      await authorizationServer.verifyRefreshTokenAccessTokenRequest({
        ...known,
        grant: parsed.grant,
        expectedRefreshToken: state.refresh,
      })
      state.refresh = `refresh-${++state.count}`
    } else {
      const { dpop } = await authorizationServer.verifyPreAuthorizedCodeAccessTokenRequest({
        ...known,
        grant: parsed.grant as never,
        expectedPreAuthorizedCode: (parsed.grant as { preAuthorizedCode: string }).preAuthorizedCode,
      })
      state.jkt = dpop!.jwkThumbprint
    }
    const body = { access_token: `token-${state.count}`, token_type: 'DPoP', expires_in: 60 }
    return { body: { ...body, refresh_token: state.refresh } }
  })
  server.on('credential', (seen, usual) => {
    expect(seen.headers.authorization).toBe(`DPoP token-${state.count}`)
    return usual
  })
  const { recordId } = await receive(holder, server.offer('Licence'))
  await accept(holder, recordId)
  const first = await inState(holder, recordId, 'CredentialReceived')
  expect(renewalOf(first).state).toBe('possible')
  for (const count of [1, 2]) {
    await refresh(holder, recordId)
    expect(renewalOf(await renewed(holder, recordId, count))).toMatchObject({ state: 'possible', count })
    expect(state).toMatchObject({ count, refresh: `refresh-${count}` })
  }
})
