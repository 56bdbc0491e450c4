/** What follows a log-in: the consent page, if the offer is for the person. */
import { isDeepStrictEqual } from 'node:util'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { CheckedRequest, getOpenRecords, grantIdOf, requireGrant } from '../authorization-request.ts'
import { withoutOffer } from '../begun-by-wallet.ts'
import { orRefusal, type Refusal, requireUnanswered } from '../consent.ts'
import { type Consent, toConsent } from '../consent-content.ts'
import { type ExpectedIdentity, openSecrets } from '../grant.ts'
import type { IssuerRow } from '../issuers.ts'
import { logRefusedStep } from '../request-log.ts'
import { personClaims } from '../person-claims.ts'
import { neededFor } from '../presentation/needed.ts'
import { finishLogIn } from './finish.ts'
import type { Identity } from './identity.ts'

/** @throws {LostLogIn}, {OAuthError} that the wallet is not told */
export async function returnFromLogIn(
  wallet: Wallet,
  issuer: IssuerRow,
  returned: { parameters: URLSearchParams; cookies: string | undefined },
): Promise<{ consent: Consent } | { refusal: Refusal }> {
  const logIn = await finishLogIn(wallet, issuer, returned)
  const request = CheckedRequest.parse(logIn.request)
  await requireUnanswered(wallet, request)
  const { grantId } = request
  await wallet.env.limitOffers(grantIdOf(request))
  return orRefusal(wallet, issuer, request, async () => {
    try {
      if ('refusal' in logIn) throw logIn.refusal
      await admit(wallet, issuer, request, logIn.identity)
    } catch (error) {
      if (error instanceof OAuthError && grantId !== undefined)
        await logRefusedStep(wallet, grantId, 'log-in', error)
      throw error
    }
    return { consent: await toConsent(wallet, issuer, { ...request, identity: logIn.identity }) }
  })
}

/** @throws {OAuthError} if the offer is for another person, or cannot be made of the claims of this one */
async function admit(
  wallet: Wallet,
  issuer: IssuerRow,
  request: CheckedRequest,
  identity: Identity,
): Promise<void> {
  const awaits = (await neededFor(wallet, issuer, request)) !== undefined
  if (request.grantId === undefined) {
    for (const terms of await withoutOffer(wallet, issuer, request.configurationIds ?? []))
      await personClaims(wallet, terms, { identity }, awaits)
    return
  }
  const grant = await requireGrant(wallet.db, request)
  const records = await getOpenRecords(wallet.db, grant, request.recordIds)
  const { expectedIdentity } = openSecrets(wallet, grant) ?? {}
  if (expectedIdentity && !isExpected(identity, expectedIdentity))
    throw new OAuthError(
      'access_denied',
      'The offer is for another person than the one who has logged in. The offer stays open.',
    )
  for (const record of records) await personClaims(wallet, record, { identity }, awaits)
}

/** Some providers say it in a text. */
const unverified: readonly unknown[] = [false, 'false']

/** An e-mail address that the provider calls unverified can be anyone’s (OpenID Connect Core §5.1). */
function isExpected({ sub, claims }: Identity, expected: ExpectedIdentity): boolean {
  const wanted = Object.entries(expected.claims ?? {})
  if ('email' in (expected.claims ?? {}) && unverified.includes(claims['email_verified'])) return false
  return (
    (expected.sub ?? sub) === sub && wanted.every(([name, value]) => isDeepStrictEqual(claims[name], value))
  )
}
