/**
 * The authorization endpoint (VCI §5, RFC 6749 §4.1, RFC 9207): a person reads what an offer would issue,
 * enters the transaction code of the offer, and accepts or declines. Accepting makes the authorization code.
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { getCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import { getRecord } from '../engine/find.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { authorizedIn, createCode, findCode } from './authorization-code.ts'
import {
  checkRequest,
  type CheckedRequest,
  getOpenRecord,
  readTarget,
  requireOpen,
} from './authorization-request.ts'
import { claimsOf } from './claims.ts'
import { findConfiguration } from './configurations.ts'
import { nameOf } from './display.ts'
import { identifierOf, type IssuerRow } from './issuers.ts'
import { isUsed } from './nonce.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { readParameters, withParameters } from '../../foundation/oauth/parameters.ts'
import { openRequest, readPushed, sealRequest, useRequest } from './sealed-request.ts'
import { getSession, openSecrets, type SessionRow } from './session.ts'
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

/** The content of the consent page. */
export type Consent = {
  /** The field `request` of the form. */
  sealed: string
  redirectUri: string
  /** The DID, or the subject of the certificate. */
  issuer: string | undefined
  /** What the issuer calls itself, and the credential. */
  issuerName: string | undefined
  credentialName: string
  /** The names of the claims. Their values are shown by the wallet, which the person has authorized. */
  claims: string[]
  /** Whether the offer has a transaction code, and where it comes from. */
  txCode: { description: string | undefined; isWrong: boolean; guesses: number } | undefined
}

/** Why a request cannot be answered, and the URL that tells the wallet. */
export type Refusal = { reason: string; target: string }

/** A page, or the URL that the browser goes to. */
export type Answered = { consent: Consent } | { redirect: string }

/**
 * Reads an authorization request: parameters, or a pushed request. Writes nothing. An error is shown on a
 * page with a link to the redirect URI. The browser is not redirected at once: any tenant can make an offer,
 * so the endpoint would be an open redirector (RFC 9700 §4.11.2).
 *
 * @throws {OAuthError} that the wallet is not told
 */
export async function openConsent(
  wallet: Wallet,
  issuer: IssuerRow,
  parameters: URLSearchParams,
): Promise<{ consent: Consent } | { refusal: Refusal }> {
  if (parameters.has('request_uri')) {
    const request = readPushed(wallet, issuer.id, parameters)
    if (await isUsed(wallet.db, request.id)) throw answeredBefore()
    return orRefusal(wallet, issuer, request, async () => ({
      consent: await toConsent(wallet, issuer, request),
    }))
  }
  if (providersOf(issuer)?.attestation === 'required')
    throw new OAuthError(
      'invalid_request',
      'request_uri is missing: this issuer requires pushed requests, with a wallet attestation.',
    )
  const target = await readTarget(wallet, issuer, parameters)
  const { redirect_uri: redirectUri, state } = target.request
  return orRefusal(wallet, issuer, { redirectUri, state }, async () => ({
    consent: await toConsent(wallet, issuer, checkRequest(target, wallet.env.urls.rest)),
  }))
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
  const request = openRequest(wallet, issuer.id, 'form', sealed)
  if (!request) throw new OAuthError('invalid_request', 'request: it is not of a page of this issuer.')
  await wallet.env.limitOffers(request.recordId)
  const answered = await orRefusal(wallet, issuer, request, async (): Promise<Answered> => {
    const answer = await wallet.transaction(
      (tx) => storeAnswer(tx, wallet, request, { sealed, decision, txCode }),
      // A wrong guess counts also in a full wallet.
      { isBounded: true },
    )
    if (answer instanceof OAuthError) throw answer
    if (answer.code === undefined) return { consent: await toConsent(wallet, issuer, request, true) }
    return { redirect: toRedirect(wallet, issuer, request, { code: answer.code }) }
  })
  return 'refusal' in answered ? { redirect: answered.refusal.target } : answered
}

type Form = { sealed: string; decision: 'accept' | 'decline'; txCode: string | undefined }

/**
 * The authorization code; none if the transaction code was wrong and may be sent again. Returned errors
 * commit their writes.
 */
async function storeAnswer(
  tx: Tx,
  wallet: Wallet,
  request: CheckedRequest,
  { sealed, decision, txCode = '' }: Form,
): Promise<{ code: string | undefined } | OAuthError> {
  const record = await getRecord(tx, issueCredential, request.recordId)
  const session = await getSession(tx, request.recordId)
  const earlier = (await isUsed(tx, request.id)) ? answerOf(wallet, { session, record }, request) : undefined
  if (earlier && earlier.decision !== decision) throw answeredBefore()
  requireOpen(record)
  const { txCode: right } = openSecrets(wallet, session) ?? {}
  if (decision === 'accept' && right !== undefined) {
    const given = txCode.replaceAll(/\s/g, '')
    const form = { id: `${sealed} ${given}` }
    // The same form again, as of a double click, is the same guess.
    if (await isUsed(tx, form.id)) return { code: undefined }
    const guesses = await guessTxCode(tx, { session, record }, { right, given })
    if (guesses !== undefined) await useRequest(tx, form)
    if (guesses === 0) return new OAuthError('access_denied', 'The transaction code was wrong too often.')
    if (guesses !== undefined) return { code: undefined }
  }
  await useRequest(tx, request)
  if (decision === 'decline') return new OAuthError('access_denied', 'The person declined the credential.')
  return { code: earlier?.code ?? (await createCode(tx, wallet, request)) }
}

/** The first answer to a request. @throws {Problem} 410 if its code was redeemed or has expired */
function answerOf(
  wallet: Wallet,
  { session, record }: { session: SessionRow; record: CredentialRecord },
  { id }: CheckedRequest,
): { decision: 'accept' | 'decline'; code?: string } {
  const authorized = authorizedIn(session)
  // The session has no code of this request: the person declined it, or a later request of the offer replaced
  // its code. Declining again changes nothing.
  if (authorized?.id !== id) return { decision: 'decline' }
  const code = findCode(wallet, authorized, record)
  if (code === undefined) throw answeredBefore()
  return { decision: 'accept', code }
}

function answeredBefore(): Problem {
  return new Problem(
    'error:ShortLinkError:LinkClosed',
    'The authorization request was answered before. Start again in the wallet.',
  )
}

type Origin = Pick<CheckedRequest, 'redirectUri' | 'state'>

/**
 * Returns the result of `work`, or its error, which is for the redirect URI of the request (RFC 6749
 * §4.1.2.1).
 */
async function orRefusal<T>(
  wallet: Wallet,
  issuer: IssuerRow,
  request: Origin,
  work: () => Promise<T>,
): Promise<T | { refusal: Refusal }> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const parameters = { error: error.code, error_description: error.message }
    const target = toRedirect(wallet, issuer, request, parameters)
    return { refusal: { reason: error.message, target } }
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

async function toConsent(
  wallet: Wallet,
  issuer: IssuerRow,
  request: CheckedRequest,
  isWrong = false,
): Promise<Consent> {
  const { claims, issuingDID, issuerCertificateId } = await getOpenRecord(wallet.db, request.recordId)
  const session = await getSession(wallet.db, request.recordId)
  const secrets = openSecrets(wallet, session)
  const configuration = await findConfiguration(wallet.env.db, issuer.id, session.configuration_id)
  const titles = new Map(configuration && claimsOf(configuration).map(({ name, title }) => [name, title]))
  return {
    sealed: sealRequest(wallet, issuer.id, 'form', request).sealed,
    redirectUri: request.redirectUri,
    issuer:
      issuerCertificateId === undefined
        ? issuingDID
        : (await getCertificate(wallet.db, issuerCertificateId)).subject,
    issuerName: nameOf(issuer),
    credentialName: (configuration && nameOf(configuration)) ?? session.configuration_id,
    claims: Object.keys(claims).map((name) => titles.get(name) ?? name),
    txCode:
      secrets?.txCode === undefined
        ? undefined
        : { description: secrets.txCodeHint?.description, isWrong, guesses: session.guesses },
  }
}
