/**
 * Sends a DIDComm message: encrypts it for the recipient, wraps it for the mediators in between, and posts it
 * once. Every attempt is encrypted anew, because mediators refuse envelopes that they have seen.
 */
import { randomId } from '../../foundation/id.ts'
import { isPassingStatus } from '../../foundation/foreign.ts'
import { across } from '../../foundation/probe.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { traceContext } from '../../foundation/spans.ts'
import { keysFor, type Resolve } from '../../did/document.ts'
import { peerDidsOnly } from '../../did/peer.ts'
import { packAuthcrypt, type Recipient, wrapForward } from '../didcomm/pack.ts'
import { findRecipient, getRoute, NoRouteError, type Route } from '../didcomm/route.ts'
import type { MessageBody } from '../../wallet/outbox/job.ts'
import { findPeerKey } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'

/** The message was not delivered. */
export class NotDelivered extends Error {
  override name = 'NotDelivered'
  /**
   * True if another attempt would fail as well: the other side refused the message, or it has no reachable
   * endpoint.
   */
  readonly isFinal: boolean
  /** The pause that the other side asks for (`Retry-After`). */
  readonly waitMs: number | undefined

  constructor(
    message: string,
    {
      isFinal = false,
      waitMs,
      cause,
    }: { isFinal?: boolean; waitMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.isFinal = isFinal
    this.waitMs = waitMs
  }
}

/** How long the other side has to answer. */
const timeoutMs = 10_000

const headers = { 'content-type': 'application/didcomm-encrypted+json' }

/** The longest pause that the other side may ask for. */
const longestWaitMs = 3_600_000

/**
 * Packs a message for the recipient's key that `resolve` finds, and posts it once. The message id is the same
 * in every attempt. Returns the start and the duration of the request.
 *
 * @throws {NotDelivered} if the other side has no endpoint, or its answer is not 2xx
 * @throws {UnreachableError} if the endpoint cannot be reached
 * @throws {NoFreeConnectionError | ServerDownError} if the endpoint must not be used now; nothing was sent
 */
export async function sendMessage(
  wallet: Wallet,
  id: string,
  { from, to, message }: MessageBody,
  resolve: Resolve,
): Promise<{ at: Date; durationMs: number }> {
  const sender = await senderKey(wallet, from)
  const { recipient, route } = await findRecipientRoute(wallet, to, resolve, sender.privateJwk.crv)
  const { config, destinations, http } = wallet.env
  const traceparent = config.TRACE_PEERS ? traceContext() : undefined
  const { answer, ...attempt } = await destinations.run(route.url, wallet.id, async () => {
    const created_time = Math.floor(Date.now() / 1_000)
    const plaintext = {
      id,
      typ: 'application/didcomm-plain+json',
      from,
      to: [to],
      created_time,
      ...message,
      ...(traceparent !== undefined && { traceparent }),
    }
    const envelope = packAuthcrypt(plaintext, { sender, recipients: [recipient] })
    const body = wrapForward(envelope, route.hops, randomId)
    const [at, start] = [new Date(), performance.now()]
    const answer = await across('message', { walletId: wallet.id, url: route.url }, () =>
      http.post(route.url, { purpose: 'message', headers, body, timeoutMs }),
    )
    return { answer, at, durationMs: performance.now() - start }
  })
  requireAccepted(answer)
  return attempt
}

async function senderKey(wallet: Wallet, did: string) {
  const keyId = keysFor(await wallet.env.resolver.document(did), 'keyAgreement')[0]?.id
  const key = keyId === undefined ? undefined : await findPeerKey(wallet, keyId)
  if (!key) throw new Error(`the wallet has no key for ${did}`)
  return key
}

/**
 * The recipient's key on the sender's curve, and the route to it. Faults of its document are final, because a
 * did:peer never changes. Mediators must have a did:peer.
 *
 * @throws {NotDelivered} if the DID does not resolve, or has no such key or no route
 * @throws {Problem} `error:ServiceUnavailable` if the DID does not resolve for now
 */
export async function findRecipientRoute(
  wallet: Wallet,
  did: string,
  resolve: Resolve,
  curve: string,
): Promise<{ recipient: Recipient; route: Route }> {
  try {
    const document = await resolve(did)
    const recipient = findRecipient(document, curve)
    if (!recipient) throw new NoRouteError(`The DID ${did} has no ${curve} key to encrypt for.`)
    return { recipient, route: await getRoute(document, peerDidsOnly(wallet.env.resolver.document)) }
  } catch (error) {
    if (isTemporary(error)) throw error
    if (error instanceof NoRouteError || error instanceof Problem)
      throw new NotDelivered(error.message, { isFinal: true, cause: error })
    throw error
  }
}

function requireAccepted({ status, retryAfter }: { status: number; retryAfter?: string }): void {
  if (status >= 200 && status < 300) return
  const isFinal = status >= 400 && !isPassingStatus(status)
  throw new NotDelivered(`The endpoint of the other side answered ${status}.`, {
    isFinal,
    waitMs: readRetryAfter(retryAfter, Date.now()),
  })
}

/** Reads `Retry-After` (RFC 9110 §10.2.3, seconds or a date) as milliseconds, at most an hour. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const waitMs = /^\d{1,10}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now
  return waitMs >= 0 ? Math.min(waitMs, longestWaitMs) : undefined
}
