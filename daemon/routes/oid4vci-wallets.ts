/** `/oid4vci`: the endpoints of OpenID4VCI issuers that wallets call. */
import * as z from 'zod'
import type { Agent } from '../../src/agent.ts'
import { CredentialTypeMetadata, readTypeMetadata } from '../../src/oid4vci/credential-types.ts'
import { CredentialRequest } from '../../src/oid4vci/credential-request.ts'
import { CredentialResponse, issueToWallet } from '../../src/oid4vci/credential.ts'
import { DeferredCredentialRequest, issueDeferredToWallet } from '../../src/oid4vci/deferred.ts'
import {
  AuthorizationServerMetadata,
  IssuerMetadata,
  readAuthorizationServerMetadata,
  readIssuerMetadata,
} from '../../src/oid4vci/metadata.ts'
import {
  createNonce,
  createNonceFor,
  NonceRequest,
  NonceResponse,
  stateNotFound,
} from '../../src/oid4vci/nonce.ts'
import { NotificationRequest, receiveNotification } from '../../src/oid4vci/notification.ts'
import { OfferObject, offerNotFound, readOffer } from '../../src/oid4vci/offers.ts'
import { signMetadata } from '../../src/oid4vci/signed-metadata.ts'
import { issuerIdIn } from '../../src/oid4vci/session.ts'
import { redeemCode, TokenRequest, TokenResponse } from '../../src/oid4vci/token.ts'
import { unlessDeleted } from '../../src/storage/transferred.ts'
import { Uuid } from '../../src/wallet/model.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { route, type Contract, type Input } from '../http/route.ts'
import { ClientHeaders, Dpop, forWallets, oauth, toOAuthAnswer, withIssuer } from './_oid4vci.ts'

const path = { issuerId: Uuid }
const Nonce = z.object({ c_nonce: z.string() }).meta({ id: 'OpenIdNonceResponse' })
const json = 'application/json' as const

const withToken = z.object({
  authorization: z.string().optional().describe('`Bearer` or `DPoP`, and the access token.'),
  dpop: Dpop,
})

/** VCI §8.3: a deferred issuance has another status. */
const toCredentialAnswer = (response: Promise<CredentialResponse>) =>
  toOAuthAnswer(response, ({ transaction_id }) => (transaction_id === undefined ? 200 : 202))

/** The metadata of an issuer, which has two paths. */
const metadataContract = {
  ...forWallets,
  media: ['application/json', 'application/jwt'],
  path,
  reply: [200, IssuerMetadata],
  bodies: {
    'application/jwt': z.string().describe('The metadata as signed JWT, if the issuer has a certificate.'),
  },
} as const

async function replyMetadata(
  { agent }: { agent: Agent },
  { path: { issuerId }, accepts }: { path: { issuerId: string } } & Pick<Input<Contract>, 'accepts'>,
) {
  const { db, env } = agent
  const headers = { Vary: 'Accept' }
  const body = await readIssuerMetadata(db, env.urls.rest, issuerId)
  const signed =
    accepts(metadataContract.media) === 'application/jwt'
      ? await withIssuer(agent, issuerId, (wallet, issuer) => signMetadata(wallet, issuer, body))
      : undefined
  return signed === undefined
    ? { type: json, body, headers }
    : { type: 'application/jwt' as const, body: signed, headers }
}

export default [
  route(
    'GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer',
    {
      summary: 'Read the metadata of an issuer',
      operationId: 'getIssuerMetadata',
      ...metadataContract,
    },
    replyMetadata,
  ),

  route(
    'GET /.well-known/openid-credential-issuer/oid4vci/issuers/{issuerId}',
    {
      summary: 'Read the metadata of an issuer, at the path of the specification',
      operationId: 'getIssuerMetadataAtInsertedPath',
      extension: true,
      ...metadataContract,
    },
    replyMetadata,
  ),

  route(
    'GET /.well-known/oauth-authorization-server/oid4vci/issuers/{issuerId}',
    {
      summary: 'Read the metadata of the built-in authorization server of an issuer',
      operationId: 'getAuthorizationServerMetadata',
      extension: true,
      ...forWallets,
      path,
      reply: [200, AuthorizationServerMetadata],
    },
    async ({ agent: { db, env } }, { path: { issuerId } }) => ({
      type: json,
      body: await readAuthorizationServerMetadata(db, env.urls.rest, issuerId),
    }),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/credential-types/{configurationId}',
    {
      summary: 'Read the type metadata of an SD-JWT VC',
      operationId: 'getCredentialTypeMetadata',
      extension: true,
      ...forWallets,
      path: { ...path, configurationId: z.string().max(255) },
      reply: [200, CredentialTypeMetadata],
    },
    async ({ agent: { db, env } }, { path: { issuerId, configurationId } }) => ({
      type: json,
      body: await readTypeMetadata(db, env.urls.rest, issuerId, configurationId),
    }),
  ),

  route(
    'GET /o/{shortId}',
    {
      summary: 'Retrieve a credential offer by its short URL',
      operationId: 'getCredentialOffer',
      extension: true,
      ...forWallets,
      path: { shortId: z.string().max(100) },
      reply: [200, OfferObject],
    },
    async ({ agent: { db, env, wallets } }, { path: { shortId } }) => {
      const walletId = await env.shortLinks.findWalletId(shortId)
      if (walletId === undefined) throw offerNotFound()
      const read = wallets.use(walletId, (wallet) => readOffer({ db, wallet }, shortId))
      return { type: json, body: await unlessDeleted(read, offerNotFound) }
    },
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/token',
    {
      summary: 'Redeem a pre-authorized code or an authorization code for an access token',
      operationId: 'redeemCode',
      extension: true,
      ...oauth,
      path,
      headers: ClientHeaders,
      form: true,
      body: TokenRequest,
      reply: [200, TokenResponse],
    },
    ({ agent }, { path: { issuerId }, headers, body: form }) =>
      toOAuthAnswer(
        withIssuer(agent, issuerId, (wallet, issuer) => redeemCode(wallet, issuer, { form, headers })),
      ),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/nonce',
    {
      summary: 'Get a nonce for a key proof',
      operationId: 'createIssuerNonce',
      extension: true,
      ...forWallets,
      path,
      reply: [200, Nonce],
    },
    async ({ agent }, { path: { issuerId } }) => ({
      type: json,
      body: await withIssuer(agent, issuerId, (wallet) =>
        Promise.resolve({ c_nonce: createNonce(wallet, issuerId) }),
      ),
    }),
  ),

  route(
    'POST /oid4vci/nonces',
    {
      summary: 'Get a nonce for the token response of an external authorization server',
      operationId: 'getNonce',
      ...forWallets,
      body: NonceRequest,
      reply: [200, NonceResponse],
    },
    async ({ agent }, { body: { issuerState } }) => {
      const issuerId = issuerIdIn(issuerState)
      if (issuerId === undefined) throw stateNotFound()
      const create = (wallet: Wallet) => createNonceFor(wallet, issuerId, issuerState)
      return { type: json, body: await withIssuer(agent, issuerId, create) }
    },
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/credentials',
    {
      summary: 'Request the credential of an offer, with an access token',
      operationId: 'oid4vciIssueCredential',
      ...oauth,
      path,
      headers: withToken,
      body: CredentialRequest,
      anyBody: true,
      reply: [200, CredentialResponse],
    },
    ({ agent }, { path: { issuerId }, headers, body }) =>
      toCredentialAnswer(
        withIssuer(agent, issuerId, (wallet, issuer) => issueToWallet(wallet, issuer, { ...headers, body })),
      ),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/deferred-credentials',
    {
      summary: 'Fetch a credential whose issuance was deferred',
      operationId: 'fetchDeferredCredential',
      extension: true,
      ...oauth,
      path,
      headers: withToken,
      body: DeferredCredentialRequest,
      anyBody: true,
      reply: [200, CredentialResponse],
    },
    ({ agent }, { path: { issuerId }, headers, body }) =>
      toCredentialAnswer(
        withIssuer(agent, issuerId, (wallet, issuer) =>
          issueDeferredToWallet(wallet, issuer, { ...headers, body }),
        ),
      ),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/notifications',
    {
      summary: 'Notify the issuer of what became of a credential',
      operationId: 'notifyIssuer',
      extension: true,
      ...oauth,
      path,
      headers: withToken,
      body: NotificationRequest,
      anyBody: true,
      reply: [204, null],
    },
    ({ agent }, { path: { issuerId }, headers, body }) =>
      toOAuthAnswer(
        withIssuer(agent, issuerId, (wallet, issuer) =>
          receiveNotification(wallet, issuer, { ...headers, body }),
        ),
      ),
  ),
] as const
