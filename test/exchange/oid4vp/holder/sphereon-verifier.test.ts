/** The verifier library of Sphereon, which implements OpenID4VP 1.0, accepts the responses of this wallet. */
import {
  InMemoryRPSessionManager,
  PassBy,
  PropertyTarget,
  RequestAud,
  ResponseMode,
  ResponseType,
  RevocationVerification,
  RP,
  SupportedVersion,
} from '@sphereon/did-auth-siop'
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { compactDecrypt } from 'jose'
import { expect, test } from 'vitest'
import { newId } from '../../../../src/foundation/id.ts'
import { verifyJwtVp } from '../../../credentials/codecs/_verify.ts'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { issue } from '../../../support/tenants.ts'
import { signJwt } from '../_wallet.ts'
import { acceptRequest, credentialQuery, startWallet } from './_holder.ts'
import { verifyKeyBinding } from './_sd-jwt.ts'
import { openVerifier } from './_verifier.ts'
import { untilEnd } from '../../../support/shared.ts'

const wallet = await untilEnd(startWallet())
const server = await untilEnd(openVerifier())
const clientId = `decentralized_identifier:${server.did}`

const key = generateKey('P-256')
const hasher = (data: string | ArrayBuffer | SharedArrayBuffer, algorithm: string) =>
  createHash(algorithm.replace('-', ''))
    .update(typeof data === 'string' ? data : new Uint8Array(data))
    .digest()

/** Creates a signed request by reference. The library verifies each presentation by `verify`. */
async function ask(
  mode: ResponseMode,
  query: object,
  verify: (presentation: string, nonce: string) => Promise<void>,
) {
  let served = ''
  const url = server.offer(() => served)
  const events = new EventEmitter()
  const [correlationId, nonce, state] = [newId(), newId(), newId()]
  const inObject = PropertyTarget.REQUEST_OBJECT
  const verifier = RP.builder({ requestVersion: SupportedVersion.OID4VP_v1 })
    .withClientId(clientId, [PropertyTarget.AUTHORIZATION_REQUEST, inObject])
    .withAudience(RequestAud.SELF_ISSUED_V2, inObject)
    .withResponseType(ResponseType.VP_TOKEN, inObject)
    .withResponseMode(mode, inObject)
    .withResponseUri(server.responseUri, inObject)
    .withRequestBy(PassBy.REFERENCE, new URL(url).searchParams.get('request_uri')!)
    .withDcqlQuery(query as never, inObject)
    .withClientMetadata(
      {
        jwks: { keys: [{ ...toPublic(key), alg: 'ECDH-ES', kid: 'one', use: 'enc' }] },
        encrypted_response_enc_values_supported: ['A128GCM'],
        vp_formats_supported: { 'dc+sd-jwt': {}, jwt_vc_json: {} },
        passBy: PassBy.VALUE,
      },
      inObject,
    )
    .withHasher(hasher)
    .withCreateJwtCallback((_, { header, payload }) => Promise.resolve(signJwt(header, payload, server.key)))
    .withVerifyJwtCallback(() => expect.unreachable('the response has no ID token'))
    .withPresentationVerification(async (presentation) => {
      await verify(presentation as string, nonce)
      return { verified: true }
    })
    .withRevocationVerification(RevocationVerification.NEVER)
    .withEventEmitter(events)
    .withSessionManager(new InMemoryRPSessionManager(events))
    .build()
  const jwtIssuer = { method: 'did', didUrl: `${server.did}#0`, alg: 'ES256' } as never
  const request = await verifier.createAuthorizationRequest({ correlationId, nonce, state, jwtIssuer })
  served = (await request.requestObjectJwt())!
  const { encodedUri } = await request.uri()
  const options = { correlationId, dcqlQuery: query as never }
  return {
    url: encodedUri,
    nonce,
    state,
    verify: (response: object, change: object = {}) =>
      verifier.verifyAuthorizationResponse(response, { ...options, ...change }),
  }
}

/** The wallet answers. Returns the parameters of its response. */
async function answer(url: string): Promise<object> {
  await acceptRequest(wallet, url)
  const { response, vp_token, ...rest } = Object.fromEntries(server.responses.pop()!)
  if (response === undefined) return { ...rest, vp_token: JSON.parse(vp_token!) }
  // The library reads encrypted responses of drafts only, in which `vp_token` is not an object.
  const { plaintext } = await compactDecrypt(response, { ...key })
  return JSON.parse(Buffer.from(plaintext).toString()) as object
}

const { DIRECT_POST, DIRECT_POST_JWT } = ResponseMode

test.each([DIRECT_POST, DIRECT_POST_JWT])('an SD-JWT VC by %s', async (mode) => {
  const query = { credentials: [credentialQuery({ claims: [{ path: ['name'] }, { path: ['age'] }] })] }
  const claims: object[] = []
  const asked = await ask(mode, query, async (presentation, nonce) => {
    const { aud } = await verifyKeyBinding(presentation, nonce)
    expect(aud).toBe(clientId)
    claims.push(decodeSdJwt(presentation).claims)
  })
  const response = await answer(asked.url)
  expect(await asked.verify(response)).toMatchObject({ nonce: asked.nonce, state: asked.state })
  expect(claims).toEqual([{ name: 'Alice', age: 30 }])
  await expect(asked.verify(response, { nonce: 'other' })).rejects.toThrow()
})

/**
 * The library compares the answer with the query. For `jwt_vc_json` it reads paths from the payload of the
 * JWT instead of the credential, and knows no holder binding: it gets a query with that reading. The test
 * verifies the presentation.
 */
const jwtQuery = (path: string[], more: object = {}) => ({
  credentials: [
    credentialQuery({ format: 'jwt_vc_json', types: ['VerifiableCredential'], claims: [{ path }], more }),
  ],
})

test('a JWT credential in a JWT presentation', async () => {
  const { agent, holder, issuer, connectionId, issuingDID, subjectId } = wallet
  await issue(issuer, holder, connectionId, issuingDID, subjectId, { name: 'Alice' })
  const resolve = agent.agent.env.resolver.document
  const claims: object[] = []
  const path = ['credentialSubject', 'name']
  const asked = await ask(DIRECT_POST, jwtQuery(path), async (presentation, nonce) => {
    const credentialChecks = { verifyStatus: false }
    const checks = { resolve, audience: clientId, nonce, now: Date.now() / 1_000, credentialChecks }
    const { credentials } = await verifyJwtVp(presentation, checks)
    claims.push(...credentials.map((credential) => credential.claims))
  })
  const response = await answer(asked.url)
  const asItReads = jwtQuery(['vc', ...path], { require_cryptographic_holder_binding: false })
  const result = await asked.verify(response, { dcqlQuery: asItReads })
  expect(result).toMatchObject({ nonce: asked.nonce, state: asked.state })
  expect(claims).toMatchObject([{ name: 'Alice' }])
})
