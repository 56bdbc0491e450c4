/** What the mediator's handlers are given, and what they answer. */
import { z } from 'zod'
import { reasonOf } from '../base/reason.ts'
import { didOf } from '../did/document.ts'
import type { PlaintextMessage } from '../didcomm/message.ts'
import type { Unpacked } from '../didcomm/unpack.ts'
import type { MediatorTx } from '../storage/database.ts'
import type { Limits } from './limits.ts'
import type { Channel, Live } from './live.ts'
import type { Pace } from './pace.ts'
import { Refusal } from './refusal.ts'
import type { Reply } from './reply.ts'
import { routeKey } from './route-key.ts'

/** What is the same for all requests. */
export type House = {
  readonly limits: Limits
  /** The DID that wallets are to use from now on. */
  readonly did: string
  /** True for every DID that this mediator has had. */
  owns: (did: string) => boolean
  readonly live: Live
  readonly pace: Pace
  /** The clock, milliseconds since 1970. */
  now: () => number
}

/** How a message came in: from which address, to count by, and over which connection, when that stays open. */
export type Way = { address: string; channel?: Channel | undefined }

/** A message whose sender is proved by authcrypt. */
export type Request = {
  message: PlaintextMessage
  /** The sender's DID as it wrote it, the same as a row key, and the key it encrypted with. */
  sender: { did: string; account: string; kid: string }
  /** The mediator's DID that was addressed: answers come from it. */
  to: string
} & Way

/**
 * Answers one type of message, inside the transaction that remembers it: only `tx` is touched.
 *
 * @throws {Refusal} what is written is undone then.
 */
export type Handler = (tx: MediatorTx, house: House, request: Request) => Promise<Reply | undefined>

/** A request, or nothing unless authcrypt proves who wrote the message. */
export function toRequest(
  { message, senderKid, recipientKid }: Unpacked,
  { address, channel }: Way,
): Request | undefined {
  if (senderKid === undefined) return undefined
  const did = didOf(senderKid)
  return {
    message,
    sender: { did, account: routeKey(did), kid: senderKid },
    to: didOf(recipientKid),
    address,
    channel,
  }
}

/** Reads a message's body. @throws {Refusal} `e.p.msg` naming the member that is wrong. */
export function readBody<Type extends z.ZodType>(message: PlaintextMessage, type: Type): z.output<Type> {
  const result = type.safeParse(message.body)
  if (result.success) return result.data
  throw new Refusal('e.p.msg', 'The body of the message cannot be read, {1}.', reasonOf(result.error))
}
