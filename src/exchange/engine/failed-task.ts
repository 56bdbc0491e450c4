/** Tasks that can never succeed: the flow ends, and the other side is told. */
import { Problem } from '../../foundation/problem.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import type { TaskBody } from '../../wallet/outbox/job.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Composition } from './composition.ts'
import { findRecord } from './find.ts'
import { findRow, type Row } from '../../definitions/machine.ts'
import type { Protocol, Rec } from './protocol.ts'
import { advance } from './record.ts'

/** The code of the report. `me` is Report Problem 2.0's descriptor for a failure of the sender. */
const code = 'e.p.me.cannot-complete'

/** Whether a task fails for good. A host that does not answer now, or a bug, may be gone at the next attempt. */
export function isForGood(error: unknown): error is Problem {
  return error instanceof Problem && error.status < 500 && !(error.cause instanceof UnreachableError)
}

/**
 * Ends the flow of a failed task by the row `failed` of its table. The report does not have the reason, which
 * is about this wallet. False if the flow does not end so; it is true for a record that does not wait for the
 * task.
 */
export async function endFailed(
  tx: Tx,
  { protocols, reportTo }: Composition,
  { protocol: name, recordId, task }: TaskBody,
  metaLastFailure: object,
) {
  if (!protocols[name]) return false
  const protocol: Protocol<any> = protocols[name]
  const record = await findRecord(tx, protocol, recordId)
  if (!record || !waitsForTask(protocol, record, task)) return true
  const row = findRow(protocol, record.role, record.state, 'failed')
  const report = row?.[4] && (await reportTo(tx, record, { code, comment: `The ${task} cannot be made.` }))
  if (!row || (row[4] && !report)) return false
  await advance(tx, protocol, record, 'failed', { metaLastFailure, metaRetries: 0 }, report!)
  return true
}

/** Whether a record is in a state that the task has led to, and its flow is not over. */
export function waitsForTask(protocol: Protocol, { role, state }: Rec, task: string): boolean {
  const isTask = (row: Row) => row[0] === role && row[3] === state && row[4] === `make ${task}`
  return protocol.states[state]?.ends === undefined && protocol.rows.some(isTask)
}
