/**
 * The mediator role (DIDComm v2.1, "Routing Protocol 2.0"; Coordinate Mediation, Message Pickup): queues
 * messages for wallets that cannot be reached, until they pick them up.
 *
 * Every DID that is proved by authcrypt may enrol. Forwards may come from any sender.
 */
import PQueue from 'p-queue'
import type { Config } from '../../foundation/config/config.ts'
import type { Log } from '../../foundation/log.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { Resolve } from '../../did/document.ts'
import { encryptedType, type Envelope } from '../didcomm/jwe.ts'
import { peerDidsOnly } from '../../did/peer.ts'
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { mediatorId } from '../../cluster/ownership.ts'
import { NotOwnerError } from '../../foundation/storage/not-owner-error.ts'
import { removeIdle, touch } from './accounts.ts'
import type { Transport } from './handler.ts'
import { openIdentities } from './identity.ts'
import { createRateLimits } from './rate-limits.ts'
import { type Channel, createLiveDelivery } from './pickup.ts'
import { removeExpired } from './queue.ts'
import { createReceiver } from './receive.ts'
import { createWrite, type MediatorContents } from './writes.ts'

/** Interval of the deletion of expired messages and idle accounts. */
const sweepMs = 3_600_000

export type MediatorOptions = {
  open(): Promise<MediatorContents>
  sealKey: Uint8Array
  /** Public base URL of the DIDComm port, without trailing slash. */
  url: string
  config: Config
  resolve: Resolve
  http: HttpClient
  log: Log
  /** Whether this process has the role. Only one has it at a time. */
  isOwner?: () => boolean
  /** The system clock, milliseconds since 1970. */
  now?: () => number
}

export type Mediator = {
  readonly did: string
  readonly url: string
  /** True for every DID that this mediator has or had. */
  owns: (did: string) => boolean
  /** Whether this process has the role now. The functions below throw {NotOwnerError} at others. */
  isOwner: () => boolean
  /** Counts a message before it is parsed. @throws {RateLimited} when there are too many from its address. */
  countMessage: (address: string) => Promise<void>
  /**
   * Receives a message. Returns the packed reply for the body of the HTTP response or for the channel.
   *
   * @throws {Problem} when the message is refused and no problem report can be sent.
   */
  receive: (envelope: Envelope, transport: Transport) => Promise<string | undefined>
  /** Ends the live delivery to a closed channel. */
  closeChannel: (channel: Channel) => void
  /** Deletes expired messages and idle accounts. */
  sweep(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the mediator. @throws when its database cannot be read or was sealed with another key. */
export async function openMediator(options: MediatorOptions): Promise<Mediator> {
  const { log, config, url, now = Date.now, isOwner = () => true } = options
  const contents = await options.open()
  const identities = await openIdentities(contents, options.sealKey, url).catch(async (error: unknown) => {
    await contents.close()
    throw error
  })
  const write = createWrite(contents)
  const live = createLiveDelivery()
  const rates = createRateLimits(config)
  // Any sender can write to a mediator from any DID, so nothing is fetched.
  const resolve = peerDidsOnly(options.resolve)
  const { post, stop } = createPost(options.http, log)
  const context = { config, rates, live, identities, resolve, now }

  async function sweep(): Promise<void> {
    if (!isOwner()) return
    const before = (seconds: number) => new Date(now() - seconds * 1_000).toISOString()
    const removed = await write(async (tx) => {
      await touch(tx, live.accounts(), now())
      return {
        messages: await removeExpired(tx, before(config.MEDIATOR_MESSAGE_LIFETIME)),
        accounts: await removeIdle(tx, before(config.MEDIATOR_ACCOUNT_LIFETIME)),
      }
    })
    if (removed.messages > 0)
      log.warn({ count: removed.messages }, 'deleted messages that were not picked up')
    if (removed.accounts > 0) log.info({ count: removed.accounts }, 'deleted idle mediator accounts')
  }

  const timer = setInterval(
    () =>
      void sweep().catch((error: unknown) => log.error({ err: error }, 'the mediator could not clean up')),
    sweepMs,
  )
  timer.unref()
  await sweep()

  const receive = createReceiver({ write, context, post, log })
  const assertOwner = () => {
    if (!isOwner()) throw new NotOwnerError(mediatorId)
  }
  return {
    did: identities.did,
    url,
    owns: identities.owns,
    isOwner,
    async countMessage(address) {
      assertOwner()
      await rates.countMessage(address)
    },
    async receive(envelope, transport) {
      assertOwner()
      return receive(envelope, transport)
    },
    closeChannel: live.close,
    sweep,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      stop()
      await contents.close()
    },
  }
}

const maxConcurrentPosts = 16
/** Limit on replies that wait to be posted. Further ones are dropped. */
const maxPendingPosts = 1_000
const postTimeoutMs = 5_000

/** Posts replies in the background, each once. `stop` drops the pending ones. */
export function createPost(http: HttpClient, log: Log) {
  const queue = new PQueue({ concurrency: maxConcurrentPosts })
  const send = async (url: string, envelope: string) => {
    try {
      const { status } = await http.post(url, {
        headers: { 'content-type': encryptedType },
        body: envelope,
        timeoutMs: postTimeoutMs,
      })
      if (status < 200 || status > 299) log.info({ status }, 'a reply of the mediator was not accepted')
    } catch (error) {
      log.info({ reason: reasonOf(error) }, 'a reply of the mediator could not be sent')
    }
  }
  return {
    post: (url: string, envelope: string): void => {
      if (queue.size >= maxPendingPosts) log.warn('a reply of the mediator was dropped: too many are pending')
      else void queue.add(() => send(url, envelope))
    },
    stop: () => queue.clear(),
  }
}
