/** `/oid4vp`, `/r`: the endpoints of OpenID4VP requests that wallets call. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { findAnsweredSession } from '../../src/exchange/enterprise/openid4vp-answer.ts'
import {
  readRequestObject,
  requestNotFound,
  RequestUriForm,
} from '../../src/exchange/oid4vp/authorization-request.ts'
import { AuthorizationResponse } from '../../src/exchange/oid4vp/authorization-response.ts'
import { receiveFromPage } from '../../src/exchange/oid4vp/digital-response.ts'
import { receiveResponse, ResponseReceipt } from '../../src/exchange/oid4vp/response.ts'
import {
  readStatus,
  requestClosed,
  RequestStatus,
  type WatchedStatus,
} from '../../src/exchange/oid4vp/status.ts'
import { DigitalCredential } from '../../src/exchange/presentation/digital-credentials.ts'
import { digitalRequestsOf } from '../../src/exchange/presentation/openid4vp.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { route } from '../http/route.ts'
import type { PresentationRequestLink } from '../pages/presentation-request.ts'
import { livePage, replyLive } from '../pages/reply.ts'
import { useForOthers } from './_for-others.ts'
import { oauth, toOAuthAnswer } from './_oid4vci.ts'

const path = { token: z.string().max(100) }

/** The media type of signed requests (RFC 9101 §10). */
const jwt = 'application/oauth-authz-req+jwt' as const

const forWallets = {
  ...oauth,
  extension: true,
  perAddress: 'OID4VP_REQUESTS_PER_MINUTE',
  path,
} as const

const forRequests = {
  ...forWallets,
  media: [jwt, 'application/json'],
  reply: [200, z.string().describe('A signed Request Object.')],
} as const

export default [
  route(
    'GET /r/{token}',
    {
      summary: 'Retrieve the signed request for a presentation by its short URL',
      operationId: 'getShortAuthorizationRequest',
      ...forRequests,
    },
    ({ agent }, { path: { token } }) => toRequest(agent, token),
  ),

  route(
    'POST /r/{token}',
    {
      summary: 'Retrieve the signed request by its short URL, with a nonce of the wallet',
      operationId: 'getShortAuthorizationRequestByPost',
      ...forRequests,
      form: true,
      body: RequestUriForm,
    },
    ({ agent }, { path: { token }, body: form }) => toRequest(agent, token, form),
  ),

  route(
    'GET /oid4vp/requests/{token}',
    {
      summary: 'Retrieve the signed request for a presentation',
      operationId: 'getAuthorizationRequest',
      ...forRequests,
    },
    ({ agent }, { path: { token } }) => toRequest(agent, token),
  ),

  route(
    'POST /oid4vp/requests/{token}',
    {
      summary: 'Retrieve the signed request for a presentation, with a nonce of the wallet',
      operationId: 'getAuthorizationRequestByPost',
      ...forRequests,
      form: true,
      body: RequestUriForm,
    },
    ({ agent }, { path: { token }, body: form }) => toRequest(agent, token, form),
  ),

  route(
    'POST /oid4vp/requests/{token}/response',
    {
      summary: 'Send the presentations, or why there are none',
      operationId: 'sendAuthorizationResponse',
      ...forWallets,
      form: true,
      body: AuthorizationResponse,
      reply: [200, ResponseReceipt],
    },
    ({ agent }, { path: { token }, body: form }) =>
      toOAuthAnswer(
        withWallet(agent, token, (wallet) => receiveResponse(wallet, token, form, findAnsweredSession)),
      ),
  ),

  route(
    'POST /oid4vp/requests/{token}/digital-credential',
    {
      summary: 'Send what the page of the request got from the Digital Credentials API',
      operationId: 'sendDigitalCredential',
      ...forWallets,
      headers: z.object({ origin: z.string().max(300).optional().describe('The origin of the page.') }),
      body: DigitalCredential,
      reply: [200, ResponseReceipt],
    },
    ({ agent }, { path: { token }, headers: { origin }, body }) =>
      toOAuthAnswer(
        withWallet(agent, token, (wallet) =>
          receiveFromPage(wallet, token, origin, body, findAnsweredSession),
        ),
      ),
  ),

  route(
    'GET /oid4vp/requests/{token}/page',
    {
      summary: 'Read whether a presentation request is answered; a page with its QR code in a browser',
      operationId: 'getAuthorizationRequestPage',
      extension: true,
      access: 'public',
      perAddress: 'OID4VP_REQUESTS_PER_MINUTE',
      path,
      media: livePage.media,
      bodies: {
        'text/event-stream': z.string().meta({
          description: 'One event, `closed`, when the request is answered or expired. The stream then ends.',
        }),
      },
      reply: [200, RequestStatus],
    },
    ({ agent }, { path: { token }, ...input }) =>
      replyLive(agent.notifier, input, {
        read: () => withWallet(agent, token, (wallet) => readStatus(wallet, token)),
        toJson: ({ status }) => status,
        toPage: (watched, { presentationRequestPage }, texts) =>
          watched.next === undefined
            ? presentationRequestPage(texts, toLink(watched, agent.env.urls.rest))
            : { redirect: watched.next },
        watch(watched) {
          if (watched.status.state !== 'waiting') throw requestClosed()
          return watched
        },
      }),
  ),
] as const

function toLink({ status, remainingMs }: WatchedStatus, base: string): PresentationRequestLink {
  const { state, asked = [], authorizationRequest, expiresAt, issuersChecked } = status
  if (state !== 'waiting') return { state, issuersChecked }
  const { host } = new URL(base)
  return {
    state,
    asked,
    authorizationRequest,
    digitalRequests: digitalRequestsOf(status),
    endsAt: new Date(expiresAt),
    staleAfterMs: Math.max(0, remainingMs),
    host,
  }
}

async function toRequest(agent: Agent, token: string, form?: URLSearchParams) {
  try {
    const body = await withWallet(agent, token, (wallet) => readRequestObject(wallet, token, form))
    return { type: jwt, body }
  } catch (error) {
    return toOAuthAnswer(Promise.reject<object>(error))
  }
}

/** Runs `use` with the wallet of a request. @throws {Problem} 404 */
async function withWallet<T>(agent: Agent, token: string, use: (wallet: Wallet) => Promise<T>): Promise<T> {
  const { shortLinks, tokens } = agent.env
  // Earlier releases made longer tokens, and requests can wait for days.
  const walletId =
    (await shortLinks.findWalletId(token)) ?? (await tokens.findWalletId('presentation', token))
  if (walletId === undefined) throw requestNotFound()
  return useForOthers(agent, walletId, use, requestNotFound)
}
