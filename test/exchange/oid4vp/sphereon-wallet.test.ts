/**
 * The wallet library of Sphereon, which implements OpenID4VP 1.0, answers requests with credentials of both
 * formats.
 */
import { OP, SupportedVersion, type VerifyJwtCallback } from '@sphereon/did-auth-siop'
import { createHash, X509Certificate } from 'node:crypto'
import { CompactEncrypt, importJWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import { toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid, resolveJwkDid } from '../../../src/did/jwk.ts'
import {
  holderKey,
  issuerDid,
  issuerKey,
  newVerifierDid,
  personQuery,
  presentationOf,
  presentSdJwt,
  requestProof,
  signJwt,
  startVerifier,
} from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const verifier = await untilEnd(startVerifier())
const did = await newVerifierDid(verifier)

/** Verifies the signature of a request by the DID of its client id, or by the certificate in it. */
const verifyJwtCallback: VerifyJwtCallback = async (signer, { raw }) => {
  if (signer.method === 'x5c') {
    const { publicKey } = new X509Certificate(Buffer.from(signer.x5c[0]!, 'base64'))
    await jwtVerify(raw, publicKey)
    return true
  }
  if (signer.method !== 'did') return false
  const [method] = resolveJwkDid(signer.didUrl.split('#')[0]!).verificationMethod!
  await jwtVerify(raw, await importJWK({ ...method!.publicKeyJwk } as never, signer.alg))
  return true
}

const wallet = OP.builder()
  .withIssuer('https://self-issued.me/v2')
  .withSupportedVersions([SupportedVersion.OID4VP_v1])
  .withHasher((data, algorithm) =>
    createHash(algorithm.replace('-', ''))
      .update(typeof data === 'string' ? data : new Uint8Array(data))
      .digest(),
  )
  .withVerifyJwtCallback(verifyJwtCallback)
  .withCreateJwtCallback(() => expect.unreachable('the response has no ID token'))
  .build()

type Request = { client_id: string; nonce: string }

const holderDid = createJwkDid(toPublic(holderKey))

/** A JWT presentation of a JWT credential. */
function presentJwt({ client_id: aud, nonce }: Request): string {
  const iat = Math.floor(Date.now() / 1_000)
  const credential = issueJwtVc({
    issuerDid,
    issuerKey,
    subjectDid: holderDid,
    claims: { name: 'Alice' },
    schemas: [],
    now: iat,
  })
  const vp = {
    '@context': ['https://www.w3.org/2018/credentials/v1'],
    type: ['VerifiablePresentation'],
    verifiableCredential: [credential],
  }
  return signJwt({ kid: `${holderDid}#0` }, { iss: holderDid, aud, nonce, iat, vp }, holderKey)
}

/** Encrypts a response with the key of the request. */
async function encrypt({
  authorizationResponsePayload: payload,
  clientMetadata,
}: {
  authorizationResponsePayload: object
  clientMetadata: object
}) {
  const { kid, ...key } = await OP.extractEncJwksFromClientMetadata(clientMetadata)
  const response = await new CompactEncrypt(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: kid! })
    .encrypt(await importJWK(key as never, 'ECDH-ES'))
  return { response }
}

/**
 * The library compares its answer with the query. For `jwt_vc_json` it reads paths from the payload of the
 * JWT instead of the credential, and knows no holder binding: the query names no claims, and does not require
 * it.
 */
const jwtQuery = {
  credentials: [
    {
      id: 'person',
      format: 'jwt_vc_json',
      meta: { type_values: [['VerifiableCredential']] },
      require_cryptographic_holder_binding: false,
    },
  ],
}
const formats = [
  ['dc+sd-jwt', personQuery, presentSdJwt],
  ['jwt_vc_json', jwtQuery, presentJwt],
] as const

test.each(
  formats.flatMap(([format, query, present]) =>
    (['direct_post', 'direct_post.jwt'] as const).map((mode) => ({ format, mode, query, present })),
  ),
)('$format by $mode', async ({ mode, query, present }) => {
  const { presentationId, openid4vp } = await requestProof(verifier, {
    did,
    responseMode: mode,
    dcqlQuery: query,
  })
  await answer(openid4vp!.authorizationRequest, query, present)
  await expectVerified(presentationId)
})

test('a request that a certificate signs', async () => {
  const { id: certificateId } = await verifier.tenant.call('POST /issuer-certificates/development', {
    body: { commonName: 'Verifier', names: [{ type: 'dns', value: 'verifier.example' }] },
  })
  const { presentationId, openid4vp } = await requestProof(verifier, { certificateId })
  await answer(openid4vp!.authorizationRequest, personQuery, presentSdJwt)
  await expectVerified(presentationId)
})

test('an unsigned request is refused: the library does not read client ids with the prefix redirect_uri', async () => {
  const { openid4vp } = await requestProof(verifier)
  await expect(wallet.verifyAuthorizationRequest(openid4vp!.authorizationRequest)).rejects.toThrow(
    'response_uri does not match the client_id',
  )
})

/** Verifies a request, and answers it. */
async function answer(
  url: string,
  query: object,
  present: (request: Request) => string | Promise<string>,
): Promise<void> {
  const verified = await wallet.verifyAuthorizationRequest(url)
  expect(verified.versions).toContain(SupportedVersion.OID4VP_v1)
  expect(verified.dcqlQuery).toMatchObject(query)
  const vp = await present(verified.authorizationRequest.mergedPayloads())
  const created = await wallet.createAuthorizationResponse(verified, {
    dcqlResponse: { dcqlPresentation: { person: [vp] } },
  })
  expect((await wallet.submitAuthorizationResponse(created, encrypt)).status).toBe(200)
}

async function expectVerified(presentationId: string): Promise<void> {
  const record = await presentationOf(verifier, presentationId)
  expect(record.status, JSON.stringify(record.openid4vp!.checks)).toBe('PresentationVerified')
  expect(record.openid4vp!.credentials).toMatchObject([{ issuer: issuerDid, claims: { name: 'Alice' } }])
}
