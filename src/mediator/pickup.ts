/** Message pickup 3.0: a wallet asks what waits for it, takes it, and says that it has it (wire.md 7.5). */
import { z } from 'zod'
import { toBase64url } from '../base/bytes.ts'
import type { Attachment } from '../didcomm/message.ts'
import type { MediatorTx } from '../storage/database.ts'
import { accountOf, isEnrolled } from './accounts.ts'
import { acknowledge, peek, summarise, type Waiting } from './queue.ts'
import { notEnrolled, Refusal } from './refusal.ts'
import { threadOf, type Reply } from './reply.ts'
import { readBody, type Handler, type House, type Request } from './request.ts'
import { routeKey } from './route-key.ts'

const family = 'https://didcomm.org/messagepickup/3.0/'

/** A status is true for a moment: it is never sent to anybody who does not wait for it (message pickup 3.0, Status). */
export const statusType = `${family}status`

/** Messages that one delivery holds at most. */
const maxLimit = 100

const StatusRequest = z.object({ recipient_did: z.string().nullish() })
const DeliveryRequest = z.object({
  limit: z.coerce.number().int().min(1),
  recipient_did: z.string().nullish(),
})
const Received = z.object({ message_id_list: z.array(z.string()).max(1_000) })
/** Some clients write the flag as a text. */
const LiveChange = z.object({
  live_delivery: z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })]),
})

const onStatusRequest: Handler = async (tx, house, request) => {
  const { recipient_did } = readBody(request.message, StatusRequest)
  await mustBeTheirs(tx, request, recipient_did)
  return status(tx, house, request, recipient_did)
}

const onDeliveryRequest: Handler = async (tx, house, request) => {
  const { limit, recipient_did } = readBody(request.message, DeliveryRequest)
  await mustBeTheirs(tx, request, recipient_did)
  const waiting = await peek(
    tx,
    request.sender.account,
    Math.min(limit, maxLimit),
    recipient_did == null ? undefined : routeKey(recipient_did),
  )
  if (waiting.length === 0) return status(tx, house, request, recipient_did)
  return { thid: threadOf(request.message), ...delivery(waiting, recipient_did) }
}

const onReceived: Handler = async (tx, house, request) => {
  const { message_id_list } = readBody(request.message, Received)
  await mustBeTheirs(tx, request)
  await acknowledge(tx, request.sender.account, message_id_list)
  return status(tx, house, request)
}

const onLiveChange: Handler = async (tx, house, request) => {
  const { live_delivery } = readBody(request.message, LiveChange)
  await mustBeTheirs(tx, request)
  const { sender, to, channel } = request
  if (channel && !live_delivery) house.live.leave(channel, sender.account)
  const isLive =
    channel &&
    live_delivery &&
    house.live.join({ channel, account: sender.account, kid: sender.kid, from: to })
  if (live_delivery && !isLive)
    throw new Refusal('e.m.live-mode-not-supported', 'Connection does not support Live Delivery')
  return status(tx, house, request)
}

/** A delivery without its thread, which is the request's, or a new one when nobody asked. */
export function delivery(waiting: Pick<Waiting, 'id' | 'envelope'>[], recipientDid?: string | null): Reply {
  return {
    type: `${family}delivery`,
    body: recipientDid == null ? {} : { recipient_did: recipientDid },
    attachments: waiting.map(({ id, envelope }): Attachment => ({
      id,
      data: { base64: toBase64url(envelope) },
    })),
  }
}

/** @throws {Refusal} unless the sender is enrolled and the recipient, if one is named, is or was the sender's. */
async function mustBeTheirs(
  tx: MediatorTx,
  { sender }: Request,
  recipientDid?: string | null,
): Promise<void> {
  if (!(await isEnrolled(tx, sender.account))) throw notEnrolled(sender.did)
  if (recipientDid == null || (await accountOf(tx, routeKey(recipientDid))) === sender.account) return
  if ((await summarise(tx, sender.account, routeKey(recipientDid))).count === 0)
    throw notEnrolled(recipientDid)
}

async function status(
  tx: MediatorTx,
  house: House,
  request: Request,
  recipientDid?: string | null,
): Promise<Reply> {
  const { sender, channel, message } = request
  const summary = await summarise(
    tx,
    sender.account,
    recipientDid == null ? undefined : routeKey(recipientDid),
  )
  const times =
    summary.oldest === null || summary.newest === null
      ? {}
      : {
          longest_waited_seconds: Math.max(0, Math.floor((house.now() - Date.parse(summary.oldest)) / 1_000)),
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
      live_delivery: house.live.isLive(channel, sender.account),
    },
  }
}

/** Message type → handler. */
export const pickupHandlers: Readonly<Record<string, Handler>> = {
  [`${family}status-request`]: onStatusRequest,
  [`${family}delivery-request`]: onDeliveryRequest,
  [`${family}messages-received`]: onReceived,
  [`${family}live-delivery-change`]: onLiveChange,
}
