/** Applies a DIDComm message once, however often it arrives. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { isOver, steadyNow } from '../../base/clock.ts'
import { isTemporary, Problem } from '../../base/problem.ts'
import { type Attachment, expiresAtMs, messageExpired } from '../../didcomm/message.ts'
import { findKnownType } from '../../didcomm/message-type.ts'
import type { Unpacked } from '../../didcomm/unpack.ts'
import { didOf } from '../../did/document.ts'
import { isLogged, logReceived } from '../../outbox/message-log.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { requireKnownSender } from '../peers.ts'
import { noteLogRow, prunedAtOnce } from '../../storage/tx-context.ts'
import { enqueueReport, reportProblem, toReport } from '../report-problem/flow.ts'
import { RevokeBody, revocationNotification } from '../revocation-notification/flow.ts'
import type { z } from 'zod'
import { reasonOf } from '../../base/reason.ts'

/**
 * How long a message's id is remembered: 30 days, far longer than anybody tries to deliver it. One that comes later still
 * finds a record that has moved on, and is refused.
 */
const rememberedMs = 30 * 86_400_000

/** A message whose sender is proved: `from` is the DID that encrypted it, `to` ours that it was encrypted for. */
export type Received = {
  id: string
  /** As this agent knows it: of its own minor version. */
  type: string
  from: string
  to: string
  thid: string
  pthid?: string | undefined
  /** Epoch seconds, by the sender's clock. */
  createdTime?: number | undefined
  body: Record<string, unknown>
  attachments: Attachment[]
  /** The network address that brought it: the sender's, or that of a mediator. An invitation that the wallet's owner brought has none. */
  address?: string
}

/**
 * What a protocol does with a message: thinking first (resolve, verify), then the write that it returns.
 *
 * @throws {Problem} to refuse the message; nothing is written then.
 */
export type Handler = (wallet: Wallet, message: Received) => Promise<(tx: Tx) => Promise<unknown>>

const findMessage = prepared((db: Db, { id }: { id: string }) =>
  db.selectFrom('inbox').select('id').where('id', '=', id),
)

const insertMessage = prepared((db: Db, { id, received_at }: { id: string; received_at: string }) =>
  db
    .insertInto('inbox')
    .values({ id, received_at })
    .onConflict((conflict) => conflict.doNothing()),
)

/**
 * Takes an unpacked message to its handler, and writes its id, and that it came, with what the handler writes in one transaction. A refusal
 * that the sender has to know of is written in the same way, and reported once; of others only those of known senders are written down.
 *
 * @throws {Problem} when nobody vouches for the sender, the type is unknown, or the handler refuses it.
 */
export async function receive(
  wallet: Wallet,
  handlers: Readonly<Record<string, Handler>>,
  unpacked: Unpacked,
  address?: string,
): Promise<void> {
  const at = new Date()
  const received = { ...toReceived(unpacked), ...(address !== undefined && { address }) }
  const type = findKnownType(Object.keys(handlers), received.type)
  if (type === undefined) {
    const detail = `This agent does not know messages of type ${received.type}.`
    await noteRefusal(wallet, received, at, detail)
    throw new Problem('error:DIDCommControllerError:UnsupportedMessageType', detail)
  }
  const message = { ...received, type }
  const inboxId = createHash('sha256').update(`${message.from} ${message.id}`).digest('base64url')
  const isKnown = async () => (await findMessage(wallet.db, { id: inboxId })).rows.length > 0
  if (await isKnown()) return
  try {
    const end = expiresAtMs(unpacked.message)
    if (end !== undefined && isOver(end)) throw messageExpired(unpacked.message)
    const write = await handlers[type]!(wallet, message)
    await once(wallet, inboxId, async (tx) => {
      await log(tx, received, at)
      await write(tx)
    })
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    // A repetition of it may have been taken meanwhile, and have moved the record on.
    if (await isKnown()) return
    if (!toReport(error)) {
      await noteRefusal(wallet, received, at, error.message)
      throw error
    }
    if (await isStranger(wallet, message)) await wallet.env.limitReplies(message)
    const write = async (tx: Tx) => {
      await log(tx, received, at, error.message)
      await enqueueReport(tx, message, error)
    }
    // Whoever finds it in the inbox by now has lost a race against a repetition of it, which was not refused.
    if (await once(wallet, inboxId, write)) throw error
  }
}

/** Writes down that a message was refused, once, unless a stranger sent it: they cost no row. */
async function noteRefusal(wallet: Wallet, message: Received, at: Date, refusal: string): Promise<void> {
  if (
    (await isStranger(wallet, message)) ||
    (await isLogged(wallet.db, { id: message.id, thread: threadOf(message) }))
  )
    return
  await wallet.transaction((tx) => log(tx, message, at, refusal))
}

function isStranger(wallet: Wallet, message: Received): Promise<boolean> {
  return requireKnownSender(wallet.db, message).then(
    () => false,
    () => true,
  )
}

function log(tx: Tx, message: Received, at: Date, refusal?: string): Promise<void> {
  const { id, type, from, to } = message
  return logReceived(tx, { id, thread: threadOf(message), type, from, to }, { at, refusal })
}

/** Writes, unless the message was taken before. Returns whether it was written. */
function once(wallet: Wallet, inboxId: string, write: (tx: Tx) => Promise<unknown>): Promise<boolean> {
  return wallet.transaction(async (tx) => {
    const { numAffectedRows, insertId } = await insertMessage(tx, {
      id: inboxId,
      received_at: new Date().toISOString(),
    })
    if (!numAffectedRows) return false
    noteLogRow(tx, Number(insertId), pruneInbox)
    await write(tx)
    return true
  })
}

/** Rows are numbered in the order of their coming. */
const deleteMessages = prepared((db: Db, { before }: { before: string }) =>
  db
    .deleteFrom('inbox')
    .where(sql<number>`rowid`, '<', sql<number>`(select min(rowid) from inbox) + ${sql.lit(prunedAtOnce)}`)
    .where('received_at', '<', before),
)

/** Forgets some of the oldest messages, as far as nobody tries to deliver them any more. */
async function pruneInbox(tx: Tx): Promise<void> {
  const before = new Date(Math.min(Date.now(), steadyNow()) - rememberedMs)
  await deleteMessages(tx, { before: before.toISOString() })
}

/** Only authenticated messages with a sender are taken: an anonymous `from` is anybody's claim (threats C1, C2). */
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

/** Reads a message's body. @throws {Problem} `UnpackingFailed`, naming the member that is wrong. */
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

type Message = {
  id: string
  type: string
  thid?: string | undefined
  pthid?: string | undefined
  body: unknown
}

/** Thread ids are no longer than this (`didcomm/message.ts`), wherever they stand. */
const longestThid = 1_024

/** A report names the thread with the problem (Report Problem 2.0), a revocation that of the credential. */
export function threadOf({ id, type, thid = id, pthid, body }: Message): string {
  if (type === reportProblem.messages['problem-report']) return pthid ?? thid
  if (type !== revocationNotification.messages.revoke) return thid
  const about = RevokeBody.safeParse(body).data?.issueCredentialProtocolThreadId ?? thid
  return about.length <= longestThid ? about : thid
}
