/** A wallet of others, of the OpenWallet Foundation's library. */
import { createHash, randomBytes } from 'node:crypto'
import * as oauth2 from '@openid4vc/oauth2'
import { Openid4vciClient, setGlobalConfig } from '@openid4vc/openid4vci'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose'

// The agents of tests have no https.
for (const configure of [setGlobalConfig, oauth2.setGlobalConfig]) configure({ allowInsecureUrls: true })

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

/** Redeems an offer. Returns a credential for a new key of each algorithm. */
export async function takeCredentials(
  offer: { credentialOffer: string; txCode?: string | undefined },
  algorithms: readonly string[],
): Promise<string[]> {
  const credentialOffer = await client.resolveCredentialOffer(offer.credentialOffer)
  const issuerMetadata = await client.resolveIssuerMetadata(credentialOffer.credential_issuer)
  const { accessTokenResponse } = await client.retrievePreAuthorizedCodeAccessTokenFromOffer({
    credentialOffer,
    issuerMetadata,
    ...(offer.txCode !== undefined && { txCode: offer.txCode }),
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
  return credentials.map(({ credential }) => credential)
}
