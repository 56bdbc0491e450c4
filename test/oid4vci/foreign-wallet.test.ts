/** A wallet of others, of the OpenWallet Foundation's library, takes credentials from the issuer. */
import { createHash, randomBytes } from 'node:crypto'
import * as oauth2 from '@openid4vc/oauth2'
import { Openid4vciClient, setGlobalConfig } from '@openid4vc/openid4vci'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeJwtVc } from '../../src/credentials/jwt-vc.ts'
import { offer, startIssuer, type Setup } from './_wallet.ts'
import type { TestAgent } from '../_agent.ts'

let setup: Setup & { agent: TestAgent }
beforeAll(async () => {
  setup = await startIssuer()
  // The agent of the test has no https.
  for (const configure of [setGlobalConfig, oauth2.setGlobalConfig]) configure({ allowInsecureUrls: true })
})
afterAll(() => setup.agent[Symbol.asyncDispose]())

const keys = new Map<string, CryptoKey>()

async function newSigner(alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const publicJwk = (await exportJWK(publicKey)) as oauth2.Jwk
  keys.set(publicJwk.x!, privateKey)
  return { method: 'jwk' as const, publicJwk, alg }
}

const client = new Openid4vciClient({
  callbacks: {
    fetch,
    hash: (data, algorithm) => createHash(algorithm.replace('-', '')).update(data).digest(),
    generateRandom: (bytes) => randomBytes(bytes),
    clientAuthentication: oauth2.clientAuthenticationAnonymous(),
    signJwt: async (signer, { header, payload }) => {
      const { publicJwk: signerJwk } = signer as Awaited<ReturnType<typeof newSigner>>
      const key = keys.get(signerJwk.x!)!
      // Its types have optional members that may be undefined.
      const unsigned = new SignJWT(payload as JWTPayload)
      return { jwt: await unsigned.setProtectedHeader(header as { alg: string }).sign(key), signerJwk }
    },
  },
})

test.each([
  ['by value', {}, ['ES256']],
  ['by reference, with a transaction code', { byReference: true, txCode: true }, ['EdDSA']],
  ['by value, for a batch of keys', {}, ['ES256', 'EdDSA', 'ES256']],
])('an offer %s', async (_, options, algorithms) => {
  const made = await offer(setup, options)
  const credentialOffer = await client.resolveCredentialOffer(made.credentialOffer)
  const issuerMetadata = await client.resolveIssuerMetadata(credentialOffer.credential_issuer)
  const { accessTokenResponse } = await client.retrievePreAuthorizedCodeAccessTokenFromOffer({
    credentialOffer,
    issuerMetadata,
    ...(made.txCode !== undefined && { txCode: made.txCode }),
  })
  const { c_nonce: nonce } = await client.requestNonce({ issuerMetadata })
  const credentialConfigurationId = credentialOffer.credential_configuration_ids[0]!
  const jwt: [string, ...string[]] = ['']
  for (const [index, alg] of algorithms.entries()) {
    const signer = await newSigner(alg)
    const about = { issuerMetadata, credentialConfigurationId, signer, nonce }
    jwt[index] = (await client.createCredentialRequestJwtProof(about)).jwt
  }
  const { credentialResponse } = await client.retrieveCredentials({
    issuerMetadata,
    credentialConfigurationId,
    accessToken: accessTokenResponse.access_token,
    proofs: { jwt },
  })
  const credentials = credentialResponse.credentials as { credential: string }[]
  expect(credentials).toHaveLength(algorithms.length)
  for (const { credential } of credentials)
    expect(decodeJwtVc(credential)).toMatchObject({
      issuerDid: setup.issuingDID,
      claims: { name: 'Alice' },
    })
})
