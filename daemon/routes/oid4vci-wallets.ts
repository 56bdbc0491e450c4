/** `/oid4vci`: the endpoints of OpenID4VCI issuers that wallets call. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { CredentialRequest } from '../../src/exchange/oid4vci/credential-request.ts'
import { CredentialResponse, issueToWallet, type Sent } from '../../src/exchange/oid4vci/credential.ts'
import { DeferredCredentialRequest, issueDeferredToWallet } from '../../src/exchange/oid4vci/deferred.ts'
import {
  createNonce,
  createNonceFor,
  NonceRequest,
  NonceResponse,
  stateNotFound,
} from '../../src/exchange/oid4vci/nonce.ts'
import { NotificationRequest, receiveNotification } from '../../src/exchange/oid4vci/notification.ts'
import {
  offerLink,
  offerNotFound,
  OfferObject,
  offerUrl,
  readOffer,
  type OpenOffer,
} from '../../src/exchange/oid4vci/offer-object.ts'
import { issuerIdIn } from '../../src/exchange/oid4vci/grant.ts'
import { revokeToken, RevocationRequest } from '../../src/exchange/oid4vci/refresh.ts'
import { readStaticOffer } from '../../src/exchange/oid4vci/static-offer.ts'
import { TokenResponse } from '../../src/exchange/oid4vci/token-response.ts'
import { redeemCode, TokenRequest } from '../../src/exchange/oid4vci/token.ts'
import { unlessDeleted } from '../../src/foundation/storage/transferred.ts'
import { Uuid } from '../../src/wallet/model.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { route } from '../http/route.ts'
import { livePage, pageMedia, replyInForm, replyLive } from '../pages/reply.ts'
import {
  ClientHeaders,
  Dpop,
  forWallets,
  oauth,
  orOAuthError,
  toOAuthAnswer,
  uncached,
  withIssuer,
} from './_oid4vci.ts'

const path = { issuerId: Uuid }
const Nonce = z.object({ c_nonce: z.string() }).meta({ id: 'OpenIdNonceResponse' })
const json = 'application/json' as const

const withToken = z.object({
  authorization: z.string().optional().describe('`Bearer` or `DPoP`, and the access token.'),
  dpop: Dpop,
})

/** The contract of endpoints that take encrypted requests and send encrypted responses (VCI §10). */
const credentialContract = {
  ...oauth,
  media: ['application/json', 'application/jwt'],
  path,
  headers: withToken,
  anyBody: true,
  reply: [200, CredentialResponse],
  bodies: { 'application/jwt': z.string().describe('The response as JWE, if the request asks for it.') },
} as const

/** VCI §8.3: a deferred issuance has another status. */
function toCredentialAnswer(sent: Promise<Sent>) {
  const send = async () => {
    const { isDeferred, body } = await sent
    const type = typeof body === 'string' ? ('application/jwt' as const) : json
    return { status: isDeferred ? 202 : 200, type, body, headers: uncached }
  }
  return orOAuthError(send())
}

async function openOffer({ db, env, wallets }: Agent, shortId: string): Promise<OpenOffer> {
  const walletId = await env.shortLinks.findWalletId(shortId)
  if (walletId === undefined) throw offerNotFound()
  return unlessDeleted(
    wallets.use(walletId, (wallet) => readOffer({ db, wallet }, shortId)),
    offerNotFound,
  )
}

export default [
  route(
    'GET /o/{shortId}',
    {
      summary: 'Retrieve a credential offer by its short URL; a page in a browser',
      operationId: 'getCredentialOffer',
      extension: true,
      ...forWallets,
      ...livePage,
      path: { shortId: z.string().max(100) },
      reply: [200, OfferObject],
    },
    ({ agent }, { path: { shortId }, ...input }) =>
      replyLive(agent.notifier, input, {
        read: () => openOffer(agent, shortId),
        toJson: ({ offer }) => offer,
        toPage: async ({ inLanguage, hasTxCode, endsAt }, { offerPage }, texts) =>
          offerPage(texts, {
            link: offerLink(offerUrl(agent.env.urls.rest, shortId)),
            host: new URL(agent.env.urls.rest).host,
            ...(await inLanguage(texts.language)),
            hasTxCode,
            endsAt,
          }),
        // VCI has no status of its own for an offer that has ended.
        closedBefore: [404, 410],
        watch: (open) => ({ ...open, remainingMs: open.endsAt.getTime() - Date.now() }),
      }),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/offers/{configurationId}',
    {
      summary: 'Retrieve an offer without end, of a credential that needs no other; a page in a browser',
      operationId: 'getStaticCredentialOffer',
      extension: true,
      ...forWallets,
      media: pageMedia,
      path: { ...path, configurationId: z.string().max(255).describe('The id, or `all`.') },
      reply: [200, OfferObject],
    },
    ({ agent }, { path: { issuerId, configurationId }, ...input }) =>
      replyInForm(input, {
        read: () =>
          withIssuer(agent, issuerId, (wallet, issuer) => readStaticOffer(wallet, issuer, configurationId)),
        toJson: ({ offer }) => offer,
        toPage: async ({ url, inLanguage }, { offerPage }, texts) =>
          offerPage(texts, {
            link: offerLink(url),
            host: new URL(agent.env.urls.rest).host,
            ...(await inLanguage(texts.language)),
            hasTxCode: false,
          }),
      }),
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
    'POST /oid4vci/issuers/{issuerId}/revoke',
    {
      summary: 'Revoke a refresh token or an access token, by the wallet that has its key',
      operationId: 'revokeIssuanceToken',
      extension: true,
      ...oauth,
      path,
      headers: ClientHeaders,
      form: true,
      body: RevocationRequest,
      reply: [200, null],
    },
    ({ agent }, { path: { issuerId }, headers, body: form }) =>
      toOAuthAnswer(
        withIssuer(agent, issuerId, (wallet, issuer) => revokeToken(wallet, issuer, { form, headers })),
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
      ...credentialContract,
      body: CredentialRequest,
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
      ...credentialContract,
      body: DeferredCredentialRequest,
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
