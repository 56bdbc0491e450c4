/**
 * The mediator role (wire.md 7): holds messages for wallets that cannot be reached, until they pick them up.
 *
 * Whoever proves a DID by authcrypt may enrol it; forwards are taken from anybody. An answer goes back the way its
 * question came when that asks for it (`return_route`) or the connection stays open, otherwise to the HTTP address in
 * the sender's DID.
 */
import type { Log } from '../base/log.ts'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { didOf, type Resolve } from '../did/document.ts'
import { expiresAtMs, messageExpired } from '../didcomm/message.ts'
import { parseEnvelope, type Envelope } from '../didcomm/jwe.ts'
import { findKnownType } from '../didcomm/message-type.ts'
import { findEndpoint, peerDidsOnly } from '../didcomm/route.ts'
import { unpack, type Unpacked } from '../didcomm/unpack.ts'
import type { HttpClient } from '../net/guarded-agent.ts'
import { openMediatorDb } from '../storage/database.ts'
import { courtesyHandlers } from './courtesies.ts'
import { forwardType, queueForward, readForward } from './forward.ts'
import { openIdentities } from './identity.ts'
import { removeIdle, touch } from './idle.ts'
import type { Limits } from './limits.ts'
import { createLive, type Channel } from './live.ts'
import { mediationHandlers } from './mediation.ts'
import { delivery, pickupHandlers, statusType } from './pickup.ts'
import { createMediatorPace } from './pace.ts'
import { createPost } from './post.ts'
import { expire, type Waiting } from './queue.ts'
import { Refusal, TooOften, toReport } from './refusal.ts'
import { packReply, type Reply } from './reply.ts'
import { toRequest, type Handler, type House, type Request, type Way } from './request.ts'
import { digestOf, remember } from './seen.ts'

const handlers: Readonly<Record<string, Handler>> = {
  ...mediationHandlers,
  ...pickupHandlers,
  ...courtesyHandlers,
}
const types = [forwardType, ...Object.keys(handlers)]

/** Forwards to this mediator that may stand inside of each other. */
const maxNesting = 4

/** How often messages and accounts are looked for that nobody cares for, in milliseconds. */
const sweepMs = 3_600_000

export type MediatorOptions = {
  /** The database file. */
  path: string
  sealKey: Uint8Array
  /** Public base URL of the DIDComm port. */
  url: string
  limits: Limits
  resolve: Resolve
  http: HttpClient
  log: Log
  /** The clock, milliseconds since 1970. */
  now?: () => number
}

export type Mediator = {
  readonly did: string
  readonly url: string
  /** True when a message for this DID is the mediator's. */
  owns: (did: string) => boolean
  /** Counts a message before anything of it is read. @throws {TooOften} when too many come from its address. */
  count: (address: string) => Promise<void>
  /**
   * Takes a message. What it returns, packed, belongs into the body of the HTTP answer, or onto the channel.
   *
   * @throws {Problem} when it is refused and the sender cannot be told otherwise.
   */
  take(envelope: Envelope, way: Way): Promise<string | undefined>
  /** A channel was closed. */
  drop: (channel: Channel) => void
  /** Throws away what waited too long, and accounts that were not heard of for too long. */
  sweep(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Inside of how many forwards a message came. */
type Nested = Way & { depth: number }

/** Opens the mediator. @throws when its file cannot be read or was sealed with another key. */
export async function openMediator(options: MediatorOptions): Promise<Mediator> {
  const { log, limits, url, now = Date.now } = options
  // Anybody may write to a mediator, from a DID of their choosing: nothing is fetched for it.
  const resolve = peerDidsOnly(options.resolve)
  const db = await openMediatorDb(options.path)
  const identities = await openIdentities(db, options.sealKey, url).catch(async (error: unknown) => {
    await db.destroy()
    throw error
  })
  const { post, stop } = createPost(options.http, log)
  const house: House = {
    limits,
    did: identities.did,
    owns: identities.owns,
    live: createLive(),
    pace: createMediatorPace(limits),
    now,
  }
  const packing = { resolve, identities, now }
  const findPrivateKey = async (kids: string[]) =>
    kids.map(identities.findKey).find((key) => key !== undefined)

  async function take(envelope: Envelope, way: Nested): Promise<string | undefined> {
    const unpacked = await unpack(envelope, { findPrivateKey, resolve })
    const request = toRequest(unpacked, way)
    try {
      const reply = await handle(unpacked, request, envelope, way)
      return reply && request && (await answer(request, reply, way))
    } catch (error) {
      if (!(error instanceof Refusal) || !request) throw error
      const refusal = error.isForNow ? error : await onceOnly(error, digestOf(envelope))
      const { type, id, thid = id } = unpacked.message
      log.info({ type, thid, code: refusal.code }, 'the mediator refused a message')
      return answer(request, toReport(refusal, unpacked.message), way, refusal)
    }
  }

  async function handle(
    unpacked: Unpacked,
    request: Request | undefined,
    envelope: Envelope,
    way: Nested,
  ): Promise<Reply | undefined> {
    const end = expiresAtMs(unpacked.message)
    if (end !== undefined && end <= now())
      throw new Refusal('e.p.req.time.message-expired', messageExpired(unpacked.message).message)
    const type = findKnownType(types, unpacked.message.type)
    if (type === forwardType) return forward(unpacked, request, envelope, way)
    if (!request) {
      throw new Problem(
        'error:DIDCommControllerError:SenderNotAllowed',
        'The message does not prove its sender. Encrypt it with authcrypt and set `from`; only forwards are taken from anybody.',
      )
    }
    const handler = type === undefined ? undefined : handlers[type]
    if (!handler)
      throw new Refusal(
        'e.p.msg.unsupported',
        'This mediator does not know messages of type {1}.',
        unpacked.message.type,
      )
    return db.transaction().execute(async (tx) => {
      await remember(tx, digestOf(envelope))
      await touch(tx, request.sender.account, now())
      return handler(tx, house, request)
    })
  }

  /** The refusal of an envelope that is new; one that comes again is refused for that. */
  async function onceOnly(refusal: Refusal, digest: string): Promise<Refusal> {
    try {
      await remember(db, digest)
      return refusal
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
  }

  async function forward(
    { message }: Unpacked,
    request: Request | undefined,
    envelope: Envelope,
    way: Nested,
  ): Promise<undefined> {
    const forwarded = readForward(message)
    if (identities.owns(didOf(forwarded.next))) {
      if (way.depth === maxNesting)
        throw new Refusal('e.p.msg', 'Forwards to this mediator are nested too deeply.')
      // Whatever it answers has no way back: the one who posted is not the one who wrote it.
      await take(parseEnvelope(forwarded.envelope), { address: way.address, depth: way.depth + 1 })
      return
    }
    const waiting = await db.transaction().execute(async (tx) => {
      await remember(tx, digestOf(envelope))
      if (request) await touch(tx, request.sender.account, now())
      return queueForward(tx, house, forwarded)
    })
    await deliverLive(waiting)
  }

  /** To everybody who listens. It waits in the queue all the same until it is acknowledged. */
  async function deliverLive(waiting: Waiting): Promise<void> {
    for (const { channel, kid, from } of house.live.listeners(waiting.account)) {
      try {
        channel.send(await packReply(packing, from, kid, delivery([waiting])))
      } catch (error) {
        log.info({ reason: reasonOf(error) }, 'a message was not delivered live')
      }
    }
  }

  /** Packs an answer and finds its way back; what cannot be told by DIDComm is thrown, for the HTTP status. */
  async function answer(
    request: Request,
    reply: Reply,
    { channel, depth }: Nested,
    refusal?: Refusal,
  ): Promise<string | undefined> {
    const packed = () => packReply(packing, request.to, request.sender.kid, reply)
    if (channel) return packed()
    // HTTP has a status and a header for this, which whoever sends knows to obey without opening anything.
    if (refusal instanceof TooOften) throw refusal
    const route = request.message['return_route']
    const isAwaited = depth === 0 && (route === 'all' || route === 'thread')
    if (isAwaited) return packed()
    // A sender that does not wait for the report would believe that the message was taken.
    if (refusal?.isForNow) throw refusal
    const endpoint = findEndpoint(await resolve(request.sender.did))
    if (endpoint !== undefined && reply.type !== statusType) post(endpoint, await packed())
    else if (refusal) throw refusal
    return undefined
  }

  async function sweep(): Promise<void> {
    const before = (seconds: number) => new Date(now() - seconds * 1_000).toISOString()
    const gone = await db.transaction().execute(async (tx) => {
      for (const account of house.live.accounts()) await touch(tx, account, now())
      return {
        messages: await expire(tx, before(limits.lifetime)),
        accounts: await removeIdle(tx, before(limits.accountLifetime)),
      }
    })
    if (gone.messages > 0)
      log.warn({ count: gone.messages }, 'messages that nobody picked up were thrown away')
    if (gone.accounts > 0)
      log.info({ count: gone.accounts }, 'accounts of wallets that come no more were removed')
  }

  const timer = setInterval(
    () => void sweep().catch((error: unknown) => log.error({ err: error }, 'the queue was not swept')),
    sweepMs,
  )
  timer.unref()
  await sweep()

  return {
    did: identities.did,
    url,
    owns: identities.owns,
    count: house.pace.message,
    take: (envelope, way) => take(envelope, { ...way, depth: 0 }),
    drop: house.live.drop,
    sweep,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      stop()
      await db.destroy()
    },
  }
}
