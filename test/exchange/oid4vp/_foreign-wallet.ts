/** A wallet of others, of the OpenWallet Foundation's library. */
import { createHash } from 'node:crypto'
import * as oauth2 from '@openid4vc/oauth2'
import { Openid4vpClient } from '@openid4vc/openid4vp'
import { DcqlQuery } from 'dcql'
import { CompactEncrypt, importJWK, jwtVerify } from 'jose'
import { expect } from 'vitest'
import { resolveJwkDid } from '../../../src/did/jwk.ts'
import { answerTo } from './_digital.ts'
import { issueSdJwt, presentSdJwt, vct } from './_wallet.ts'

// The agents of tests have no https.
oauth2.setGlobalConfig({ allowInsecureUrls: true })

const client = new Openid4vpClient({
  callbacks: {
    fetch,
    hash: (data: Uint8Array, algorithm: string) =>
      createHash(algorithm.replace('-', '')).update(data).digest(),
    signJwt: () => Promise.reject(new Error('nothing to sign')),
    decryptJwe: () => Promise.reject(new Error('nothing to decrypt')),
    verifyJwt: async (signer: oauth2.JwtSigner, { compact }: { compact: string }) => {
      if (signer.method !== 'did') return { verified: false as const }
      const [method] = resolveJwkDid(signer.didUrl.split('#')[0]!).verificationMethod!
      const signerJwk = (method as unknown as { publicKeyJwk: oauth2.Jwk }).publicKeyJwk
      await jwtVerify(compact, await importJWK(signerJwk as never, signer.alg))
      return { verified: true as const, signerJwk }
    },
    encryptJwe: async (encryptor: { publicJwk: oauth2.Jwk; alg: string; enc: string }, text: string) => {
      const { publicJwk, alg, enc } = encryptor
      const jwe = await new CompactEncrypt(Buffer.from(text))
        .setProtectedHeader({ alg, enc, kid: publicJwk.kid! })
        .encrypt(await importJWK(publicJwk as never, alg))
      return { encryptionJwk: publicJwk, jwe }
    },
  },
})

/** Verifies a request, and finds the credential that it asks for. */
async function resolve(authorizationRequestPayload: object, origin?: string) {
  const resolved = await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: authorizationRequestPayload as never,
    origin,
  } as never)
  const { authorizationRequestPayload: request, dcql, client: verifier } = resolved
  const query = DcqlQuery.parse(dcql!.query as DcqlQuery.Input)
  DcqlQuery.validate(query)
  const claims = { name: 'Alice', age: 30 }
  const found = DcqlQuery.query(query, [
    { credential_format: 'dc+sd-jwt', vct, claims, cryptographic_holder_binding: true },
  ])
  expect(found.can_be_satisfied).toBe(true)
  return { request: request as { response_mode?: string }, id: query.credentials[0].id, verifier }
}

async function respond({ request, id }: Awaited<ReturnType<typeof resolve>>, vp: string, origin?: string) {
  return client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: request,
    authorizationResponsePayload: { vp_token: { [id]: [vp] } },
    origin,
    ...(request.response_mode?.endsWith('.jwt') && {
      jarm: {
        encryption: { nonce: 'bm9uY2U' },
        serverMetadata: {
          authorization_signing_alg_values_supported: [],
          authorization_encryption_alg_values_supported: ['ECDH-ES'],
          authorization_encryption_enc_values_supported: ['A256GCM', 'A128GCM'],
        },
      },
    }),
  } as never)
}

/** Presents the credential that a request asks for. */
export async function answer(authorizationRequest: string): Promise<{ prefix: string; response: Response }> {
  const { params } = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest })
  const asked = await resolve(params)
  const created = await respond(asked, await presentSdJwt(asked.request, { credential: await issueSdJwt() }))
  const { response } = await client.submitOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: asked.request,
    authorizationResponsePayload: created.authorizationResponsePayload,
    ...(created.jarm && { jarm: { responseJwt: created.jarm.responseJwt } }),
  } as never)
  return { prefix: asked.verifier.prefix, response }
}

/** The response to a request of the Digital Credentials API, for its page. */
export async function answerDigitally(
  request: object,
  origin: string,
): Promise<{ prefix: string; data: object }> {
  const asked = await resolve(request, origin)
  const { vp_token } = await answerTo(asked.request, origin)
  const created = await respond(asked, vp_token.person[0]!, origin)
  const data = created.jarm ? { response: created.jarm.responseJwt } : created.authorizationResponsePayload
  return { prefix: asked.verifier.prefix, data }
}
