/** Requests, replies and refusals of the mediator's protocols. */
import * as z from 'zod'
import type { Config } from '../../foundation/config/config.ts'
import { randomId } from '../../foundation/id.ts'
import { Problem, type ProblemType } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { canonicalDid, didOf, keysFor, type Resolve } from '../../did/document.ts'
import { toShortPeerDid } from '../../did/peer-4.ts'
import type { PlaintextMessage } from '../didcomm/message.ts'
import { packAuthcrypt } from '../didcomm/pack.ts'
import type { Unpacked } from '../didcomm/unpack.ts'
import type { MediatorTx } from '../../foundation/storage/database.ts'
import type { Identities } from './identity.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Channel, LiveDelivery } from './pickup.ts'

/** State of the mediator that handlers use. */
export type MediatorContext = {
  readonly config: Config
  readonly rates: RateLimits
  readonly live: LiveDelivery
  readonly identities: Identities
  readonly resolve: Resolve
  /** The system clock, milliseconds since 1970. */
  now: () => number
}

/** Where a message came from: the IP address, and the connection if it stays open (WebSocket). */
export type Transport = { address: string; channel?: Channel | undefined }

/** A message with a sender authenticated by authcrypt. */
export type Request = {
  message: PlaintextMessage
  /** The sender's DID as written, its route key, and the key it encrypted with. */
  sender: { did: string; account: string; kid: string }
  /** The mediator's DID that the message was sent to. It sends the reply. */
  to: string
} & Transport

/** A reply: parts of the plaintext message. */
export type Reply = Pick<PlaintextMessage, 'type' | 'body' | 'attachments' | 'thid' | 'pthid'>

/**
 * Handles one message type, in the transaction that stores the message's digest.
 *
 * @throws {Refusal} The transaction is rolled back.
 */
export type Handler = (
  tx: MediatorTx,
  context: MediatorContext,
  request: Request,
) => Promise<Reply | undefined>

/** The request of a message. `undefined` when its sender is not authenticated by authcrypt. */
export function toRequest(
  { message, senderKid, recipientKid }: Unpacked,
  { address, channel }: Transport,
): Request | undefined {
  if (senderKid === undefined) return undefined
  const did = didOf(senderKid)
  const sender = { did, account: toRouteKey(did), kid: senderKid }
  return { message, sender, to: didOf(recipientKid), address, channel }
}

/** Parses a message's body. @throws {Refusal} `e.p.msg` naming the member. */
export function readBody<Type extends z.ZodType>(message: PlaintextMessage, type: Type): z.output<Type> {
  const result = type.safeParse(message.body)
  if (result.success) return result.data
  throw new Refusal('e.p.msg', 'The body of the message cannot be read, {1}.', reasonOf(result.error))
}

/**
 * The form of a DID or key id under which accounts and recipients are stored: without fragment, did:prism and
 * did:peer numalgo 4 in their short form.
 */
export function toRouteKey(didOrKeyId: string): string {
  return toShortPeerDid(canonicalDid(didOf(didOrKeyId)))
}

export function threadOf({ id, thid }: PlaintextMessage): string {
  return thid ?? id
}

/**
 * Encrypts a reply from one of the mediator's DIDs to one key of the other side. A reply without a thread
 * starts one: some wallets require `thid`.
 */
export async function packReply(
  { resolve, identities, now }: MediatorContext,
  from: string,
  kid: string,
  reply: Reply,
): Promise<string> {
  const to = didOf(kid)
  const publicJwk = keysFor(await resolve(to), 'keyAgreement').find(({ id }) => id === kid)?.publicKeyJwk
  if (!publicJwk)
    throw new Error(`the document of ${to.slice(0, 100)} does not contain its sender key any more`)
  const id = randomId()
  const thread = reply.pthid === undefined ? { thid: reply.thid ?? id } : {}
  const message = { id, from, to: [to], created_time: Math.floor(now() / 1_000), ...reply, ...thread }
  return packAuthcrypt(message, { sender: identities.getSenderKey(from), recipients: [{ kid, publicJwk }] })
}

/** The mediator's problem codes (DIDComm v2.1, "Problem Codes"), and the HTTP problem of each. */
const codes = {
  'e.p.crypto.message.dejavu': 'error:MediatorError:MessageReplayed',
  'e.p.req.not_enroll': 'error:MediatorError:NotEnrolled',
  'e.p.msg': 'error:MediatorError:MalformedMessage',
  'e.p.msg.unsupported': 'error:DIDCommControllerError:UnsupportedMessageType',
  'e.p.me.res.storage': 'error:MediatorError:QueueFull',
  'e.p.req.time': 'error:MediatorError:TooManyRequests',
  'e.p.req.time.message-expired': 'error:DIDCommControllerError:MessageExpired',
  'e.m.live-mode-not-supported': 'error:MediatorError:LiveModeNotSupported',
} as const satisfies Record<string, ProblemType>

/** The longest argument of a problem report in characters. Peers choose some arguments. */
const maxArgument = 4_000

/** A refused message: a problem report to authenticated senders, an HTTP problem to others. */
export class Refusal extends Problem {
  override name = 'Refusal'
  readonly code: keyof typeof codes
  /** The comment of the problem report, with placeholders `{1}`, `{2}` for `args`. */
  readonly comment: string
  readonly args: string[]

  constructor(code: keyof typeof codes, comment: string, ...args: string[]) {
    super(
      codes[code],
      comment.replaceAll(/\{(\d)\}/g, (_, n: string) => (args[Number(n) - 1] ?? '').slice(0, 200)),
    )
    this.code = code
    this.comment = comment
    this.args = args.map((arg) => arg.slice(0, maxArgument))
  }

  /** True when the sender should repeat the same message later. */
  get isTemporary(): boolean {
    return this.code === 'e.p.me.res.storage' || this.code === 'e.p.req.time'
  }
}

/** An address exceeds a rate limit. */
export class RateLimited extends Refusal {
  override name = 'RateLimited'
  readonly waitSeconds: number

  /** `what` names the limited requests in the plural. `waitSeconds` is an integer. */
  constructor(what: string, waitSeconds: number) {
    super(
      'e.p.req.time',
      'There were too many {1} from your address. Try again in {2} seconds.',
      what,
      String(waitSeconds),
    )
    this.waitSeconds = waitSeconds
  }
}

/** The sender has no account, or its account was removed. */
export function notEnrolled(did: string): Refusal {
  return new Refusal(
    'e.p.req.not_enroll',
    'The DID {1} is not enrolled with this mediator, or its account was removed because it was not used. Send a mediate-request, then register the DIDs again.',
    did,
  )
}

/** No account has registered the DID that a message is for. */
export function notServed(did: string): Refusal {
  return new Refusal('e.p.req.not_enroll', 'The DID {1} is not enrolled with this mediator.', did)
}

/** The problem report about a message (Report Problem 2.0). */
export function toReport({ code, comment, args }: Refusal, message: PlaintextMessage): Reply {
  return {
    type: 'https://didcomm.org/report-problem/2.0/problem-report',
    pthid: threadOf(message),
    body: { code, comment, ...(args.length > 0 && { args }) },
  }
}
