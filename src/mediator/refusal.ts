/** What the mediator says no with: a problem report to those it can answer, an HTTP status to everybody else (wire.md 6, 7.8). */
import { Problem, type ProblemType } from '../base/problem.ts'
import type { PlaintextMessage } from '../didcomm/message.ts'
import { threadOf, type Reply } from './reply.ts'

/** The problem codes of the mediator, and the HTTP problem that stands for each where no report can be sent. */
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

export type Code = keyof typeof codes

/** The longest argument that is told, in characters: a peer chose it. */
const maxArgument = 4_000

export class Refusal extends Problem {
  override name = 'Refusal'
  readonly code: Code
  /** Text of the problem report, with `{1}`, `{2}` where its arguments go. */
  readonly comment: string
  readonly args: string[]

  constructor(code: Code, comment: string, ...args: string[]) {
    super(
      codes[code],
      comment.replaceAll(/\{(\d)\}/g, (_, place: string) => (args[Number(place) - 1] ?? '').slice(0, 200)),
    )
    this.code = code
    this.comment = comment
    this.args = args.map((arg) => arg.slice(0, maxArgument))
  }

  /** True when the same message may be taken later: its sender is to try again, and must be told so at once. */
  get isForNow(): boolean {
    return this.code === 'e.p.me.res.storage' || this.code === 'e.p.req.time'
  }
}

/** An address asks more often than it may. */
export class TooOften extends Refusal {
  override name = 'TooOften'
  readonly waitSeconds: number

  /** `what` is in the plural, `waitSeconds` a whole number. */
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

/** A sender has no account here, or no more. */
export function notEnrolled(did: string): Refusal {
  return new Refusal(
    'e.p.req.not_enroll',
    'The DID {1} is not enrolled with this mediator, or was not heard of for so long that it is no more. Send a mediate-request, then register the DIDs again that messages are to be taken for.',
    did,
  )
}

/** Nobody picks up messages for a DID here. */
export function notServed(did: string): Refusal {
  return new Refusal(
    'e.p.req.not_enroll',
    'The DID {1} is not enrolled with this mediator: nobody picks up its messages here.',
    did,
  )
}

/** The problem report about a message (report problem 2.0): its parent thread is the one in which the problem occurred. */
export function toReport({ code, comment, args }: Refusal, message: PlaintextMessage): Reply {
  return {
    type: 'https://didcomm.org/report-problem/2.0/problem-report',
    pthid: threadOf(message),
    body: { code, comment, ...(args.length > 0 && { args }) },
  }
}
