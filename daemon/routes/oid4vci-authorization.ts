/**
 * `/oid4vci`: the authorization endpoints of OpenID4VCI issuers: pushed requests, and the page where a person
 * consents.
 */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { AuthorizationRequest, ClosedRequest } from '../../src/exchange/oid4vci/authorization-request.ts'
import {
  answerConsent,
  type Answered,
  ConsentForm,
  openConsent,
  type Refusal,
} from '../../src/exchange/oid4vci/consent.ts'
import { OAuthError } from '../../src/foundation/oauth/oauth-error.ts'
import { PushedResponse, pushRequest } from '../../src/exchange/oid4vci/sealed-request.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { route, type Answer, type Contract, type Input } from '../http/route.ts'
import { replyPage } from '../pages/reply.ts'
import { ClientHeaders, forWallets, oauth, toOAuthAnswer, withIssuer } from './_oid4vci.ts'

const path = { issuerId: Uuid }

const forPeople = { ...forWallets, media: ['text/html'], redirects: true, reply: [200, z.string()] } as const

/** Any values, since the endpoint shows its own errors. */
const query = z.object(
  Object.fromEntries(
    Object.entries(AuthorizationRequest.shape).map(([name, type]) => {
      const { description } = type
      return [
        name,
        z
          .unknown()
          .optional()
          .meta({ type: 'string', ...(description && { description }) }),
      ]
    }),
  ),
)

export default [
  route(
    'POST /oid4vci/issuers/{issuerId}/par',
    {
      summary: 'Push an authorization request',
      operationId: 'pushAuthorizationRequest',
      extension: true,
      ...oauth,
      path,
      headers: ClientHeaders,
      form: true,
      body: AuthorizationRequest,
      reply: [201, PushedResponse],
    },
    ({ agent }, { path: { issuerId }, headers, body: parameters }) =>
      toOAuthAnswer(
        withIssuer(agent, issuerId, (wallet, issuer) => pushRequest(wallet, issuer, { parameters, headers })),
      ),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/authorize',
    {
      summary: 'Show a person what an authorization request would issue; a page in a browser',
      operationId: 'showAuthorizationRequest',
      extension: true,
      ...forPeople,
      path,
      query,
    },
    ({ agent }, { path: { issuerId }, target, ...input }) => {
      const parameters = new URLSearchParams(target.split('?').slice(1).join('?'))
      return show(agent, input, () =>
        withIssuer(agent, issuerId, (wallet, issuer) => openConsent(wallet, issuer, parameters)),
      )
    },
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/authorize',
    {
      summary: 'Accept or decline an authorization request, with the form of its page',
      operationId: 'answerAuthorizationRequest',
      extension: true,
      ...forPeople,
      path,
      headers: z.object({ origin: z.string().optional(), 'sec-fetch-site': z.string().optional() }),
      form: true,
      body: ConsentForm,
    },
    ({ agent }, { path: { issuerId }, headers, body, ...input }) =>
      show(agent, input, () => {
        assertOwnPage(headers, agent.env.urls.rest)
        return withIssuer(agent, issuerId, (wallet, issuer) => answerConsent(wallet, issuer, body))
      }),
  ),
] as const

/** Redirects the browser, or shows a page, also for errors that the wallet is not told. */
function show(
  { env }: Agent,
  request: Pick<Input<Contract>, 'acceptsLanguage'>,
  work: () => Promise<Answered | { refusal: Refusal }>,
): Promise<Answer<'text/html'>> {
  return replyPage(request, async ({ consentPage, refusalPage }, texts) => {
    try {
      const answered = await work()
      if ('redirect' in answered) return answered
      if ('refusal' in answered) return refusalPage(texts, answered.refusal)
      return consentPage(texts, { ...answered.consent, host: new URL(env.urls.rest).host })
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      // A person who has answered and reloads the page is done.
      const type = error instanceof ClosedRequest ? 'error:ShortLinkError:LinkClosed' : 'BadRequest'
      throw new Problem(type, error.message, { cause: error })
    }
  })
}

/**
 * The form must come from the page of this agent: browsers say so by one of these headers (Fetch Metadata,
 * RFC 6454).
 *
 * @throws {Problem} 403
 */
function assertOwnPage(
  { origin, 'sec-fetch-site': site }: { origin?: string | undefined; 'sec-fetch-site'?: string | undefined },
  base: string,
): void {
  const isOwn = (origin ?? new URL(base).origin) === new URL(base).origin
  if (!isOwn || (site ?? 'same-origin') !== 'same-origin')
    throw new Problem('Not Allowed', 'The form was sent by a page of another site.')
}
