/** A verifier of others, of the OpenWallet Foundation's library, accepts the responses of this wallet. */
import * as oauth2 from '@openid4vc/oauth2'
import { Openid4vpVerifier } from '@openid4vc/openid4vp'
import { DcqlPresentationResult, DcqlQuery } from 'dcql'
import { createHash } from 'node:crypto'
import { compactDecrypt } from 'jose'
import { expect, test } from 'vitest'
import { newId } from '../../../../src/foundation/id.ts'
import { decodeSdJwt } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { acceptRequest, act, credentialQuery, receiveDigital, startWallet } from './_holder.ts'
import { decodeJwt, signJwt } from '../_wallet.ts'
import { verifyKeyBinding } from './_sd-jwt.ts'
import { openVerifier, shop, signedBy } from './_verifier.ts'

oauth2.setGlobalConfig({ allowInsecureUrls: true })

test.each(['direct_post', 'direct_post.jwt'] as const)('%s', async (mode) => {
  await using wallet = await startWallet()
  await using server = await openVerifier()
  const key = generateKey('P-256')
  const callbacks = callbacksOf(server.key, key)
  const peer = new Openid4vpVerifier({ callbacks })
  const dcql_query = { credentials: [credentialQuery({ claims: [{ path: ['name'] }, { path: ['age'] }] })] }
  const clientId = `decentralized_identifier:${server.did}`
  const state = newId()
  let served = ''
  const url = server.offer(() => served)
  const requestUri = new URL(url).searchParams.get('request_uri')!
  const { jar, authorizationRequest } = await peer.createOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: {
      response_type: 'vp_token',
      response_mode: mode,
      client_id: clientId,
      nonce: newId(),
      state,
      response_uri: server.responseUri,
      dcql_query,
      client_metadata: metadataOf(key),
    },
    jar: { requestUri, ...jarOf(server.did) },
  } as never)
  served = jar!.authorizationRequestJwt
  await acceptRequest(wallet, authorizationRequest)

  const request = decodeJwt(served).payload
  const parsed = await peer.parseOpenid4vpAuthorizationResponse({
    authorizationResponse: Object.fromEntries(server.responses[0]!),
    authorizationRequestPayload: request as never,
    callbacks,
  })
  expect(parsed.expectedNonce).toBe((request as { nonce: string }).nonce)
  const { presentations } = (parsed as unknown as { dcql: { presentations: Record<string, string[]> } }).dcql
  const [text] = presentations['person']!
  const { claims } = decodeSdJwt(text!)
  expect(claims).toEqual({ name: 'Alice', age: 30 })

  const binding = await verifyKeyBinding(text!, parsed.expectedNonce)
  expect(binding.aud).toBe(clientId)

  const query = DcqlQuery.parse(dcql_query as DcqlQuery.Input)
  const result = DcqlPresentationResult.fromDcqlPresentation(
    {
      person: [
        {
          credential_format: 'dc+sd-jwt',
          vct: decodeSdJwt(text!).vct!,
          claims: claims as never,
          cryptographic_holder_binding: true,
        },
      ],
    },
    { dcqlQuery: query },
  )
  expect(result.can_be_satisfied).toBe(true)
})

test.each(['dc_api', 'dc_api.jwt'] as const)('Digital Credentials API: %s', async (mode) => {
  await using wallet = await startWallet()
  await using server = await openVerifier()
  const key = generateKey('P-256')
  const callbacks = callbacksOf(server.key, key)
  const peer = new Openid4vpVerifier({ callbacks })
  const { jar } = await peer.createOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: {
      response_type: 'vp_token',
      response_mode: mode,
      client_id: `decentralized_identifier:${server.did}`,
      expected_origins: [shop],
      nonce: newId(),
      dcql_query: { credentials: [credentialQuery()] },
      client_metadata: metadataOf(key),
    },
    jar: jarOf(server.did),
  } as never)
  const request = jar!.authorizationRequestJwt
  const { presentationId } = await receiveDigital(wallet.holder, signedBy(request), shop)
  const { openid4vpRequest } = await act(wallet.holder, presentationId, { action: 'request-accept' })
  const parsed = await peer.parseOpenid4vpAuthorizationResponse({
    authorizationResponse: openid4vpRequest!.digitalCredential!.data,
    authorizationRequestPayload: decodeJwt(request).payload as never,
    origin: shop,
    callbacks,
  })
  const { presentations } = (parsed as unknown as { dcql: { presentations: Record<string, string[]> } }).dcql
  const { claims, keyBinding } = decodeSdJwt(presentations['person']![0]!)
  expect(claims).toEqual({ name: 'Alice' })
  expect(decodeJwt(keyBinding!).payload).toMatchObject({ aud: `origin:${shop}`, nonce: parsed.expectedNonce })
})

type Key = ReturnType<typeof generateKey>

const callbacksOf = (signing: Key, key: Key) => ({
  hash: (data: Uint8Array, algorithm: string) => createHash(algorithm.replace('-', '')).update(data).digest(),
  signJwt: (_: unknown, { header, payload }: { header: object; payload: object }) => ({
    jwt: signJwt(header, payload, signing),
    signerJwk: toPublic(signing),
  }),
  decryptJwe: async (jwe: string) => {
    const { plaintext } = await compactDecrypt(jwe, { ...key })
    return { decrypted: true, payload: Buffer.from(plaintext).toString(), decryptionJwk: toPublic(key) }
  },
  verifyJwt: () => Promise.reject(new Error('nothing to verify')),
  encryptJwe: () => Promise.reject(new Error('nothing to encrypt')),
})

const metadataOf = (key: Key) => ({
  jwks: { keys: [{ ...toPublic(key), alg: 'ECDH-ES', kid: 'one', use: 'enc' }] },
  encrypted_response_enc_values_supported: ['A128GCM'],
  vp_formats_supported: { 'dc+sd-jwt': {} },
})

const jarOf = (did: string) => ({
  jwtSigner: { method: 'did', alg: 'ES256', didUrl: `${did}#0` },
  expiresInSeconds: 300,
})
