/**
 * Receives messages to the mediator: unpacks them, runs the handler of their type, and returns or sends the
 * reply.
 *
 * The reply is returned if the sender asks for it (`return_route`) or the connection stays open. Otherwise it
 * is posted to the HTTP endpoint of the sender's DID.
 */
import { createHash } from 'node:crypto'
import type { Log } from '../../foundation/log.ts'
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { didOf } from '../../did/document.ts'
import { type Envelope, parseEnvelope } from '../didcomm/jwe.ts'
import { findKnownType } from '../didcomm/message-type.ts'
import { expiresAtMs, messageExpired } from '../didcomm/message.ts'
import { forwardType } from '../didcomm/pack.ts'
import { findEndpoint } from '../didcomm/route.ts'
import { unpack, type Unpacked } from '../didcomm/unpack.ts'
import type { MediatorDb, MediatorTx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { touch } from './accounts.ts'
import { commonHandlers } from './common-protocols.ts'
import { queueForward, readForward } from './forward.ts'
import {
  type Handler,
  type MediatorContext,
  packReply,
  RateLimited,
  Refusal,
  type Reply,
  type Request,
  toReport,
  toRequest,
  type Transport,
} from './handler.ts'
import { mediationHandlers } from './mediation.ts'
import { pickupHandlers, statusType, toDelivery } from './pickup.ts'
import type { QueuedMessage } from './queue.ts'
import type { Write } from './writes.ts'

const handlers: Readonly<Record<string, Handler>> = {
  ...mediationHandlers,
  ...pickupHandlers,
  ...commonHandlers,
}
const types = [forwardType, ...Object.keys(handlers)]

/** Limit on forwards to this mediator inside each other. */
const maxNesting = 4

/** The transport of a message, and the number of forwards around it. */
type NestedTransport = Transport & { depth: number }

type Dependencies = {
  write: Write
  context: MediatorContext
  /** Posts a packed reply in the background. */
  post: (url: string, envelope: string) => void
  log: Log
}

/**
 * Creates the function that receives messages. It returns the packed reply for the body of the HTTP response
 * or for the channel.
 *
 * The function throws {Problem} when the message is refused and no problem report can be sent.
 */
export function createReceiver(mediator: Dependencies) {
  return (envelope: Envelope, transport: Transport) => receive(mediator, envelope, { ...transport, depth: 0 })
}

async function receive(
  mediator: Dependencies,
  envelope: Envelope,
  transport: NestedTransport,
): Promise<string | undefined> {
  const { write, context, log } = mediator
  const { identities, resolve } = context
  const findPrivateKey = async (kids: string[]) =>
    kids.map(identities.findKey).find((key) => key !== undefined)
  const unpacked = await unpack(envelope, { findPrivateKey, resolve })
  const request = toRequest(unpacked, transport)
  try {
    const reply = await handle(mediator, unpacked, request, envelope, transport)
    return reply && request && (await deliver(mediator, request, reply, transport))
  } catch (error) {
    if (!(error instanceof Refusal) || !request) throw error
    const refusal = error.isTemporary ? error : await refuseReplay(write, error, digestOf(envelope))
    const { type, id, thid = id } = unpacked.message
    log.info({ type, thid, code: refusal.code }, 'the mediator refused a message')
    return deliver(mediator, request, toReport(refusal, unpacked.message), transport, refusal)
  }
}

async function handle(
  mediator: Dependencies,
  unpacked: Unpacked,
  request: Request | undefined,
  envelope: Envelope,
  transport: NestedTransport,
): Promise<Reply | undefined> {
  const { message } = unpacked
  const { write, context } = mediator
  const expiresAt = expiresAtMs(message)
  if (expiresAt !== undefined && expiresAt <= context.now())
    throw new Refusal('e.p.req.time.message-expired', messageExpired(message).message)
  const type = findKnownType(types, message.type)
  if (type === forwardType) return forward(mediator, unpacked, request, envelope, transport)
  if (!request) {
    throw new Problem(
      'error:DIDCommControllerError:SenderNotAllowed',
      'The message does not prove its sender. Encrypt it with authcrypt and set `from`. Only forwards may be anonymous.',
    )
  }
  const handler = type === undefined ? undefined : handlers[type]
  if (!handler)
    throw new Refusal(
      'e.p.msg.unsupported',
      'This mediator does not support messages of type {1}.',
      message.type,
    )
  return write(async (tx) => {
    await storeDigest(tx, digestOf(envelope))
    await touch(tx, [request.sender.account], context.now())
    return handler(tx, context, request)
  })
}

/**
 * Stores the digest of a refused envelope. Returns the refusal, or, if the envelope is a replay, the refusal
 * of the replay.
 */
async function refuseReplay(write: Write, refusal: Refusal, digest: string): Promise<Refusal> {
  try {
    await write((tx) => storeDigest(tx, digest))
    return refusal
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

async function forward(
  mediator: Dependencies,
  { message }: Unpacked,
  request: Request | undefined,
  envelope: Envelope,
  { address, depth }: NestedTransport,
): Promise<undefined> {
  const { write, context } = mediator
  const forwarded = readForward(message)
  if (context.identities.owns(didOf(forwarded.next))) {
    if (depth === maxNesting) throw new Refusal('e.p.msg', 'Forwards to this mediator are nested too deeply.')
    // The reply to the inner message is dropped: its author is not at the other end of this connection.
    for (const inner of forwarded.envelopes)
      await receive(mediator, parseEnvelope(inner), { address, depth: depth + 1 })
    return
  }
  const digest = digestOf(envelope)
  const queued = await write(async (tx) => {
    await storeDigest(tx, digest)
    if (request) await touch(tx, [request.sender.account], context.now())
    return queueForward(tx, context, forwarded)
  })
  for (const each of queued) await deliverLive(mediator, each)
}

/** Sends a queued message to the subscriptions of its account. It stays queued until it is acknowledged. */
async function deliverLive({ context, log }: Dependencies, message: QueuedMessage): Promise<void> {
  for (const { channel, kid, from } of context.live.subscriptionsOf(message.account)) {
    try {
      channel.send(await packReply(context, from, kid, toDelivery([message])))
    } catch (error) {
      log.info({ reason: reasonOf(error) }, 'a message was not delivered live')
    }
  }
}

/**
 * Packs a reply, and returns or posts it. @throws {Refusal} when a refusal is better reported by the HTTP
 * status.
 */
async function deliver(
  { context, post }: Dependencies,
  request: Request,
  reply: Reply,
  { channel, depth }: NestedTransport,
  refusal?: Refusal,
): Promise<string | undefined> {
  const packed = () => packReply(context, request.to, request.sender.kid, reply)
  if (channel) return packed()
  // Senders understand status 429 and Retry-After without unpacking anything.
  if (refusal instanceof RateLimited) throw refusal
  const route = request.message['return_route']
  if (depth === 0 && (route === 'all' || route === 'thread')) return packed()
  // With status 202 the sender would believe that the message was stored.
  if (refusal?.isTemporary) throw refusal
  const endpoint = findEndpoint(await context.resolve(request.sender.did))
  if (endpoint !== undefined && reply.type !== statusType) post(endpoint, await packed())
  else if (refusal) throw refusal
  return undefined
}

/** The number of stored digests, beside those that will be deleted together. */
const [maxDigests, digestsAtOnce] = [200_000, 500]

/** A digest of an envelope's ciphertext. Other recipients or white space do not change it. */
function digestOf({ jwe }: Envelope): string {
  return createHash('sha256')
    .update([jwe.protected, jwe.iv, jwe.ciphertext, jwe.tag].join('.'))
    .digest('base64url')
}

const insertDigest = prepared((db: MediatorDb, { digest }: { digest: string }) =>
  db
    .insertInto('seen')
    .values({ digest })
    .onConflict((conflict) => conflict.doNothing())
    .returning('sequence'),
)

/**
 * Stores an envelope's digest. @throws {Refusal} `e.p.crypto.message.dejavu` when the envelope was received
 * before.
 */
async function storeDigest(tx: MediatorTx, digest: string): Promise<void> {
  const { rows } = await insertDigest(tx, { digest })
  if (rows.length === 0) {
    throw new Refusal(
      'e.p.crypto.message.dejavu',
      'This envelope was received before. Encrypt the message anew to send it again.',
    )
  }
  const { sequence } = rows[0]!
  if (sequence % digestsAtOnce > 0) return
  await tx
    .deleteFrom('seen')
    .where('sequence', '<=', sequence - maxDigests)
    .execute()
}
