/** `/oid4vp`: the endpoints of OpenID4VP requests that wallets call. */
import * as z from 'zod'
import type { Agent } from '../../src/agent.ts'
import { readRequestObject, requestNotFound, RequestUriForm } from '../../src/oid4vp/authorization-request.ts'
import { AuthorizationResponse } from '../../src/oid4vp/authorization-response.ts'
import { receiveResponse, ResponseReceipt } from '../../src/oid4vp/response.ts'
import { unlessDeleted } from '../../src/storage/transferred.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { route } from '../http/route.ts'
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
      toOAuthAnswer(withWallet(agent, token, (wallet) => receiveResponse(wallet, token, form))),
  ),
] as const

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
  const walletId = await agent.env.tokens.findWalletId('presentation', token)
  if (walletId === undefined) throw requestNotFound()
  return unlessDeleted(agent.wallets.use(walletId, use), requestNotFound)
}
