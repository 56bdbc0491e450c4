/**
 * The wallet library of Sphereon, which implements draft 15, takes credentials in both grants and both
 * formats.
 */
import { decodeJwtVc } from '../../credentials/codecs/_verify.ts'
import { OpenID4VCIClientV1_0_15 as Client } from '@sphereon/oid4vci-client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { publishSchema } from '../../support/tenants.ts'
import { answer, open, redirectUri, sealedIn } from './_authorization.ts'
import { offer, readOffer, startIssuer } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())
const { tenant, issuerId } = setup
const schemaId = await publishSchema(tenant, setup.issuingDID, { required: ['name'] })
await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path: { issuerId },
  body: { configurationId: 'PersonSd', format: 'dc+sd-jwt', schemaId },
})

/** Requests the credential with a new ES256 key. */
async function take(client: Client, credentialConfigurationId: string, format: 'jwt_vc_json' | 'dc+sd-jwt') {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const response = await client.acquireCredentials({
    credentialConfigurationId,
    format,
    alg: 'ES256',
    jwk,
    proofCallbacks: {
      signCallback: ({ header, payload }) =>
        new SignJWT(payload).setProtectedHeader({ ...header, alg: 'ES256' }).sign(privateKey),
    },
  })
  const [first] = response.credentials as { credential: string }[]
  return { jwk, credential: first!.credential }
}

/** The person enters the transaction code at the page of the authorization server. */
async function consent(url: string, txCode: string | undefined): Promise<string> {
  const page = await open(setup, new URL(url).searchParams.toString())
  const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept', tx_code: txCode })
  return location!.searchParams.get('code')!
}

const configurations = [
  ['Person', 'jwt_vc_json'],
  ['PersonSd', 'dc+sd-jwt'],
] as const

test.each(configurations)('a pre-authorized code for %s (%s)', async (credentialConfigurationId, format) => {
  const { credentialOffer, txCode } = await offer(setup, {
    credentialConfigurationId,
    byReference: true,
    txCode: true,
  })
  const client = await Client.fromURI({
    uri: credentialOffer,
    resolveOfferUri: true,
    retrieveServerMetadata: true,
  })
  await client.acquireAccessToken({ pin: txCode! })
  expectCredential(await take(client, credentialConfigurationId, format), format)
})

test.each(configurations)('an authorization code for %s (%s)', async (credentialConfigurationId, format) => {
  const { credentialOffer, txCode } = await offer(setup, {
    credentialConfigurationId,
    grant: 'authorization_code',
  })
  expect((await readOffer(credentialOffer)).grants).toHaveProperty('authorization_code')
  const client = await Client.fromURI({
    uri: credentialOffer,
    clientId: 'wallet',
    retrieveServerMetadata: true,
    createAuthorizationRequestURL: false,
  })
  const url = await client.createAuthorizationRequestUrl({
    authorizationRequest: { redirectUri, scope: credentialConfigurationId, clientId: 'wallet' },
  })
  const code = await consent(url, txCode)
  await client.acquireAccessToken({ code, redirectUri })
  expectCredential(await take(client, credentialConfigurationId, format), format)
})

type Taken = Awaited<ReturnType<typeof take>>

function expectCredential({ credential, jwk }: Taken, format: 'jwt_vc_json' | 'dc+sd-jwt'): void {
  if (format === 'jwt_vc_json')
    expect(decodeJwtVc(credential)).toMatchObject({ issuerDid: setup.issuingDID, claims: { name: 'Alice' } })
  else expect(decodeSdJwt(credential).payload).toMatchObject({ iss: setup.issuingDID, cnf: { jwk } })
}
