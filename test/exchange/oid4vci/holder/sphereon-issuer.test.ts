/**
 * The issuer library of Sphereon, which implements draft 15 of OpenID4VCI, gives credentials of both formats
 * with both grants. It makes metadata, offers, tokens and credential responses, and checks transaction codes
 * and key proofs. The test serves it over HTTP as it is: it sends `c_nonce` in responses, which the final
 * specification does not have, and the token type in lower case.
 */
import {
  AuthorizationServerMetadataBuilder,
  assertValidAccessTokenRequest,
  createAccessTokenResponse,
  VcIssuerBuilder,
  type VcIssuer,
} from '@sphereon/oid4vci-issuer'
import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { decodeJwt, importJWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { issueJwtVc } from '../../../../src/credentials/codecs/jwt-vc.ts'
import { decodeHeader } from '../../../../src/credentials/codecs/jws.ts'
import { issueSdJwtVc } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt-vc.ts'
import { generateKey, toPublic, type PublicJwk } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid, resolveJwkDid } from '../../../../src/did/jwk.ts'
import { didOf } from '../../../../src/did/document.ts'
import { startAgent } from '../../../support/agent.ts'
import { startServer, withBody } from '../../../support/server.ts'
import { signJwt } from '../../oid4vp/_wallet.ts'
import { preAuthorizedGrant } from '../_wallet.ts'
import { accept, inState, receive } from './_holder.ts'
import { untilEnd } from '../../../support/shared.ts'

const vct = 'https://issuer.example/licence'
const key = generateKey('P-256')
const did = createJwkDid(toPublic(key))
const now = () => Math.floor(Date.now() / 1_000)

const binding = {
  proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
}

const server = await untilEnd(
  startServer(
    withBody((body, request, response) => {
      void reply(request, body)
        .catch((error: Error): Reply => {
          return { status: 400, body: { error: 'invalid_request', error_description: error.message } }
        })
        .then(({ status = 200, headers, body: content }) => {
          response.writeHead(status, { 'content-type': 'application/json', ...headers })
          response.end(content === undefined ? undefined : JSON.stringify(content))
        })
    }),
  ),
)
const issuer = createIssuer(server.url)
const agent = await untilEnd(startAgent())
const holder = await agent.newTenant('holder')

function createIssuer(url: string): VcIssuer {
  const authorizationServer = new AuthorizationServerMetadataBuilder()
    .withIssuer(url)
    .withTokenEndpoint(`${url}/token`)
    .withAuthorizationEndpoint(`${url}/authorize`)
    .withResponseTypesSupported(['code'])
    .withCodeChallengeMethodsSupported(['S256'])
    .withPreAuthorizedGrantAnonymousAccessSupported(true)
    .build()
  return new VcIssuerBuilder()
    .withAuthorizationMetadata(authorizationServer)
    .withCredentialIssuer(url)
    .withCredentialEndpoint(`${url}/credential`)
    .withNonceEndpoint(`${url}/nonce`)
    .withIssuerDisplay({ name: 'Sphereon', locale: 'en' })
    .addCredentialConfigurationsSupported('Person', {
      format: 'jwt_vc_json',
      scope: 'person',
      credential_definition: { type: ['VerifiableCredential'] },
      cryptographic_binding_methods_supported: ['did:jwk'],
      ...binding,
    } as never)
    .addCredentialConfigurationsSupported('Licence', {
      format: 'dc+sd-jwt',
      scope: 'licence',
      vct,
      cryptographic_binding_methods_supported: ['jwk'],
      ...binding,
    } as never)
    .withInMemoryCredentialOfferState()
    .withInMemoryCredentialOfferURIState()
    .withInMemoryCNonceState()
    .withJWTVerifyCallback(verifyProof)
    .withCredentialDataSupplier(({ format }) =>
      Promise.resolve({
        format,
        credential: (format === 'dc+sd-jwt'
          ? { iss: did, vct, name: 'Alice' }
          : { issuer: did, credentialSubject: { name: 'Alice' } }) as never,
      }),
    )
    .withCredentialSignerCallback(sign as never)
    .build()
}

/** Verifies a key proof, by its `jwk` or the did:jwk in its `kid`. */
async function verifyProof({ jwt }: { jwt: string }) {
  const header = decodeHeader(jwt) as { alg: string; jwk?: PublicJwk; kid?: string }
  const proven = header.kid === undefined ? undefined : resolveJwkDid(didOf(header.kid))
  const jwk = header.jwk ?? (proven!.verificationMethod![0]!.publicKeyJwk as PublicJwk)
  await jwtVerify(jwt, await importJWK({ ...jwk } as never, header.alg))
  return {
    jwt: { header, payload: decodeJwt(jwt) },
    alg: header.alg,
    ...(proven ? { kid: header.kid, did: didOf(header.kid!), didDocument: proven } : { jwk }),
  } as never
}

type ToSign = { format: string; credential: Record<string, any> }

/** Signs the credential, to which the library has added the holder's key or DID. */
async function sign({ format, credential }: ToSign): Promise<string> {
  if (format === 'dc+sd-jwt')
    return issueSdJwtVc({
      issuer: did,
      issuerKey: key,
      kid: `${did}#0`,
      claims: { name: credential['name'] },
      type: { vct },
      holderKey: credential['cnf'].jwk,
      issuedAt: now() - 60,
      expiresAt: now() + 3_600,
    })
  const { id, ...claims } = credential['credentialSubject']
  return issueJwtVc({ issuerDid: did, issuerKey: key, subjectDid: id, claims, schemas: [], now: now() })
}

type Reply = { status?: number; headers?: Record<string, string>; body?: object }

/** The authorization codes: the library leaves the authorization endpoint and PKCE to its caller. */
const codes = new Map<string, { issuerState: string; challenge: string }>()

/** Consents for the person. */
function authorize(parameters: URLSearchParams): Reply {
  const code = randomUUID()
  codes.set(code, {
    issuerState: parameters.get('issuer_state')!,
    challenge: parameters.get('code_challenge')!,
  })
  const location = new URL(parameters.get('redirect_uri')!)
  location.search = new URLSearchParams({ code, state: parameters.get('state')! }).toString()
  return { status: 302, headers: { location: location.href } }
}

async function reply(request: IncomingMessage, body: string): Promise<Reply> {
  const url = new URL(request.url!, server.url)
  switch (url.pathname) {
    case '/.well-known/openid-credential-issuer':
      return { body: issuer.issuerMetadata }
    case '/.well-known/oauth-authorization-server':
      return { body: issuer.authorizationServerMetadata }
    case '/nonce': {
      const cNonce = randomUUID()
      await issuer.cNonces.set(cNonce, { cNonce, createdAt: Date.now() })
      return { body: { c_nonce: cNonce } }
    }
    case '/authorize':
      return authorize(url.searchParams)
    case '/token':
      return { body: await token(Object.fromEntries(new URLSearchParams(body))) }
    case '/credential':
      return { body: await credential(request, body) }
    default:
      return { status: 404, body: {} }
  }
}

async function token(form: Record<string, string>): Promise<object> {
  const { credentialOfferSessions, cNonces } = issuer
  const { code, code_verifier: verifier = '' } = form
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  if (code !== undefined) expect(codes.get(code)?.challenge).toBe(challenge)
  await assertValidAccessTokenRequest(form as never, {
    credentialOfferSessions,
    expirationDuration: 600,
    ...(code !== undefined && { authRequestsData: new Map([[code, { authorization_code: code }]]) as never }),
  })
  return createAccessTokenResponse(form as never, {
    credentialOfferSessions,
    cNonces,
    cNonceExpiresIn: 300,
    tokenExpiresIn: 300,
    accessTokenIssuer: server.url,
    accessTokenSignerCallback: ({ header, payload }) => Promise.resolve(signJwt(header, payload, key)),
  })
}

async function credential({ headers }: IncomingMessage, body: string): Promise<object> {
  const bearer = headers.authorization!.replace('Bearer ', '')
  const own = await importJWK({ ...toPublic(key) }, 'ES256')
  const { payload } = await jwtVerify<{ preAuthorizedCode: string }>(bearer, own)
  // The library names the code of either grant so. It finds the offer of an authorization code by the state
  // of the issuer.
  const { preAuthorizedCode: code } = payload
  const authorized = codes.get(code)
  return issuer.issueCredential({
    credentialRequest: JSON.parse(body) as never,
    issuerCorrelation: authorized ? { issuerState: authorized.issuerState } : { preAuthorizedCode: code },
  })
}

const formats = ['Person', 'Licence'] as const

test.each(formats)('%s with a pre-authorized code', async (configuration) => {
  const { uri, userPin, session } = await issuer.createCredentialOfferURI({
    credential_configuration_ids: [configuration],
    grants: { [preAuthorizedGrant]: { tx_code: { length: 6, input_mode: 'numeric' } } },
  } as never)
  const { recordId } = await receive(holder, uri)
  await accept(holder, recordId, userPin)
  await expectReceived(recordId, session.preAuthorizedCode!)
})

test.each(formats)('%s with an authorization code', async (configuration) => {
  const { uri, session } = await issuer.createCredentialOfferURI({
    credential_configuration_ids: [configuration],
    grants: { authorization_code: {} },
  })
  const { recordId } = await receive(holder, uri)
  const path = { recordId }
  const { openid4vci } = await holder.call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path,
    body: { redirectUri: 'http://127.0.0.1:1/callback' },
  })
  const page = await fetch(openid4vci!.authorizationUrl!, { redirect: 'manual' })
  const { searchParams } = new URL(page.headers.get('location')!)
  await holder.call('POST /issue-credentials/records/{recordId}/complete-authorization', {
    path,
    body: Object.fromEntries(searchParams) as { code: string; state: string },
  })
  await expectReceived(recordId, session.issuerState!)
})

/** Waits for the credential. `id` is that of the issuer's session. */
async function expectReceived(recordId: string, id: string): Promise<void> {
  const { claims } = await inState(holder, recordId, 'CredentialReceived')
  expect(claims).toMatchObject({ name: 'Alice' })
  expect((await issuer.credentialOfferSessions.get(id))?.status).toBe('CREDENTIAL_ISSUED')
}
