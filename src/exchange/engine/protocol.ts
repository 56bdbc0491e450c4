/** A protocol with records, its records, the messages that it sends, and the refusal of a transition. */
import type * as z from 'zod'
import { Problem, type ProblemType } from '../../foundation/problem.ts'
import type { GaugeName } from '../../foundation/metrics.ts'
import type { Attachment } from '../didcomm/message.ts'
import {
  findExpiry,
  statesBefore,
  type Machine,
  type RoleOf,
  type SendsOf,
  type StateOf,
} from '../../definitions/machine.ts'

export type Protocol<M extends Machine = Machine, Data extends object = any> = M & {
  /** The fields beside those of `Rec`, as they are stored. */
  readonly model: z.ZodType<Data>
  /** Message type URIs by the names that the table uses after `send`. */
  readonly messages: Readonly<Record<string, string>>
  /** The record as REST and events show it. */
  readonly toResource: (record: Rec<M, Data>) => object
  /** Until when an unanswered invitation, offer or request of this side can be answered, in epoch seconds. */
  readonly endsAt?: (record: Rec<M, Data>) => number | undefined
  /** The Cloud Agent's metric of the duration of the last job. */
  readonly gauge?: GaugeName
  readonly problems: { readonly notFound: ProblemType; readonly wrongState: ProblemType }
}

/** A record: the fields that all protocols have, and the protocol's own. Instants are ISO 8601. */
export type Rec<M extends Machine = Machine, Data extends object = any> = {
  id: string
  thid: string
  role: RoleOf<M>
  state: StateOf<M>
  createdAt: string
  updatedAt?: string
  /** Among the records of the thread. Absent for the first, and in DIDComm, where it is the only one. */
  place?: number
} & Data

/**
 * A message that a transition sends: its name in the table, the sender's and the recipient's DID, and its
 * content.
 */
export type Outgoing<Name extends string = string> = {
  type: Name
  from: string
  to: string
  body: Record<string, unknown>
  attachments?: Attachment[]
  pthid?: string
  /** The type URI, if it is not the one in `messages`. */
  typeUri?: string | undefined
}

/** The last argument of a transition: the message that its row sends, or none. */
export type MessageFor<M extends Machine, T> = [SendsOf<M, T>] extends [never]
  ? []
  : [message: Outgoing<SendsOf<M, T>>]

/** The last instant whose ISO 8601 text sorts correctly among others. */
export const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The instant from which `FLOW_EXPIRY` counts, as ISO text: the last transition, or `endsAt` if that is
 * later. Null if the flow cannot expire in its state.
 */
export function waitsSince(protocol: Protocol<any>, record: Rec): string | null {
  const { role, state, createdAt, updatedAt = createdAt } = record
  if (!findExpiry(protocol, role, state)) return null
  const endsMs = Math.min(lastMs, (protocol.endsAt?.(record) ?? 0) * 1_000)
  return endsMs > Date.parse(updatedAt) ? new Date(endsMs).toISOString() : updatedAt
}

/** The error of a transition that the record's state does not allow. */
export function wrongState(protocol: Protocol<any>, record: Rec, on: string): Problem {
  const allowed = statesBefore(protocol, record.role, on).join(' or ')
  const when = allowed
    ? `which is possible in state ${allowed}`
    : `which a record of role ${record.role} never does`
  return new Problem(
    protocol.problems.wrongState,
    `The record ${record.id} is in state ${record.state} and cannot do '${on}', ${when}.`,
  )
}
