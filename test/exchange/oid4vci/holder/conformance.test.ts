/**
 * The modules of the OpenID Foundation's suite for wallets of OpenID4VCI 1.0 (package `vci10wallet`), by
 * their names, for the variants with offers of the issuer, of three formats. Each does what the module does,
 * and checks what its conditions check.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { beforeEach, describe, expect, test } from 'vitest'
import { isSignedBy, decodeJws } from '../../../../src/credentials/codecs/jws.ts'
import type { PublicJwk } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
import { verifyWithCertificate } from '../../../../src/wallet/issuer-certificates/signatures.ts'
import { startAgent } from '../../../support/agent.ts'
import { until } from '../../../support/tenants.ts'
import { authority } from '../../documents/_iso-wallet.ts'
import { trust } from '../../documents/_licence.ts'
import { preAuthorizedGrant } from '../_wallet.ts'
import { accept, inState, receive } from './_holder.ts'
import { type Configuration, keysIn, proofIn, startFakeIssuer } from './_issuer.ts'
import { untilEnd } from '../../../support/shared.ts'

const agent = await untilEnd(startAgent())
const holder = await agent.newTenant('holder')
await trust(holder, authority)
const issuer = await untilEnd(startFakeIssuer())
beforeEach(() => issuer.reset())

/** The issuer takes pushed authorization requests. */
function takesPar() {
  issuer.on('oauth-authorization-server', (_, { body }) => ({
    body: { ...(body as object), pushed_authorization_request_endpoint: `${issuer.identifier}/par` },
  }))
  issuer.on('par', () => ({ status: 201, body: { request_uri: 'urn:request:1', expires_in: 60 } }))
}

/** The parameters of a form. */
const formOf = ({ body }: { body: string }) => Object.fromEntries(new URLSearchParams(body))

/** The flow of a wallet with a grant, until the record is in a state. */
async function issue(
  grant: 'pre_authorization_code' | 'authorization_code',
  configuration: Configuration,
  state = 'CredentialReceived',
  more: object = {},
) {
  if (grant === 'pre_authorization_code') {
    const code = { 'pre-authorized_code': 'code', tx_code: { length: 6, input_mode: 'numeric' } }
    const { recordId } = await receive(
      holder,
      issuer.offer(configuration, { grants: { [preAuthorizedGrant]: code } }),
      more,
    )
    await accept(holder, recordId, '123456')
    return inState(holder, recordId, state)
  }
  const offer = issuer.offer(configuration, {
    grants: { authorization_code: { issuer_state: 'issuer state' } },
  })
  const { recordId } = await receive(holder, offer, more)
  const path = { recordId }
  await holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path,
    body: { redirectUri: 'https://wallet.example/callback' },
  })
  const pushed = formOf(issuer.at('par')[0]!)
  expect(pushed).toMatchObject({
    response_type: 'code',
    issuer_state: 'issuer state',
    code_challenge_method: 'S256',
  })
  const body = { code: 'code', state: pushed['state']!, iss: issuer.identifier }
  await holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body })
  return inState(holder, recordId, state)
}

const variants = (['pre_authorization_code', 'authorization_code'] as const).flatMap((grant) =>
  (['Licence', 'Person', 'Document'] as const).map((configuration) => [grant, configuration] as const),
)

/** Checks the requests of the wallet as the conditions of the suite do. */
function checkRequests(grant: string) {
  const [token] = issuer.at('token')
  expect(formOf(token!)).toMatchObject(
    grant === 'pre_authorization_code'
      ? { grant_type: preAuthorizedGrant, 'pre-authorized_code': 'code', tx_code: '123456' }
      : { grant_type: 'authorization_code', code: 'code', redirect_uri: 'https://wallet.example/callback' },
  )
  const [request] = issuer.at('credential')
  // VCIEnsureBearerAccessTokenNotInParams, VCIEnsureCredentialRequestUsesApplicationJson,
  // CheckForUnexpectedParametersInCredentialRequest
  expect(request!.headers).toMatchObject({
    authorization: 'Bearer token',
    'content-type': 'application/json',
  })
  expect(Object.keys(JSON.parse(request!.body)).toSorted()).toEqual(['credential_configuration_id', 'proofs'])
  // VCIValidateCredentialRequestJwtProof
  const { header, payload, count } = proofIn(request!)
  expect(count).toBe(1)
  expect(header).toMatchObject({ typ: 'openid4vci-proof+jwt', alg: 'ES256' })
  expect(payload).toMatchObject({ aud: issuer.identifier, nonce: 'nonce', iat: expect.any(Number) })
  expect('iss' in payload).toBe(grant === 'authorization_code')
  const { jwk } = header as { jwk?: PublicJwk }
  const [jwt] = (JSON.parse(request!.body) as { proofs: { jwt: string[] } }).proofs.jwt
  if (jwk) expect(isSignedBy(decodeJws(jwt!), jwk)).toBe(true)
  else expect(header['kid']).toMatch(/^did:jwk:\w+#0$/)
}

describe.each(variants)('with the grant %s, for %s', (grant, configuration) => {
  beforeEach(takesPar)

  test('oid4vci-1_0-wallet-test-credential-issuance: immediate', async () => {
    await issue(grant, configuration)
    checkRequests(grant)
  })

  test('oid4vci-1_0-wallet-test-credential-issuance: deferred', async () => {
    issuer.on('credential', () => ({ status: 202, body: { transaction_id: 't', interval: 1 } }))
    let asked = 0
    issuer.on('deferred', () =>
      ++asked === 1
        ? { status: 202, body: { transaction_id: 't', interval: 1 } }
        : { body: { credentials: [{ credential: issuer.issue(issuer.at('credential')[0]!.body) }] } },
    )
    await issue(grant, configuration)
    // VCIValidateDeferredCredentialRequest
    for (const { body } of issuer.at('deferred')) expect(JSON.parse(body)).toEqual({ transaction_id: 't' })
    expect(issuer.at('deferred').length).toBe(2)
  })

  test('oid4vci-1_0-wallet-happy-path-with-scopes-without-authorization-details-in-token-response', async () => {
    await issue(grant, configuration)
    checkRequests(grant)
    const scope = configuration.toLowerCase()
    if (grant === 'authorization_code') expect(formOf(issuer.at('par')[0]!)).toMatchObject({ scope })
  })

  test('with authorization details in the token response, the credential is requested by its identifier', async () => {
    const details = {
      type: 'openid_credential',
      credential_configuration_id: configuration,
      credential_identifiers: ['one'],
    }
    issuer.on('token', (_, { body }) => ({ body: { ...(body as object), authorization_details: [details] } }))
    issuer.on('credential', ({ body }) => {
      const request = { ...JSON.parse(body), credential_configuration_id: configuration }
      return { body: { credentials: [{ credential: issuer.issue(JSON.stringify(request)) }] } }
    })
    await issue(grant, configuration)
    const request = JSON.parse(issuer.at('credential')[0]!.body)
    expect(request).toMatchObject({ credential_identifier: 'one' })
    expect('credential_configuration_id' in request).toBe(false)
  })

  test('oid4vci-1_0-wallet-test-credential-issuance-notification', async () => {
    await issue(grant, configuration)
    const [notification] = await until(
      'the notification',
      async () => issuer.at('notification'),
      (all) => all.length > 0,
    )
    // VCIValidateNotificationRequest, VCICheckForUnknownFieldsInNotificationRequest
    expect(JSON.parse(notification!.body)).toEqual({ notification_id: 'n', event: 'credential_accepted' })
    expect(notification!.headers).toMatchObject({ authorization: 'Bearer token' })
  })

  test('oid4vci-1_0-wallet-test-batch-credential-issuance', async () => {
    issuer.on('openid-credential-issuer', (_, { body }) => ({
      body: { ...(body as object), batch_credential_issuance: { batch_size: 10 } },
    }))
    issuer.on('credential', ({ body }) => {
      const keys = keysIn(JSON.parse(body))
      // VCIReverseCredentialIssuanceOrder
      const credentials = keys.toReversed().map((holderKey) => ({
        credential: issuer.issue(body, { holderKey, subject: createJwkDid(holderKey) }),
      }))
      return { body: { credentials } }
    })
    const { recordId } = await issue(grant, configuration, 'CredentialReceived', { copies: 3 })
    // VCIEnsureProofCountWithinAdvertisedBatchSize, VCIEnsureProofKeysAreDistinct
    const keys = keysIn(JSON.parse(issuer.at('credential')[0]!.body))
    expect([keys.length, new Set(keys.map((key) => key.x)).size]).toEqual([3, 3])
    const held = await holder.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
    expect(held.openid4vci!.copies).toBe(3)
  })
})

describe.each(variants)('with client_attestation, the grant %s, for %s', (grant, configuration) => {
  test('oid4vci-1_0-wallet-test-client-attestation-challenge', async () => {
    const body = { commonName: 'Wallet', names: [{ type: 'uri' as const, value: 'https://wallet.example' }] }
    const { id, root } = await holder.call('POST /issuer-certificates/development', { body })
    takesPar()
    issuer.on('oauth-authorization-server', () => ({
      body: {
        ...issuer.authorization,
        pushed_authorization_request_endpoint: `${issuer.identifier}/par`,
        token_endpoint_auth_methods_supported: ['attest_jwt_client_auth'],
        challenge_endpoint: `${issuer.identifier}/challenge`,
      },
    }))
    let challenge = ''
    issuer.on('challenge', ({ method, body: sent }) => {
      // EnsureIncomingRequestMethodIsPost, EnsureIncomingRequestBodyIsEmpty
      expect([method, sent]).toEqual(['POST', ''])
      challenge = randomUUID()
      return { body: { attestation_challenge: challenge } }
    })
    const proofs = new Set<unknown>()
    for (const name of ['par', 'token'])
      issuer.on(name, async ({ headers }, usual) => {
        proofs.add(await checkClient(headers, root!, challenge))
        return name === 'par'
          ? { status: 201, body: { request_uri: 'urn:request:1', expires_in: 60 } }
          : usual
      })
    await issue(grant, configuration, 'CredentialReceived', { attestationCertificateId: id })
    checkRequests(grant)
    expect(proofs.size).toBe(grant === 'authorization_code' ? 2 : 1)
  })
})

/** The conditions on a client attestation. Returns the `jti` of its proof. */
async function checkClient(headers: IncomingHttpHeaders, root: string, challenge: string): Promise<unknown> {
  const [attestation, proof] = ['oauth-client-attestation', 'oauth-client-attestation-pop'].map((name) =>
    String(headers[name]),
  ) as [string, string]
  // ValidateClientAttestationSignature, ValidateClientAttestationX5cClaimInProofJwt
  const jws = decodeJws(attestation)
  await verifyWithCertificate(jws, { anchors: [root], at: new Date() })
  // ValidateClientAttestationIssuer, …Subject, …IssuedAt, …Expiration
  const { iss, sub, iat, exp, cnf } = jws.payload as Record<string, any>
  const now = Date.now() / 1_000
  expect([jws.header.typ, iss, sub]).toEqual([
    'oauth-client-attestation+jwt',
    'https://wallet.example',
    'identity-agent',
  ])
  expect([iat <= now + 5, exp > now]).toEqual([true, true])
  // ValidateClientAttestationKeyBindingSignature, …CnfJwkFields
  expect(cnf.jwk).toEqual({ kty: 'EC', crv: 'P-256', x: expect.any(String), y: expect.any(String) })
  expect(isSignedBy(decodeJws(proof), cnf.jwk)).toBe(true)
  // ValidateClientAttestationProofJwtAudience, ValidateClientAttestationProofJwtChallenge,
  // CheckForClientAttestationProofJwtReuse
  const { payload, header } = decodeJws(proof)
  expect(header.typ).toBe('oauth-client-attestation-pop+jwt')
  expect(payload).toMatchObject({ iss: 'identity-agent', aud: issuer.identifier, challenge })
  return payload['jti']
}
