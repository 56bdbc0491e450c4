/**
 * Sends a DIDComm message: pack for the other side, wrap for the mediators on the way, one POST (wire.md 1.2, 7.1;
 * decisions.md §4). Every attempt is encrypted anew: mediators refuse what they have seen before (wire.md 7.8).
 */
import { randomId } from '../../base/id.ts'
import { across } from '../../base/probe.ts'
import { isTemporary, Problem } from '../../base/problem.ts'
import { keysFor, type Resolve } from '../../did/document.ts'
import { packAuthcrypt, type Recipient, wrapForward } from '../../didcomm/pack.ts'
import { findRecipient, getRoute, NoRouteError, peerDidsOnly, type Route } from '../../didcomm/route.ts'
import type { MessageBody } from '../../outbox/job.ts'
import { findPeerKey } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'

/** The message was not taken. */
export class NotDelivered extends Error {
  override name = 'NotDelivered'
  /** True when another attempt would end the same way: the other side said no, or there is no way to it. */
  readonly isFinal: boolean
  /** How long the other side wants to be left alone, if it said so. */
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

/** How long the other side has to take a message. */
const timeoutMs = 10_000

const headers = { 'content-type': 'application/didcomm-encrypted+json' }

/** The longest wait that the other side may ask for. */
const longestWaitMs = 3_600_000

/**
 * Packs a message anew and delivers it once; the id is the same on every attempt. Returns when the request began, and how many milliseconds
 * the other side took to answer it.
 *
 * @throws {NotDelivered} when there is no way to the other side, or it answers anything but 2xx.
 * @throws {UnreachableError} when it cannot be reached.
 * @throws {CrowdedError} or {LeftAloneError} when it is not to be asked now; nothing was done then.
 */
export async function sendMessage(
  wallet: Wallet,
  id: string,
  { from, to, message }: MessageBody,
): Promise<{ at: Date; durationMs: number }> {
  const sender = await ownKey(wallet, from)
  const { recipient, route } = await findWay(wallet, to, resolverOf(wallet, from), sender.privateJwk.crv)
  const { destinations, http } = wallet.env
  const { answer, ...attempt } = await destinations.visit(route.url, wallet.id, async () => {
    const created_time = Math.floor(Date.now() / 1_000)
    const plaintext = { id, typ: 'application/didcomm-plain+json', from, to: [to], created_time, ...message }
    const envelope = packAuthcrypt(plaintext, { sender, recipients: [recipient] })
    const body = wrapForward(envelope, route.hops, randomId)
    const [at, start] = [new Date(), performance.now()]
    const answer = await across('message', { walletId: wallet.id, url: route.url }, () =>
      http.post(route.url, { headers, body, timeoutMs }),
    )
    return { answer, at, durationMs: performance.now() - start }
  })
  requireAccepted(answer)
  return attempt
}

async function ownKey(wallet: Wallet, did: string) {
  const keyId = keysFor(await wallet.env.resolver.document(did), 'keyAgreement')[0]?.id
  const key = keyId === undefined ? undefined : await findPeerKey(wallet, keyId)
  if (!key) throw new Error(`the wallet has no key for ${did}`)
  return key
}

/**
 * The key of a DID to encrypt for, on the curve of the sender's, and the way to it. What is wrong with its document stays wrong:
 * a did:peer says the same for ever. Mediators must have a did:peer, whatever `resolve` knows.
 *
 * @throws {NotDelivered} when the DID does not resolve, has no such key, or there is no way to it.
 * @throws {Problem} `error:ServiceUnavailable` when the DID does not resolve for now.
 */
export async function findWay(
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
  // 408, 425 and 429 ask for another attempt; every other 4xx is the other side's last word.
  const isFinal = status >= 400 && status < 500 && ![408, 425, 429].includes(status)
  throw new NotDelivered(`The endpoint of the other side answered ${status}.`, {
    isFinal,
    waitMs: readRetryAfter(retryAfter, Date.now()),
  })
}

/** `Retry-After` (RFC 9110 §10.2.3), seconds or a date, as a wait in milliseconds: an hour at most, nothing when it says nothing. */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const waitMs = /^\d{1,10}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now
  return waitMs >= 0 ? Math.min(waitMs, longestWaitMs) : undefined
}

/**
 * Resolves did:peer, and beside them the one DID that `ourDid` was made to ping: the wallet's owner named that one, so no message
 * decides what is resolved.
 */
export function resolverOf({ db, env }: Wallet, ourDid: string): Resolve {
  const { document } = env.resolver
  const resolvePeer = peerDidsOnly(document)
  return async (did) => {
    if (did.startsWith('did:peer:')) return resolvePeer(did)
    const ping = await db
      .selectFrom('ping')
      .select('id')
      .where('my_did', '=', ourDid)
      .where('their_did', '=', did)
      .executeTakeFirst()
    return ping ? document(did) : resolvePeer(did)
  }
}
