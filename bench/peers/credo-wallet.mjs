/**
 * Credo-TS 0.6 as a wallet of OpenID4VCI: takes the credentials of an offer or, without one, of an issuer,
 * and each one anew if it gets a refresh token. The issuer needs a did:jwk or did:key. Keys and records are
 * in memory.
 *
 *     node bench/peers/credo-wallet.mjs 'openid-credential-offer://…' [configuration…]
 *     node bench/peers/credo-wallet.mjs https://agent.example/oid4vci/issuers/… configuration…
 */
import { createInterface } from 'node:readline/promises'
import {
  Agent,
  DidsModule,
  InjectionSymbols,
  JwkDidRegistrar,
  JwkDidResolver,
  KeyDidResolver,
  Kms,
  SdJwtVcModule,
  W3cCredentialsModule,
} from '@credo-ts/core'
import { agentDependencies, NodeInMemoryKeyManagementStorage, NodeKeyManagementService } from '@credo-ts/node'
import { OpenId4VcModule } from '@credo-ts/openid4vc'
import { Storage } from './_credo-storage.mjs'

const keys = new NodeKeyManagementService(new NodeInMemoryKeyManagementStorage())
const memory = {
  register(dependencies) {
    dependencies.registerInstance(InjectionSymbols.StorageService, new Storage())
    dependencies.resolve(Kms.KeyManagementModuleConfig).registerBackend(keys)
  },
}

const agent = new Agent({
  config: { label: 'credo', allowInsecureHttpUrls: true, autoUpdateStorageOnStartup: true },
  dependencies: agentDependencies,
  modules: {
    memory,
    dids: new DidsModule({
      resolvers: [new KeyDidResolver(), new JwkDidResolver()],
      registrars: [new JwkDidRegistrar()],
    }),
    w3c: new W3cCredentialsModule(),
    sdJwtVc: new SdJwtVcModule(),
    openid4vc: new OpenId4VcModule(),
  },
})
await agent.initialize()
const { holder } = agent.openid4vc
const client = { clientId: 'wallet', redirectUri: 'https://wallet.example/cb' }

/** A new key for each credential: a did:jwk for the format that needs a DID. */
async function credentialBindingResolver({ credentialFormat }) {
  const type = { kty: 'EC', crv: 'P-256' }
  if (credentialFormat === 'jwt_vc_json') {
    const { didState } = await agent.dids.create({ method: 'jwk', options: { createKey: { type } } })
    return { method: 'did', didUrls: [`${didState.did}#0`] }
  }
  const { publicJwk } = await agent.kms.createKeyForSignatureAlgorithm({ algorithm: 'ES256' })
  return { method: 'jwk', keys: [Kms.PublicJwk.fromPublicJwk(publicJwk)] }
}

/** What Credo makes of an offer, and what it would make of one for these configurations. */
async function begin(source, ids) {
  if (!/^https?:/.test(source)) return holder.resolveCredentialOffer(source)
  const metadata = await holder.resolveIssuerMetadata(source)
  const known = metadata.knownCredentialConfigurations
  return {
    metadata,
    offeredCredentialConfigurations: Object.fromEntries(ids.map((id) => [id, known[id]])),
    credentialOfferPayload: {
      credential_issuer: source,
      credential_configuration_ids: ids,
      grants: { authorization_code: {} },
    },
  }
}

async function authorize(resolvedCredentialOffer) {
  const begun = await holder.resolveOpenId4VciAuthorizationRequest(resolvedCredentialOffer, client)
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const asked = `Open ${begun.authorizationRequestUrl}\nThe address that it ends at: `
  const authorizationResponseRedirectUrl = await terminal.question(asked)
  terminal.close()
  const { authorizationCode: code } = holder.parseAuthorizationCodeFromAuthorizationResponse({
    resolvedCredentialOffer,
    authorizationResponseRedirectUrl,
  })
  const { codeVerifier, dpop } = begun
  return holder.requestToken({ resolvedCredentialOffer, ...client, code, codeVerifier, dpop })
}

/** Takes one credential after the other: in one call, Credo has a nonce for the first alone. */
async function take(resolvedCredentialOffer, { accessToken, dpop }, ids, word) {
  for (const id of ids) {
    const request = {
      resolvedCredentialOffer,
      accessToken,
      dpop,
      credentialConfigurationIds: [id],
      credentialBindingResolver,
      clientId: client.clientId,
    }
    try {
      const { credentials, deferredCredentials } = await holder.requestCredentials(request)
      for (const { record } of credentials) {
        const { prettyClaims, credentialSubject } = record.firstCredential
        console.log(id, word, JSON.stringify(prettyClaims ?? credentialSubject.claims))
      }
      if (deferredCredentials.length > 0) console.log(id, 'comes later')
    } catch (error) {
      console.log(id, 'refused:', error.message)
    }
  }
}

const [source, ...chosen] = process.argv.slice(2)
const offer = await begin(source, chosen)
const ids = chosen.length > 0 ? chosen : Object.keys(offer.offeredCredentialConfigurations)
const { grants } = offer.credentialOfferPayload
let token = grants.authorization_code
  ? await authorize(offer)
  : await holder.requestToken({ resolvedCredentialOffer: offer })
await take(offer, token, ids, 'taken')
for (let count = 1; token.refreshToken && count <= 2; count++) {
  const { authorizationServer, refreshToken, dpop } = token
  const issuerMetadata = offer.metadata
  const next = await holder.refreshToken({
    issuerMetadata,
    authorizationServer,
    refreshToken,
    dpop,
    ...client,
  })
  token = { ...token, ...next }
  await take(offer, token, ids, 'anew')
}
await agent.shutdown()
