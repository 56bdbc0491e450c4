/**
 * Sends the wallet's response to a request over OpenID4VP: the form, its encryption, and the delivery
 * (OpenID4VP 1.0 §8.2, §8.3, §8.5).
 */
import * as z from 'zod'
import { isOver, steadyNow } from '../../../foundation/clock.ts'
import { ifValid, isPassingStatus, oneLine } from '../../../foundation/foreign.ts'
import { parseJson } from '../../../foundation/json.ts'
import { encryptTo } from '../../../foundation/oauth/encryption-choice.ts'
import type { Task, Wallet } from '../../../wallet/wallet.ts'
import { getRecord } from '../../engine/find.ts'
import { advance, updateData, updateWithEvent } from '../../engine/record.ts'
import { NotDelivered, readRetryAfter } from '../../engine/send.ts'
import type { PresentationChange } from '../../presentation/format.ts'
import { presentProof, type PresentationRecord } from '../../presentation/model.ts'
import type { StoredRequest } from '../../presentation/openid4vp-request.ts'

const limits = { timeoutMs: 10_000, maxBytes: 65_536 }

/** The parameters of a response that need no other ones. */
export type ResponseError = { error: string; error_description?: string }

type Content = { vp_token: Record<string, string[]> } | ResponseError

/** The parameters of a response, encrypted if the verifier has asked for that. */
export async function toParameters(
  { encryption, state }: Pick<StoredRequest, 'encryption' | 'state'>,
  content: Content,
): Promise<(Content & { state?: string }) | { response: string }> {
  const all = { ...content, ...(state !== undefined && { state }) }
  return encryption ? { response: await encryptTo(encryption, all) } : all
}

/** The form of a response. */
export async function toForm(...parts: Parameters<typeof toParameters>): Promise<string> {
  const texts = Object.entries(await toParameters(...parts)).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return new URLSearchParams(texts).toString()
}

/** The verifier's answer. `refusal` is its error, if it refuses the response. */
type Receipt = { status: number; redirectUri?: string; refusal?: { error: string; detail: string } }

const Answer = z.looseObject({
  redirect_uri: ifValid(z.string().max(2_000)),
  error: ifValid(z.string()),
  error_description: ifValid(z.string()),
})

/**
 * Posts a response once.
 *
 * @throws {NotDelivered}, {UnreachableError} if another attempt may succeed
 * @throws {NoFreeConnectionError | ServerDownError} if nothing was sent
 */
export async function postResponse(wallet: Wallet, responseUri: string, body: string): Promise<Receipt> {
  const { destinations, http } = wallet.env
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const { status, text, retryAfter } = await destinations.run(responseUri, wallet.id, () =>
    http.exchange(responseUri, { purpose: 'message', method: 'POST', headers, body, ...limits }),
  )
  const answer = readAnswer(text)
  const redirect = readRedirect(answer.redirect_uri)
  if (status < 300) return { status, ...redirect }
  if (isPassingStatus(status))
    throw new NotDelivered(`The verifier answered ${status}.`, {
      waitMs: readRetryAfter(retryAfter, Date.now()),
    })
  const { error = 'invalid_request', error_description: detail = `The verifier answered ${status}.` } = answer
  // The person continues at the verifier after a refusal too, if it says where (§8.2).
  return {
    status,
    ...redirect,
    refusal: { error: oneLine(error, 100) || 'invalid_request', detail: oneLine(detail, 500) },
  }
}

function readAnswer(text: string): z.infer<typeof Answer> {
  try {
    return Answer.parse(parseJson(text))
  } catch {
    // The status alone decides.
    return {}
  }
}

/** Schemes that run code or open files in a browser. */
const dangerous = ['javascript:', 'data:', 'file:', 'blob:', 'vbscript:']

function readRedirect(uri: string | undefined): { redirectUri?: string } {
  if (uri === undefined || !URL.canParse(uri) || dangerous.includes(new URL(uri).protocol)) return {}
  return { redirectUri: uri }
}

/** The record of a prover with a request over OpenID4VP. */
export type WithRequest = PresentationRecord & { openid4vpRequest: StoredRequest }

/**
 * Delivers the response of an accepted request. The last attempt is before the request expires, and within
 * `MESSAGE_RETRY_FOR`.
 */
export async function deliverResponse(wallet: Wallet, record: WithRequest): ReturnType<Task> {
  const { id, openid4vpRequest: request } = record
  if (request.digital) return returnResponse(id)
  if (isGivenUp(wallet, record)) return (tx) => advance(tx, presentProof, record, 'expired', {})
  // A verifier that has the response already refuses the next one. The flag tells that from a refusal of the
  // first.
  const isFirst = request.isAttempted !== true
  if (isFirst)
    await wallet.transaction(async (tx) => {
      const current = await getRecord(tx, presentProof, id)
      await updateData(tx, current, { openid4vpRequest: { ...request, isAttempted: true } })
    })
  const { status, redirectUri, refusal } = await postResponse(wallet, request.responseUri, request.response!)
  const outcome = refusal ? `${status}, ${refusal.error}: ${refusal.detail}` : `${status}`
  const change = {
    openid4vpRequest: {
      ...request,
      isAttempted: true,
      redirectUri,
      steps: [...request.steps, { step: 'response', detail: `POST ${request.responseUri}: ${outcome}` }],
    },
    metaLastFailure: refusal && {
      status,
      type: refusal.error,
      title: refusal.error.replaceAll('_', ' '),
      detail: isFirst
        ? refusal.detail
        : `An earlier attempt may have delivered the presentation. A repeated one was refused: ${refusal.detail}`,
    },
  }
  return async (tx) => {
    const current = await getRecord(tx, presentProof, id)
    if (current.state !== 'PresentationPending') return
    await advance(
      tx,
      presentProof,
      current,
      refusal && isFirst ? 'received error' : 'delivered response',
      change,
    )
  }
}

/** The platform takes the response from the record. */
function returnResponse(id: string): Awaited<ReturnType<Task>> {
  return async (tx) => {
    const current = await getRecord(tx, presentProof, id)
    if (current.state === 'PresentationPending')
      await advance(tx, presentProof, current, 'delivered response', {})
  }
}

const declined = { error: 'access_denied', error_description: 'The holder has declined the request.' }

/**
 * The change of a record whose request is declined. An error of the Digital Credentials API is its code alone
 * (Appendix A.4).
 */
export function declineChange({ openid4vpRequest: request }: WithRequest): PresentationChange {
  if (!request.digital) return {}
  const { protocol } = request.digital
  const digitalCredential = { protocol, data: { error: declined.error } }
  return { openid4vpRequest: { ...request, digitalCredential } }
}

/**
 * Tells the verifier that its request was declined. Its answer, or that it cannot be reached, changes
 * nothing.
 */
export const deliverRefusal: Task = async (wallet, recordId) => {
  const record = (await getRecord(wallet.db, presentProof, recordId)) as WithRequest
  if (record.openid4vpRequest.digital || isGivenUp(wallet, record)) return () => Promise.resolve()
  const { openid4vpRequest: request } = record
  const form = await toForm(request, declined)
  const { status, redirectUri } = await postResponse(wallet, request.responseUri, form)
  return async (tx) => {
    const step = { step: 'response', detail: `POST ${request.responseUri}, access_denied: ${status}` }
    const current = await getRecord(tx, presentProof, recordId)
    const openid4vpRequest = { ...request, redirectUri, steps: [...request.steps, step] }
    await updateWithEvent(tx, presentProof, current, { openid4vpRequest })
  }
}

function isGivenUp(
  { env }: Wallet,
  { openid4vpRequest, createdAt, updatedAt = createdAt }: WithRequest,
): boolean {
  const { expiresTime } = openid4vpRequest
  if (expiresTime !== undefined && isOver(expiresTime * 1_000)) return true
  return steadyNow() >= Date.parse(updatedAt) + env.config.MESSAGE_RETRY_FOR * 1_000
}
