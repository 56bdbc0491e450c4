/** Receives DIDComm messages: each is applied once, even if it arrives again. */
import { createHash } from 'node:crypto'
import { isOver } from '../../foundation/clock.ts'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { type Attachment, expiresAtMs, messageExpired } from '../didcomm/message.ts'
import { findKnownType } from '../didcomm/message-type.ts'
import type { Unpacked } from '../didcomm/unpack.ts'
import { didOf } from '../../did/document.ts'
import { isLogged, logReceived } from '../../wallet/outbox/message-log.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type * as z from 'zod'
import { reasonOf } from '../../foundation/reason.ts'
import type { Composition } from './composition.ts'
import { isRecent, isStored, once } from './inbox.ts'

/**
 * An authenticated message: `from` is the DID whose key encrypted it, `to` the wallet's DID that it was
 * encrypted for.
 */
export type Received = {
  id: string
  /** With the minor version that this agent implements. */
  type: string
  from: string
  to: string
  thid: string
  pthid?: string | undefined
  /** Epoch seconds, by the sender's clock. */
  createdTime?: number | undefined
  body: Record<string, unknown>
  attachments: Attachment[]
  /**
   * The network address of the sender or its mediator. Absent for a message from an invitation that the
   * tenant accepts.
   */
  address?: string
}

/**
 * Handles a message of one type: resolves and verifies first, and returns the write.
 *
 * @throws {Problem} to refuse the message; nothing is written then
 */
export type Handler = (wallet: Wallet, message: Received) => Promise<(tx: Tx) => Promise<unknown>>

/**
 * Passes an unpacked message to its handler. One transaction stores the message id, the log entry and the
 * handler's write. A refusal with a report code is stored in the same way and reported once; other refusals
 * are logged only for known senders.
 *
 * @throws {Problem} if the sender is not authenticated, the type is unknown, or the handler refuses the
 * message
 */
export async function receive(
  wallet: Wallet,
  composition: Composition,
  unpacked: Unpacked,
  address?: string,
): Promise<void> {
  const at = new Date()
  const { handlers, requireKnownSender, threadOf, toReport, enqueueReport } = composition
  const received = { ...toReceived(unpacked), ...(address !== undefined && { address }) }
  const { id, from, to } = received
  const about = { id, thread: threadOf(received), type: received.type, from, to }
  const log = (tx: Tx, refusal?: string) => logReceived(tx, about, { at, refusal })
  const isStranger = () =>
    requireKnownSender(wallet.db, received).then(
      () => false,
      () => true,
    )
  // Once, and not of unknown senders, so that they cannot fill the wallet's file.
  const logRefusal = async (refusal: string) => {
    if ((await isStranger()) || (await isLogged(wallet.db, about))) return
    await wallet.transaction((tx) => log(tx, refusal))
  }
  const type = findKnownType(Object.keys(handlers), received.type)
  if (type === undefined) {
    const detail = `This agent does not know messages of type ${received.type}.`
    await logRefusal(detail)
    throw new Problem('error:DIDCommControllerError:UnsupportedMessageType', detail)
  }
  const message = { ...received, type }
  const inboxId = createHash('sha256').update(`${from} ${id}`).digest('base64url')
  if (isRecent(wallet.db, inboxId)) return
  try {
    const end = expiresAtMs(unpacked.message)
    if (end !== undefined && isOver(end)) throw messageExpired(unpacked.message)
    const write = await handlers[type]!(wallet, message)
    await once(wallet, inboxId, async (tx) => {
      await log(tx)
      await write(tx)
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // The message may have been accepted before, or a repetition meanwhile, and have moved the record.
    if (await isStored(wallet.db, inboxId)) return
    if (isTemporary(error)) throw error
    if (!toReport(error)) {
      await logRefusal(error.message)
      throw error
    }
    if (await isStranger()) await wallet.env.limitReplies(message)
    const write = async (tx: Tx) => {
      await log(tx, error.message)
      await enqueueReport(tx, message, error)
    }
    // If the id is stored by now, a repetition of the message was accepted.
    if (await once(wallet, inboxId, write)) throw error
  }
}

/** Requires an authenticated sender: the `from` of an anonymous message proves nothing. */
function toReceived({ message, senderKid, recipientKid }: Unpacked): Received {
  if (senderKid === undefined || message.from === undefined) {
    throw new Problem(
      'error:DIDCommControllerError:SenderNotAllowed',
      'The message does not prove its sender. Encrypt it with authcrypt and set `from`.',
    )
  }
  return {
    id: message.id,
    type: message.type,
    from: message.from,
    to: didOf(recipientKid),
    thid: message.thid ?? message.id,
    pthid: message.pthid,
    createdTime: message.created_time,
    body: message.body,
    attachments: message.attachments ?? [],
  }
}

/**
 * Reads a message's body. `name` is the message in words.
 *
 * @throws {Problem} `UnpackingFailed`, naming the invalid member
 */
export function readBody<Type extends z.ZodType>(
  { body }: Received,
  type: Type,
  name: string,
): z.output<Type> {
  const parsed = type.safeParse(body)
  if (parsed.success) return parsed.data
  throw new Problem(
    'error:DIDCommControllerError:UnpackingFailed',
    `The ${name} cannot be read: ${reasonOf(parsed.error)}.`,
  )
}

/** What tells the thread of a message. */
export type Message = {
  id: string
  type: string
  thid?: string | undefined
  pthid?: string | undefined
  body: unknown
}
