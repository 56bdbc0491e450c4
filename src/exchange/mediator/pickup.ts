/** Message Pickup 3.0: status, delivery, acknowledgement and live delivery of queued messages. */
import * as z from 'zod'
import { toBase64url } from '../../foundation/bytes.ts'
import type { Attachment } from '../didcomm/message.ts'
import type { MediatorTx } from '../../foundation/storage/database.ts'
import { findAccount, isEnrolled } from './accounts.ts'
import {
  type Handler,
  type MediatorContext,
  notEnrolled,
  readBody,
  Refusal,
  type Reply,
  type Request,
  threadOf,
  toRouteKey,
} from './handler.ts'
import { acknowledge, peek, type QueuedMessage } from './queue.ts'
import { summarise } from './sizes.ts'

const family = 'https://didcomm.org/messagepickup/3.0/'

/**
 * Type of a status message. It is outdated soon, so it is only sent to senders that wait for it (Message
 * Pickup 3.0, "Status").
 */
export const statusType = `${family}status`

/** Limit on the messages of one delivery. */
const maxLimit = 100

const StatusRequest = z.object({ recipient_did: z.string().nullish() })
const DeliveryRequest = z.object({
  limit: z.coerce.number().int().min(1),
  recipient_did: z.string().nullish(),
})
const Received = z.object({ message_id_list: z.array(z.string()).max(1_000) })
/** Some clients write the flag as a string. */
const LiveChange = z.object({
  live_delivery: z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })]),
})

const onStatusRequest: Handler = async (tx, context, request) => {
  const { recipient_did } = readBody(request.message, StatusRequest)
  await requireAccess(tx, request, recipient_did)
  return status(tx, context, request, recipient_did)
}

const onDeliveryRequest: Handler = async (tx, context, request) => {
  const { limit, recipient_did } = readBody(request.message, DeliveryRequest)
  await requireAccess(tx, request, recipient_did)
  const queued = await peek(
    tx,
    request.sender.account,
    Math.min(limit, maxLimit),
    recipient_did == null ? undefined : toRouteKey(recipient_did),
  )
  if (queued.length === 0) return status(tx, context, request, recipient_did)
  return { thid: threadOf(request.message), ...toDelivery(queued, recipient_did) }
}

const onReceived: Handler = async (tx, context, request) => {
  const { message_id_list } = readBody(request.message, Received)
  await requireAccess(tx, request)
  await acknowledge(tx, request.sender.account, message_id_list)
  return status(tx, context, request)
}

const onLiveChange: Handler = async (tx, context, request) => {
  const { live_delivery } = readBody(request.message, LiveChange)
  await requireAccess(tx, request)
  const { sender, to, channel } = request
  if (channel && !live_delivery) context.live.unsubscribe(channel, sender.account)
  const isLive =
    channel &&
    live_delivery &&
    context.live.subscribe({ channel, account: sender.account, kid: sender.kid, from: to })
  if (live_delivery && !isLive)
    throw new Refusal('e.m.live-mode-not-supported', 'Connection does not support Live Delivery')
  return status(tx, context, request)
}

/** A delivery of messages. The caller adds the thread if it replies to a request. */
export function toDelivery(
  messages: Pick<QueuedMessage, 'id' | 'envelope'>[],
  recipientDid?: string | null,
): Reply {
  return {
    type: `${family}delivery`,
    body: recipientDid == null ? {} : { recipient_did: recipientDid },
    attachments: messages.map(({ id, envelope }): Attachment => ({
      id,
      data: { base64: toBase64url(envelope) },
    })),
  }
}

/**
 * @throws {Refusal} unless the sender is enrolled, and the recipient (if any) is registered by it or has
 * messages in its queue.
 */
async function requireAccess(
  tx: MediatorTx,
  { sender }: Request,
  recipientDid?: string | null,
): Promise<void> {
  if (!(await isEnrolled(tx, sender.account))) throw notEnrolled(sender.did)
  if (recipientDid == null || (await findAccount(tx, toRouteKey(recipientDid))) === sender.account) return
  if ((await summarise(tx, sender.account, toRouteKey(recipientDid))).count === 0)
    throw notEnrolled(recipientDid)
}

async function status(
  tx: MediatorTx,
  { live, now }: MediatorContext,
  request: Request,
  recipientDid?: string | null,
): Promise<Reply> {
  const { sender, channel, message } = request
  const summary = await summarise(
    tx,
    sender.account,
    recipientDid == null ? undefined : toRouteKey(recipientDid),
  )
  const times =
    summary.oldest === null || summary.newest === null
      ? {}
      : {
          longest_waited_seconds: Math.max(0, Math.floor((now() - Date.parse(summary.oldest)) / 1_000)),
          newest_received_time: Math.floor(Date.parse(summary.newest) / 1_000),
          oldest_received_time: Math.floor(Date.parse(summary.oldest) / 1_000),
        }
  return {
    type: statusType,
    thid: threadOf(message),
    body: {
      ...(recipientDid != null && { recipient_did: recipientDid }),
      message_count: summary.count,
      ...times,
      total_bytes: summary.bytes,
      live_delivery: live.isSubscribed(channel, sender.account),
    },
  }
}

export const pickupHandlers: Readonly<Record<string, Handler>> = {
  [`${family}status-request`]: onStatusRequest,
  [`${family}delivery-request`]: onDeliveryRequest,
  [`${family}messages-received`]: onReceived,
  [`${family}live-delivery-change`]: onLiveChange,
}

/** An open connection, such as a WebSocket. */
export type Channel = {
  /** Sends a packed message. It may get lost: the message stays queued until it is acknowledged. */
  send(envelope: string): void
}

/**
 * Live delivery of an account's messages to a connection: the key to encrypt to, and the mediator's DID to
 * send from.
 */
export type Subscription = { channel: Channel; account: string; kid: string; from: string }

/** Limit on the connections of one account. The oldest one is unsubscribed: it is probably dead. */
const channelsPerAccount = 8

const accountsPerChannel = 32

/** Subscriptions of live delivery (Message Pickup 3.0, "Live Mode"). They end with their connection. */
export type LiveDelivery = {
  /** False when the connection has too many subscriptions. */
  subscribe: (subscription: Subscription) => boolean
  unsubscribe: (channel: Channel, account: string) => void
  /** Ends all subscriptions of a closed connection. */
  close: (channel: Channel) => void
  isSubscribed: (channel: Channel | undefined, account: string) => boolean
  subscriptionsOf: (account: string) => readonly Subscription[]
  accounts: () => string[]
}

export function createLiveDelivery(): LiveDelivery {
  const byAccount = new Map<string, Subscription[]>()
  const byChannel = new Map<Channel, Set<string>>()

  function unsubscribe(channel: Channel, account: string): void {
    const left = (byAccount.get(account) ?? []).filter((subscription) => subscription.channel !== channel)
    if (left.length > 0) byAccount.set(account, left)
    else byAccount.delete(account)
    const accounts = byChannel.get(channel)
    accounts?.delete(account)
    if (accounts?.size === 0) byChannel.delete(channel)
  }

  return {
    subscribe(subscription) {
      const { channel, account } = subscription
      unsubscribe(channel, account)
      const accounts = byChannel.get(channel) ?? new Set()
      if (accounts.size >= accountsPerChannel) return false
      const others = byAccount.get(account) ?? []
      for (const oldest of others.slice(0, Math.max(0, others.length - channelsPerAccount + 1)))
        unsubscribe(oldest.channel, account)
      byChannel.set(channel, accounts.add(account))
      byAccount.set(account, [...(byAccount.get(account) ?? []), subscription])
      return true
    },
    unsubscribe,
    close(channel) {
      for (const account of byChannel.get(channel) ?? []) unsubscribe(channel, account)
    },
    isSubscribed: (channel, account) =>
      channel !== undefined && (byChannel.get(channel)?.has(account) ?? false),
    subscriptionsOf: (account) => byAccount.get(account) ?? [],
    accounts: () => [...byAccount.keys()],
  }
}
