/**
 * The begin of a presentation before issuance: a request of OpenID4VP for the person of an authorization
 * request. Only a person who presses the button of the page makes its record.
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { readParameters } from '../../foundation/oauth/parameters.ts'
import { digestOf } from '../../foundation/oauth/secrets.ts'
import { firstFault } from '../../foundation/faults.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import {
  type CheckedRequest,
  getOpenRecords,
  grantIdOf,
  requireGrant,
} from '../oid4vci/authorization-request.ts'
import { limitWithoutOffer } from '../oid4vci/begun-by-wallet.ts'
import { type Answered, orRefusal, readForm, type Refusal, requireUnanswered } from '../oid4vci/consent.ts'
import { toConsent } from '../oid4vci/consent-content.ts'
import { identifierOf, type IssuerRow } from '../oid4vci/issuers.ts'
import type { Departure } from '../oid4vci/log-in/begin.ts'
import { toCookie } from '../oid4vci/log-in/state.ts'
import { type NeededPresentation, neededFor } from '../oid4vci/presentation/needed.ts'
import { sealRequest } from '../oid4vci/sealed-request.ts'
import { RequestByOpenId4Vp, requestByOpenId4Vp } from '../oid4vp/requests.ts'
import { pageOf } from '../presentation/openid4vp.ts'
import { type IssuancePresentation, LostPresentation } from './presentation.ts'

/** The form of the page. */
export const PresentationForm = z
  .object({ request: z.string().describe('The request, sealed.') })
  .meta({ id: 'PresentationForm' })

/** Requests the presentation, and sends the browser to its page. */
export async function beginPresentation(
  wallet: Wallet,
  issuer: IssuerRow,
  { form, cookies }: { form: URLSearchParams; cookies: string | undefined },
): Promise<Answered | { refusal: Refusal } | Departure> {
  const request = readForm(wallet, issuer, readParameters(PresentationForm, form).request)
  await requireUnanswered(wallet, request)
  await wallet.env.limitOffers(grantIdOf(request))
  await limitWithoutOffer(wallet, issuer, request, ' presentation')
  return orRefusal(wallet, issuer, request, async () => {
    if (request.grantId !== undefined)
      await getOpenRecords(wallet.db, await requireGrant(wallet.db, request), request.recordIds)
    const needed = await neededFor(wallet, issuer, request)
    if (!needed) return { consent: await toConsent(wallet, issuer, request) }
    const cookie = toCookie(wallet, cookies)
    const browser = digestOf(cookie.secret)
    const { openid4vp } = await requestPresentation(wallet, issuer, { request, needed, browser })
    if (openid4vp.issuance.browser !== browser) throw new LostPresentation()
    return { redirect: pageOf(openid4vp.responseUri), cookie: cookie.header }
  })
}

/**
 * Requests the presentation that an authorization request needs, once. `browser` is the digest of the cookie
 * of the browser that continues with the result.
 *
 * @throws {Problem} if the signer cannot be used
 */
export async function requestPresentation(
  wallet: Wallet,
  { id: issuerId }: Pick<IssuerRow, 'id'>,
  { request, needed, browser }: { request: CheckedRequest; needed: NeededPresentation; browser: string },
): Promise<IssuancePresentation> {
  const { sealed, expiresIn } = sealRequest(wallet, issuerId, 'form', request)
  const sameHolder = needed.dcqlQuery.credentials.length > 1
  const asked = { ...needed, responseMode: 'dc_api.jwt', expiresIn, sameHolder }
  const parsed = RequestByOpenId4Vp.safeParse(asked)
  if (!parsed.success) throw new Problem('BadRequest', `presentation.${firstFault(parsed.error)}.`)
  const url = `${identifierOf(wallet.env.urls.rest, issuerId)}/presentation?id=`
  const record = await requestByOpenId4Vp(wallet, parsed.data, {
    key: `issuance ${request.id}`,
    issuing: { issuance: { sealed, browser }, toRedirectUri: (id) => url + id },
  })
  return record as IssuancePresentation
}
