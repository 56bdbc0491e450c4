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
import type { Departure } from '../../src/exchange/oid4vci/log-in/begin.ts'
import { LogInReturn } from '../../src/exchange/oid4vci/log-in/finish.ts'
import { returnFromLogIn } from '../../src/exchange/oid4vci/log-in/return.ts'
import { LostLogIn } from '../../src/exchange/oid4vci/log-in/state.ts'
import { beginPresentation, PresentationForm } from '../../src/exchange/oid4vci-presentation/begin.ts'
import { LostPresentation } from '../../src/exchange/oid4vci-presentation/presentation.ts'
import { PresentationReturn, returnFromPresentation } from '../../src/exchange/oid4vci-presentation/return.ts'
import { OAuthError } from '../../src/foundation/oauth/oauth-error.ts'
import { PushedResponse, pushRequest } from '../../src/exchange/oid4vci/sealed-request.ts'
import { Uuid } from '../../src/wallet/model.ts'
import { route, type Answer, type Contract, type Input } from '../http/route.ts'
import { replyPage } from '../pages/reply.ts'
import {
  assertOwnPage,
  ClientHeaders,
  FormHeaders,
  forPeople,
  oauth,
  toOAuthAnswer,
  withIssuer,
} from './_oid4vci.ts'

const path = { issuerId: Uuid }

const redirected = { ...forPeople, redirects: true } as const

/** Any values, since the endpoints show their own errors. */
const anyValues = ({ shape }: z.ZodObject) =>
  z.object(
    Object.fromEntries(
      Object.entries(shape).map(([name, type]) => {
        const { description } = type as z.ZodType
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

const headers = z.object({ cookie: z.string().optional() })

const parametersIn = (target: string) => new URLSearchParams(target.split('?').slice(1).join('?'))

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
      ...redirected,
      path,
      headers,
      query: anyValues(AuthorizationRequest),
    },
    ({ agent }, { path: { issuerId }, headers: { cookie: cookies }, target, ...input }) =>
      show(agent, input, () =>
        withIssuer(agent, issuerId, (wallet, issuer) =>
          openConsent(wallet, issuer, { parameters: parametersIn(target), cookies }),
        ),
      ),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/log-in',
    {
      summary: 'Return from the OpenID provider of the issuer to the page of an authorization request',
      operationId: 'returnFromLogIn',
      extension: true,
      ...redirected,
      path,
      headers,
      query: anyValues(LogInReturn),
    },
    ({ agent }, { path: { issuerId }, headers: { cookie: cookies }, target, ...input }) =>
      show(agent, input, () =>
        withIssuer(agent, issuerId, (wallet, issuer) =>
          returnFromLogIn(wallet, issuer, { parameters: parametersIn(target), cookies }),
        ),
      ),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/authorize',
    {
      summary: 'Accept or decline an authorization request, with the form of its page',
      operationId: 'answerAuthorizationRequest',
      extension: true,
      ...redirected,
      path,
      headers: FormHeaders,
      form: true,
      body: ConsentForm,
    },
    ({ agent }, { path: { issuerId }, headers, body, ...input }) =>
      show(agent, input, () => {
        assertOwnPage(headers, agent.env.urls.rest)
        return withIssuer(agent, issuerId, (wallet, issuer) => answerConsent(wallet, issuer, body))
      }),
  ),

  route(
    'POST /oid4vci/issuers/{issuerId}/presentation',
    {
      summary: 'Request the presentation that an authorization request needs, with the form of its page',
      operationId: 'beginPresentationBeforeIssuance',
      extension: true,
      ...redirected,
      path,
      headers: FormHeaders.extend(headers.shape),
      form: true,
      body: PresentationForm,
    },
    ({ agent }, { path: { issuerId }, headers: { cookie: cookies, ...headers }, body: form, ...input }) =>
      show(agent, input, () => {
        assertOwnPage(headers, agent.env.urls.rest)
        return withIssuer(agent, issuerId, (wallet, issuer) =>
          beginPresentation(wallet, issuer, { form, cookies }),
        )
      }),
  ),

  route(
    'GET /oid4vci/issuers/{issuerId}/presentation',
    {
      summary: 'Return from a presentation to the page of an authorization request',
      operationId: 'returnFromPresentationBeforeIssuance',
      extension: true,
      ...redirected,
      path,
      headers,
      query: PresentationReturn,
    },
    ({ agent }, { path: { issuerId }, headers: { cookie: cookies }, query, ...input }) =>
      show(agent, input, () =>
        withIssuer(agent, issuerId, (wallet, issuer) =>
          returnFromPresentation(wallet, issuer, { ...query, cookies }),
        ),
      ),
  ),
] as const

/** Redirects the browser, or shows a page, also for errors that the wallet is not told. */
function show(
  { env }: Agent,
  request: Pick<Input<Contract>, 'acceptsLanguage'>,
  work: () => Promise<Answered | { refusal: Refusal } | Departure>,
): Promise<Answer<'text/html'>> {
  return replyPage(request, async ({ consentPage, lostPage, refusalPage }, texts) => {
    try {
      const answered = await work()
      if ('redirect' in answered) return answered
      if ('refusal' in answered) return refusalPage(texts, answered.refusal)
      const { inLanguage, ...consent } = answered.consent
      const named = await inLanguage(texts.language)
      return consentPage(texts, { ...consent, ...named, host: new URL(env.urls.rest).host })
    } catch (error) {
      if (error instanceof LostLogIn) return lostPage(texts, 'lostLogIn', error)
      if (error instanceof LostPresentation) return lostPage(texts, 'lostPresentation', error)
      if (!(error instanceof OAuthError)) throw error
      // A person who has answered and reloads the page is done.
      const type = error instanceof ClosedRequest ? 'error:ShortLinkError:LinkClosed' : 'BadRequest'
      throw new Problem(type, error.message, { cause: error })
    }
  })
}
