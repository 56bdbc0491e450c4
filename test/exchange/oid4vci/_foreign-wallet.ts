/** A wallet of others, of the OpenWallet Foundation's library. */
import { createHash, randomBytes } from 'node:crypto'
import * as oauth2 from '@openid4vc/oauth2'
import {
  Openid4vciClient,
  setGlobalConfig,
  type CredentialOfferObject,
  type IssuerMetadataResult,
} from '@openid4vc/openid4vci'
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

const callbacks = {
  fetch,
  hash: (data: Uint8Array, algorithm: string) => createHash(algorithm.replace('-', '')).update(data).digest(),
  generateRandom: (bytes: number) => randomBytes(bytes),
  clientAuthentication: oauth2.clientAuthenticationAnonymous(),
  signJwt: async (
    signer: oauth2.JwtSigner,
    { header, payload }: { header: oauth2.JwtHeader; payload: oauth2.JwtPayload },
  ) => {
    const { publicJwk: signerJwk } = signer as Awaited<ReturnType<typeof newSigner>>
    const key = keys.get(signerJwk.x!)!
    // Its types have optional members that may be undefined.
    const unsigned = new SignJWT(payload as JWTPayload)
    return { jwt: await unsigned.setProtectedHeader(header as { alg: string }).sign(key), signerJwk }
  },
}

export const client = new Openid4vciClient({ callbacks })
const oauthClient = new oauth2.Oauth2Client({ callbacks })

/** The key of a wallet, which its tokens are bound to. */
export const newDpop = async (): Promise<oauth2.RequestDpopOptions> => ({ signer: await newSigner('ES256') })

const redirectUri = 'https://wallet.example/cb'

/** An issuer as the wallet knows it, by its metadata, and what the wallet has got there. */
export type Session = {
  issuerMetadata: IssuerMetadataResult
  token: oauth2.AccessTokenResponse
  dpop: oauth2.RequestDpopOptions | undefined
}

const withNonce = <T extends oauth2.RequestDpopOptions | undefined>(dpop: T, nonce: string | undefined): T =>
  dpop && nonce !== undefined ? { ...dpop, nonce } : dpop

/** The grant `authorization_code`. `browse` is the person in a browser, who ends at the wallet. */
export async function authorize(
  issuer: string | CredentialOfferObject,
  asked: { scope?: string; details?: string[]; dpop?: oauth2.RequestDpopOptions },
  browse: (url: URL) => Promise<URL>,
): Promise<Session> {
  const identifier = typeof issuer === 'string' ? issuer : issuer.credential_issuer
  const issuerMetadata = await client.resolveIssuerMetadata(identifier)
  const [authorizationServerMetadata] = issuerMetadata.authorizationServers
  const details = asked.details?.map((id) => ({ type: 'openid_credential', credential_configuration_id: id }))
  const request = {
    clientId: 'wallet',
    redirectUri,
    ...(asked.scope !== undefined && { scope: asked.scope }),
    ...(asked.dpop && { dpop: asked.dpop }),
    ...(details && { additionalRequestPayload: { authorization_details: details } }),
  }
  const begun =
    typeof issuer === 'string'
      ? await oauthClient.createAuthorizationRequestUrl({
          ...request,
          authorizationServerMetadata: authorizationServerMetadata!,
          resource: identifier,
        })
      : await client.createAuthorizationRequestUrlFromOffer({
          ...request,
          credentialOffer: issuer,
          issuerMetadata,
        })
  const returned = await browse(new URL(begun.authorizationRequestUrl))
  const { code } = client.parseAndVerifyAuthorizationResponseRedirectUrl({
    url: returned.href,
    authorizationServerMetadata: authorizationServerMetadata!,
  })
  const { accessTokenResponse: token, dpop } = await oauthClient.retrieveAuthorizationCodeAccessToken({
    authorizationServerMetadata: authorizationServerMetadata!,
    authorizationCode: code!,
    redirectUri,
    resource: identifier,
    // Its request names the client by itself only if the client authenticates itself.
    additionalRequestPayload: { client_id: 'wallet' },
    ...(begun.pkce && { pkceCodeVerifier: begun.pkce.codeVerifier }),
    ...(begun.dpop && { dpop: begun.dpop }),
  })
  return { issuerMetadata, token, dpop: withNonce(asked.dpop, dpop?.nonce) }
}

/** The pre-authorized grant with a token that is bound to a key. */
export async function redeemOffer(
  credentialOffer: string,
  dpop?: oauth2.RequestDpopOptions,
): Promise<Session> {
  const offer = await client.resolveCredentialOffer(credentialOffer)
  const issuerMetadata = await client.resolveIssuerMetadata(offer.credential_issuer)
  const redeemed = await client.retrievePreAuthorizedCodeAccessTokenFromOffer({
    credentialOffer: offer,
    issuerMetadata,
    ...(dpop && { dpop }),
  })
  return {
    issuerMetadata,
    token: redeemed.accessTokenResponse,
    dpop: withNonce(dpop, redeemed.dpop?.nonce),
  }
}

/** Exchanges the refresh token of a session. */
export async function refresh({ issuerMetadata, token, dpop }: Session): Promise<Session> {
  const refreshed = await oauthClient.retrieveRefreshTokenAccessToken({
    authorizationServerMetadata: issuerMetadata.authorizationServers[0]!,
    refreshToken: token.refresh_token!,
    ...(dpop && { dpop }),
  })
  return {
    issuerMetadata,
    token: refreshed.accessTokenResponse,
    dpop: withNonce(dpop, refreshed.dpop?.nonce),
  }
}

/** The key proofs for new keys, each of an algorithm. */
async function proofsFor(
  issuerMetadata: IssuerMetadataResult,
  credentialConfigurationId: string,
  algorithms: readonly string[],
) {
  const { c_nonce: nonce } = await client.requestNonce({ issuerMetadata })
  const jwt: [string, ...string[]] = ['']
  for (const [index, alg] of algorithms.entries()) {
    const signer = await newSigner(alg)
    const about = { issuerMetadata, credentialConfigurationId, signer, nonce }
    jwt[index] = (await client.createCredentialRequestJwtProof(about)).jwt
  }
  return { jwt }
}

const accessOf = ({ issuerMetadata, token, dpop }: Session) => ({
  issuerMetadata,
  accessToken: token.access_token,
  ...(dpop && { dpop }),
})

async function requestOne(session: Session, credentialConfigurationId: string) {
  const proofs = await proofsFor(session.issuerMetadata, credentialConfigurationId, ['ES256'])
  const request = { ...accessOf(session), credentialConfigurationId, proofs }
  return (await client.retrieveCredentials(request)).credentialResponse
}

/** Takes a credential for a new key, and says that the wallet has it. */
export async function take(session: Session, credentialConfigurationId: string): Promise<string> {
  const { notification_id, credentials } = await requestOne(session, credentialConfigurationId)
  const notification = { notificationId: notification_id!, event: 'credential_accepted' as const }
  await client.sendNotification({ ...accessOf(session), notification })
  return (credentials as { credential: string }[])[0]!.credential
}

/** Requests a credential that the issuer defers. Returns the id of the transaction. */
export async function takeLater(session: Session, credentialConfigurationId: string): Promise<string> {
  return (await requestOne(session, credentialConfigurationId)).transaction_id!
}

/**
 * Takes a credential by its identifier. The client has no function for it, so that its requests of resources
 * and its key proofs are used.
 */
export async function takeIdentified(
  { issuerMetadata, token, dpop }: Session,
  configuration: string,
  credential_identifier: string,
): Promise<string> {
  const proofs = await proofsFor(issuerMetadata, configuration, ['ES256'])
  const { response } = await oauth2.resourceRequest({
    url: issuerMetadata.credentialIssuer.credential_endpoint,
    accessToken: token.access_token,
    callbacks,
    ...(dpop && { dpop }),
    requestOptions: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ credential_identifier, proofs }),
    },
  })
  const { credentials } = (await response.json()) as { credentials: { credential: string }[] }
  return credentials[0]!.credential
}

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
  const credentialConfigurationId = credentialOffer.credential_configuration_ids[0]!
  const { credentialResponse } = await client.retrieveCredentials({
    issuerMetadata,
    credentialConfigurationId,
    accessToken: accessTokenResponse.access_token,
    proofs: await proofsFor(issuerMetadata, credentialConfigurationId, algorithms),
  })
  const credentials = credentialResponse.credentials as { credential: string }[]
  return credentials.map(({ credential }) => credential)
}
