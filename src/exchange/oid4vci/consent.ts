/**
 * The authorization endpoint (VCI §5, RFC 6749 §4.1, RFC 9207): a person reads what an offer would issue,
 * enters the transaction code of the offer, and accepts or declines. Accepting makes the authorization code.
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { authorizedIn, createCode, findCode } from './authorization-code.ts'
import {
  checkRequest,
  type CheckedRequest,
  ClosedRequest,
  getOpenRecords,
  grantIdOf,
  readTarget,
  requireGrant,
} from './authorization-request.ts'
import { limitWithoutOffer } from './begun-by-wallet.ts'
import { type Consent, toConsent } from './consent-content.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { beginLogIn, type Departure } from './log-in/begin.ts'
import { logInOf } from './log-in/settings.ts'
import { isUsed } from './nonce.ts'
import { OAuthError, type OAuthErrorCode } from '../../foundation/oauth/oauth-error.ts'
import { readParameters, withParameters } from '../../foundation/oauth/parameters.ts'
import { presentedFor } from './presentation/needed.ts'
import type { Presented } from './presentation/presented.ts'
import { logRefusedStep } from './request-log.ts'
import { openRequest, readPushed, useRequest } from './sealed-request.ts'
import { findGrantById, type GrantRow, openSecrets, recordIdsOf } from './grant.ts'
import { guessTxCode } from './tx-code.ts'
import { providersOf } from './wallet-providers.ts'

/** The form of the page. */
export const ConsentForm = z
  .object({
    request: z.string().describe('The request, sealed.'),
    decision: z.enum(['accept', 'decline']),
    tx_code: z.string().optional(),
  })
  .meta({ id: 'ConsentForm' })

/** Why a request cannot be answered, and the URL that tells the wallet. `of` is what was wrong. */
export type Refusal = { reason: string; target: string; of: 'request' | Step }
/** What comes before the consent. */
type Step = 'log-in' | 'presentation'

/** A page, or the URL that the browser goes to. */
export type Answered = { consent: Consent } | { redirect: string }

/**
 * Reads an authorization request: parameters, or a pushed request. Writes nothing. The browser goes to the
 * log-in of the issuer first, if there is one. An error is shown on a page with a link to the redirect URI.
 * The browser is not redirected there at once: any tenant can make an offer, so the endpoint would be an open
 * redirector (RFC 9700 §4.11.2).
 *
 * @throws {OAuthError} that the wallet is not told
 */
export async function openConsent(
  wallet: Wallet,
  issuer: IssuerRow,
  { parameters, cookies }: { parameters: URLSearchParams; cookies: string | undefined },
): Promise<{ consent: Consent } | { refusal: Refusal } | Departure> {
  if (parameters.has('request_uri')) {
    const request = readPushed(wallet, issuer.id, parameters)
    await requireUnanswered(wallet, request)
    return orRefusal(wallet, issuer, request, () => enter(wallet, issuer, { request, cookies }))
  }
  if (providersOf(issuer)?.attestation === 'required')
    throw new OAuthError(
      'invalid_request',
      'request_uri is missing: this issuer requires pushed requests, with a wallet attestation.',
    )
  const target = await readTarget(wallet, issuer, parameters)
  const { redirect_uri: redirectUri, state } = target.request
  return orRefusal(wallet, issuer, { redirectUri, state }, async () =>
    enter(wallet, issuer, { request: checkRequest(target, wallet.env.urls.rest), cookies }),
  )
}

/** The page, or the way to the log-in before it. A log-in that cannot begin is a failure of the offer. */
async function enter(
  wallet: Wallet,
  issuer: IssuerRow,
  { request, cookies }: { request: CheckedRequest; cookies: string | undefined },
): Promise<{ consent: Consent } | Departure> {
  const logIn = logInOf(issuer)
  if (!logIn) return { consent: await toConsent(wallet, issuer, request) }
  const { grantId } = request
  if (grantId !== undefined)
    await getOpenRecords(wallet.db, await requireGrant(wallet.db, request), request.recordIds)
  return beginLogIn(wallet, issuer, logIn, { request, cookies }).catch(async (error: unknown) => {
    if (grantId === undefined) throw error
    await wallet.env.limitOffers(grantId)
    if (error instanceof OAuthError) await logRefusedStep(wallet, grantId, 'log-in', error)
    throw error
  })
}

/**
 * Stores the answer of a person. The same answer again, as of a double click, gets the first redirect again.
 *
 * @throws {OAuthError} that is not redirected
 */
export async function answerConsent(
  wallet: Wallet,
  issuer: IssuerRow,
  form: URLSearchParams,
): Promise<Answered> {
  const { request: sealed, decision, tx_code: txCode } = readParameters(ConsentForm, form)
  const request = readForm(wallet, issuer, sealed)
  await wallet.env.limitOffers(grantIdOf(request))
  const isAccepted = decision === 'accept'
  const presented = isAccepted ? await presentedFor(wallet, issuer, request) : undefined
  if (isAccepted) await limitWithoutOffer(wallet, issuer, request)
  const answered = await orRefusal(wallet, issuer, request, async (): Promise<Answered> => {
    const answer = await wallet.transaction(
      (tx) => storeAnswer(tx, wallet, issuer, { request, sealed, decision, txCode, presented }),
      // A wrong guess counts also in a full wallet.
      { isBounded: true },
    )
    if (answer instanceof OAuthError) throw answer
    if (answer.code === undefined) return { consent: await toConsent(wallet, issuer, request, true) }
    return { redirect: toRedirect(wallet, issuer, request, { code: answer.code }) }
  })
  return 'refusal' in answered ? { redirect: answered.refusal.target } : answered
}

type Form = {
  request: CheckedRequest
  sealed: string
  decision: 'accept' | 'decline'
  txCode: string | undefined
  presented: Presented | undefined
}

/** The request in the form of a page. @throws {OAuthError} for one that this issuer did not make, or not now */
export function readForm(wallet: Wallet, issuer: IssuerRow, sealed: string): CheckedRequest {
  const request = openRequest(wallet, issuer.id, 'form', sealed)
  if (!request) throw new OAuthError('invalid_request', 'request: it is not of a page of this issuer.')
  if (request.identity?.iss !== logInOf(issuer)?.issuer)
    throw new ClosedRequest(
      'invalid_request',
      'The log-in of the issuer has changed. Start again in the wallet.',
    )
  return request
}

/**
 * The authorization code; none if the transaction code was wrong and may be sent again. Returned errors
 * commit their writes.
 */
async function storeAnswer(
  tx: Tx,
  wallet: Wallet,
  issuer: IssuerRow,
  form: Form,
): Promise<{ code: string | undefined } | OAuthError> {
  const { request, decision } = form
  const grant =
    request.grantId === undefined ? await findGrantById(tx, request.id) : await requireGrant(tx, request)
  const earlier = (await isUsed(tx, request.id)) ? answerOf(wallet, grant, request) : undefined
  if (earlier && earlier.decision !== decision) throw answeredBefore()
  if (request.grantId !== undefined) {
    const guessed = await checkTxCode(tx, wallet, grant!, form)
    if (guessed) return guessed
  }
  await useRequest(tx, request)
  if (decision === 'decline') return new OAuthError('access_denied', 'The person declined the credential.')
  return { code: earlier?.code ?? (await createCode(tx, wallet, issuer.id, request, form.presented)) }
}

/** What an open offer answers to a wrong transaction code. Undefined for a right one, and if it has none. */
async function checkTxCode(
  tx: Tx,
  wallet: Wallet,
  grant: GrantRow,
  { sealed, decision, txCode = '' }: Form,
): Promise<{ code: undefined } | OAuthError | undefined> {
  const records = await getOpenRecords(tx, grant, recordIdsOf(grant))
  const { txCode: right } = openSecrets(wallet, grant) ?? {}
  if (decision === 'decline' || right === undefined) return undefined
  const given = txCode.replaceAll(/\s/g, '')
  const form = { id: `${sealed} ${given}` }
  // The same form again, as of a double click, is the same guess.
  if (await isUsed(tx, form.id)) return { code: undefined }
  const guesses = await guessTxCode(tx, { grant, records }, { right, given })
  if (guesses === undefined) return undefined
  await useRequest(tx, form)
  if (guesses === 0) return new OAuthError('access_denied', 'The transaction code was wrong too often.')
  return { code: undefined }
}

/** The first answer to a request. @throws {Problem} 410 if its code was redeemed or has expired */
function answerOf(
  wallet: Wallet,
  grant: GrantRow | undefined,
  { id }: CheckedRequest,
): { decision: 'accept' | 'decline'; code?: string } {
  const authorized = grant && authorizedIn(grant)
  // The grant has no code of this request: the person declined it, or a later request of the offer replaced
  // its code. Declining again changes nothing.
  if (!grant || authorized?.id !== id) return { decision: 'decline' }
  const code = findCode(wallet, grant, authorized)
  if (code === undefined) throw answeredBefore()
  return { decision: 'accept', code }
}

/** @throws {Problem} 410 if the request was answered */
export async function requireUnanswered({ db }: Wallet, { id }: CheckedRequest): Promise<void> {
  if (await isUsed(db, id)) throw answeredBefore()
}

function answeredBefore(): Problem {
  return new Problem(
    'error:ShortLinkError:LinkClosed',
    'The authorization request was answered before. Start again in the wallet.',
  )
}

/** The errors of a step before the consent. Those of requests are others. */
const ofStep: ReadonlySet<OAuthErrorCode> = new Set([
  'access_denied',
  'credential_request_denied',
  'server_error',
  'temporarily_unavailable',
])

type Origin = Pick<CheckedRequest, 'redirectUri' | 'state'>

/**
 * Returns the result of `work`, or its error, which is for the redirect URI of the request (RFC 6749
 * §4.1.2.1).
 */
export async function orRefusal<T>(
  wallet: Wallet,
  issuer: IssuerRow,
  request: Origin,
  work: () => Promise<T>,
  step: Step = 'log-in',
): Promise<T | { refusal: Refusal }> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const parameters = { error: error.code, error_description: error.message }
    const target = toRedirect(wallet, issuer, request, parameters)
    return { refusal: { reason: error.message, target, of: ofStep.has(error.code) ? step : 'request' } }
  }
}

/** A response for the wallet. `iss` tells it which server answers (RFC 9207). */
function toRedirect(
  { env }: Wallet,
  { id }: IssuerRow,
  { redirectUri, state }: Origin,
  parameters: Record<string, string>,
): string {
  return withParameters(redirectUri, { ...parameters, state, iss: identifierOf(env.urls.rest, id) })
}
