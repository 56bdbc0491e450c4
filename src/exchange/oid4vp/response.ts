/**
 * Authorization responses of wallets (OpenID4VP 1.0 §8): one that can be read and is of the request ends it,
 * valid or not.
 */
import * as z from 'zod'
import { isOver } from '../../foundation/clock.ts'
import { oneLine } from '../../foundation/foreign.ts'
import { Problem } from '../../foundation/problem.ts'
import { OAuthError, toFailure } from '../../foundation/oauth/oauth-error.ts'
import { withParameters } from '../../foundation/oauth/parameters.ts'
import { digestOf, newSecret } from '../../foundation/oauth/secrets.ts'
import { logRefused } from '../../wallet/outbox/message-log.ts'
import { getRecord } from '../engine/find.ts'
import { advance, updateData } from '../engine/record.ts'
import { presentProof } from '../presentation/model.ts'
import { toFailure as toVerificationFailure, toldProver } from '../presentation/verification.ts'
import { describeFailed } from '../../credentials/formats/checks.ts'
import type { PresentationCheck } from '../../credentials/formats/presented.ts'
import type { Session } from '../../credentials/formats/presentation.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import { writeIfRoom } from '../../wallet/quotas.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRequest, type RequestRecord } from './authorization-request.ts'
import { readResponse, readVpToken, type Response, type VpToken } from './authorization-response.ts'
import { findAnswer, findKey, storeAnswer, type StoredAnswer, storeResponseCode } from './session.ts'
import { verifyPresentations } from '../../wallet/verification/answer.ts'

export const ResponseReceipt = z
  .object({ redirect_uri: z.string().optional() })
  .meta({ id: 'OpenId4VpResponseReceipt' })
export type ResponseReceipt = z.infer<typeof ResponseReceipt>

/** The part of a stored response that a session shows. */
export type Outcome = Pick<RequestRecord['openid4vp'], 'checks' | 'credentials'>

/** A session that the response to a request answers. */
export type AnsweredSession = {
  /** The check of who answers. Without a failed check, it gets the presented credentials. */
  check(outcome: { [Member in keyof Outcome]-?: NonNullable<Outcome[Member]> }): Promise<PresentationCheck[]>
  /** Ends the session in the transaction that ends the request. False if it has ended already. */
  end(tx: Tx, outcome: Outcome): Promise<boolean>
}

/** The session of a record, if it has one. */
export type FindAnsweredSession = (
  wallet: Wallet,
  record: RequestRecord,
) => Promise<AnsweredSession | undefined>

/**
 * Receives a response at the `response_uri`. A response that is not of this request changes nothing but its
 * log.
 *
 * @throws {OAuthError} `invalid_request` with the reason; {Problem} 404, 503
 */
export async function receiveResponse(
  wallet: Wallet,
  token: string,
  form: URLSearchParams,
  findAnswered: FindAnsweredSession,
): Promise<ResponseReceipt> {
  const record = await getRequest(wallet, token)
  const { clientId: audience, responseUri, nonce } = record.openid4vp
  const arrived = {
    record,
    audience,
    digest: digestOf(form.toString()),
    opened: { handover: 'redirect' as const, clientId: audience, responseUri, nonce },
  }
  return receive(wallet, arrived, () => readResponse(wallet, record, form), findAnswered)
}

/**
 * A response to a record, by its digest. The holder must have signed for the audience, or the transcript of
 * the session that the request has opened.
 */
type Arrived = { record: RequestRecord; audience: string; digest: string; opened: Session }
/** A response with the session that it answers. */
type Received = Arrived & { session: AnsweredSession | undefined }

/**
 * Receives a response that `read` reads.
 *
 * @throws {OAuthError} `invalid_request` with the reason; {Problem} 503
 */
export async function receive(
  wallet: Wallet,
  arrived: Arrived,
  read: () => Promise<Response>,
  findAnswered: FindAnsweredSession,
): Promise<ResponseReceipt> {
  const { record, digest } = arrived
  const received = { ...arrived, session: await findAnswered(wallet, record) }
  try {
    await requireOpen(wallet, received)
    const response = await read()
    return response.error === undefined
      ? await receivePresentations(wallet, received, readVpToken(response.vp_token))
      : await receiveError(wallet, received, response)
  } catch (error) {
    if (!(error instanceof OAuthError) || error instanceof RefusedResponse) throw error
    const answered = error instanceof AnsweredRequest && (await findAnswer(wallet, record.id, digest))
    if (answered) return repeat(answered)
    await logRefusedResponse(wallet, record.id, error)
    throw error
  }
}

/** The same answer again, for a wallet that did not get it. */
function repeat({ redirectUri, refusal }: StoredAnswer): ResponseReceipt {
  if (refusal !== undefined) throw new RefusedResponse('invalid_request', refusal)
  return redirectUri === undefined ? {} : { redirect_uri: redirectUri }
}

/**
 * Stores why a response to an open request was refused, for the trace. The wallet may send a better one.
 * Refusals after the end of the flow are not logged, because whoever has the link can cause any number of
 * them.
 */
async function logRefusedResponse(wallet: Wallet, recordId: string, error: OAuthError): Promise<void> {
  await writeIfRoom(wallet, async (tx) => {
    const record = await getRecord(tx, presentProof, recordId)
    if (record.state !== 'RequestCreated') return
    const about = {
      thread: record.thid,
      type: 'authorization-response',
      to: record.openid4vp?.clientId ?? '',
    }
    await logRefused(tx, about, `${error.code}: ${error.message}`)
    await updateData(tx, record, { metaLastFailure: toFailure(error) })
  })
}

/** The error of a response that the record has stored. */
export class RefusedResponse extends OAuthError {}

/** Another response has ended the request. */
export class AnsweredRequest extends OAuthError {}

/** The characters of refused presentations that a record keeps. */
const longestRefused = 20_000

async function requireOpen(wallet: Wallet, { record }: Received): Promise<void> {
  if (record.state !== 'RequestCreated') throw isAnswered()
  if (!isOver(record.openid4vp.expiresTime * 1_000)) return
  await end(wallet, record.id, undefined, (tx) => advance(tx, presentProof, record, 'expired', {}))
  throw new OAuthError('invalid_request', 'The request has expired. Ask the verifier for a new one.')
}

async function receiveError(
  wallet: Wallet,
  received: Received,
  { error = '', error_description: detail }: Response,
): Promise<ResponseReceipt> {
  const code = oneLine(error, 100) || 'invalid_request'
  const metaLastFailure = {
    status: 400,
    type: code,
    title: code.replaceAll('_', ' '),
    ...(detail !== undefined && { detail: oneLine(detail, 500) }),
  }
  return finish(wallet, received, async (tx) => {
    await advance(tx, presentProof, received.record, 'received error', { metaLastFailure })
    await endSession(tx, received, {})
  })
}

async function receivePresentations(
  wallet: Wallet,
  received: Received,
  presented: VpToken,
): Promise<ResponseReceipt> {
  const { record, audience, digest, session, opened } = received
  const { dcqlQuery: query, nonce, issuers, sameHolder, transactionData } = record.openid4vp
  const encryptedTo = record.openid4vp.encryptionKey && (await findKey(wallet, record.id))
  const terms = {
    query,
    audience,
    nonce,
    session: { ...opened, encryptedTo },
    issuers,
    sameHolder,
    transactionData,
    requiresVcType: true,
  }
  const { checks, credentials } = await verifyPresentations(wallet, { ...record, ...terms }, presented)
  if (session) checks.push(...(await session.check({ checks, credentials })))
  const data = Object.values(presented).flat()
  const failed = describeFailed(checks)
  const count = (tx: Tx, result: 'accepted' | 'refused') =>
    noteCount(tx, 'agent_presentations_received_total', { format: record.credentialFormat, result })
  if (failed === undefined) {
    const change = {
      data,
      openid4vp: { ...record.openid4vp, checks, credentials },
      metaLastFailure: undefined,
    }
    return finish(wallet, received, async (tx) => {
      count(tx, 'accepted')
      await advance(tx, presentProof, record, 'verified presentation', change)
      await endSession(tx, received, { checks, credentials })
    })
  }
  const detail = `${failed}.`
  // Anyone with the link can send what is refused.
  const sum = data.reduce((length, each) => length + each.length, 0)
  const change = {
    ...(sum <= longestRefused && { data }),
    openid4vp: { ...record.openid4vp, checks },
    metaLastFailure: toVerificationFailure(detail),
  }
  const refusal = toldProver(detail)
  await end(wallet, record.id, { digest, refusal }, async (tx) => {
    count(tx, 'refused')
    await advance(tx, presentProof, record, 'refused response', change)
    await endSession(tx, received, { checks })
  })
  throw new RefusedResponse('invalid_request', refusal)
}

/** @throws {OAuthError} if the session was answered in another way, or has ended */
async function endSession(tx: Tx, { session }: Received, outcome: Outcome): Promise<void> {
  if (session && !(await session.end(tx, outcome))) throw isAnswered()
}

/** Ends the request, and sends the person back to the verifier if it wants that. */
async function finish(
  wallet: Wallet,
  { record, digest }: Received,
  write: (tx: Tx) => Promise<unknown>,
): Promise<ResponseReceipt> {
  const { redirectUri: target } = record.openid4vp
  const code = target === undefined ? undefined : newSecret()
  const redirectUri = code === undefined ? undefined : withParameters(target!, { response_code: code })
  const answer = { digest, redirectUri }
  await end(wallet, record.id, answer, async (tx) => {
    await write(tx)
    if (code !== undefined) await storeResponseCode(tx, record.id, code)
  })
  return repeat(answer)
}

/**
 * Writes the end of a request, and the answer to the wallet. Another response may have come meanwhile.
 *
 * @throws {OAuthError}
 */
async function end(
  wallet: Wallet,
  recordId: string,
  answer: StoredAnswer | undefined,
  write: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  try {
    await wallet.transaction(async (tx) => {
      await write(tx)
      await storeAnswer(tx, wallet, recordId, answer)
    })
  } catch (error) {
    if (error instanceof Problem && error.type === presentProof.problems.wrongState) throw isAnswered()
    throw error
  }
}

function isAnswered(): OAuthError {
  return new AnsweredRequest('invalid_request', 'The request was answered, withdrawn or has expired.')
}
