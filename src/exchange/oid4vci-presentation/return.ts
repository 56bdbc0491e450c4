/**
 * What follows a presentation before issuance: the consent page, if it is verified and the offer is for the
 * person.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { type CheckedRequest, grantIdOf } from '../oid4vci/authorization-request.ts'
import { withoutOffer } from '../oid4vci/begun-by-wallet.ts'
import { type Answered, orRefusal, readForm, type Refusal, requireUnanswered } from '../oid4vci/consent.ts'
import { toConsent } from '../oid4vci/consent-content.ts'
import type { IssuerRow } from '../oid4vci/issuers.ts'
import { personClaims } from '../oid4vci/person-claims.ts'
import { getMatched } from '../oid4vci/presentation/match.ts'
import { isVerified, toPresented } from '../oid4vci/presentation/presented.ts'
import { logRefusedStep } from '../oid4vci/request-log.ts'
import { redeemResponseCode } from '../oid4vp/requests.ts'
import { pageOf } from '../presentation/openid4vp.ts'
import { getBegun, type IssuancePresentation } from './presentation.ts'

/** The parameters of the return. */
export const PresentationReturn = z.object({
  id: z.string().describe('The presentation.'),
  response_code: z.string().optional().describe('As the wallet got it, if it is on the same device.'),
})
type Returned = z.output<typeof PresentationReturn>

/** @throws {LostPresentation}, {OAuthError} that the wallet is not told; {Problem} 409 for a used code */
export async function returnFromPresentation(
  wallet: Wallet,
  issuer: IssuerRow,
  { id, response_code: code, cookies }: Returned & { cookies: string | undefined },
): Promise<Answered | { refusal: Refusal }> {
  const record = await getBegun(wallet, { id, cookies })
  const { redirectUri, responseUri, issuance, expiresTime } = record.openid4vp
  const request = readForm(wallet, issuer, issuance.sealed)
  await requireUnanswered(wallet, request)
  await wallet.env.limitOffers(grantIdOf(request))
  if (code !== undefined) {
    await redeemResponseCode(wallet, id, code)
    return { redirect: redirectUri! }
  }
  if (record.state === 'RequestCreated' && !isOver(expiresTime * 1_000))
    return { redirect: pageOf(responseUri) }
  return orRefusal(
    wallet,
    issuer,
    request,
    async () => {
      await admit(wallet, issuer, request, record)
      return { consent: await toConsent(wallet, issuer, { ...request, presentationId: id }) }
    },
    'presentation',
  )
}

/** @throws {OAuthError} for a presentation that is not verified, or is not of whom the offer is for */
async function admit(
  wallet: Wallet,
  issuer: IssuerRow,
  request: CheckedRequest,
  record: IssuancePresentation,
): Promise<void> {
  const { grantId } = request
  if (!isVerified(record)) {
    const refusal = refusalOf(record)
    if (grantId !== undefined) await logRefusedStep(wallet, grantId, 'presentation', refusal)
    throw refusal
  }
  const presented = toPresented(record)
  const person = { identity: request.identity, presented }
  const all =
    grantId === undefined
      ? await withoutOffer(wallet, issuer, request.configurationIds ?? [])
      : await getMatched(wallet, request, { presentationId: record.id, presented })
  for (const terms of all) await personClaims(wallet, terms, person)
}

/** The tenant reads the failed check at the presentation. */
function refusalOf({ state, id }: IssuancePresentation): OAuthError {
  const reasons: Partial<Record<typeof state, string>> = {
    ProblemReportReceived: 'The person declined the presentation.',
    RequestCreated: 'Nothing was presented in time.',
    RequestExpired: 'Nothing was presented in time.',
  }
  return new OAuthError('access_denied', reasons[state] ?? `The presentation ${id} was refused.`)
}
