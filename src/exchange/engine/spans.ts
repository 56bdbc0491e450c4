/**
 * The spans of flows: jobs, received messages and transitions. Attributes follow the semantic conventions for
 * messaging where they have a name; the thread is their conversation.
 */
import type { SpanStart } from '../../foundation/spans.ts'
import { findKnownType } from '../didcomm/message-type.ts'
import type { Unpacked } from '../didcomm/unpack.ts'
import type { Job } from '../../wallet/outbox/job.ts'
import type { Machine, Row } from '../../definitions/machine.ts'

/** One attempt at a job: it sends a message or runs a task. Its parent is the span that queued the job. */
export function jobSpan({ id, attempts, body }: Job, thread: string | undefined): SpanStart {
  const parent = body.traceparent ?? null
  const resent = attempts === 0 ? {} : { 'identity_agent.job.attempt': attempts + 1 }
  if (body.kind === 'task') return { name: `make ${body.task}`, parent, attributes: resent }
  const { message } = body
  return {
    name: `send ${shortType(message.type)}`,
    kind: 'producer',
    parent,
    attributes: {
      ...messaging('send', message.type),
      'messaging.message.id': id,
      'messaging.message.conversation_id': thread,
      ...resent,
    },
  }
}

/**
 * A received message, from its arrival. `known` are the types that the agent handles: the sender chooses the
 * type.
 */
export function messageSpan({ message }: Unpacked, known: readonly string[], thread: string): SpanStart {
  const type = findKnownType(known, message.type)
  return {
    name: `receive ${type === undefined ? 'unknown' : shortType(type)}`,
    kind: 'consumer',
    attributes: {
      ...messaging('process', message.type),
      'messaging.message.id': message.id,
      'messaging.message.conversation_id': thread,
    },
  }
}

/** The transition of a record: its event and its job. A new record comes from no state. */
export function transitionSpan({ name, topic }: Machine, [role, from, on, to]: Row): SpanStart {
  return {
    name: `${topic} ${to}`,
    isDetail: true,
    attributes: {
      'didcomm.protocol': name,
      'identity_agent.role': role,
      'identity_agent.trigger': on,
      ...(from !== null && { 'identity_agent.state.from': from }),
      'identity_agent.state.to': to,
    },
  }
}

function messaging(operation: 'send' | 'process', type: string) {
  return {
    'messaging.system': 'didcomm',
    'messaging.operation.name': operation === 'send' ? 'send' : 'receive',
    'messaging.operation.type': operation,
    'didcomm.message.type': type,
    'didcomm.protocol': shortType(type).split('/')[0],
  }
}

/** `issue-credential/3.0/offer-credential` of a message type URI. */
function shortType(type: string): string {
  return type.split('/').slice(-3).join('/')
}
