/**
 * Report Problem 2.0 (wire.md 6, api.md 5): the other side says that it cannot go on, and the record that is about says so
 * too; and we say the same of what we refuse.
 */
import type { Problem } from '../../base/problem.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { connection } from '../connection/model.ts'
import { findByThread } from '../engine/find.ts'
import { issueCredential } from '../issue-credential/model.ts'
import { findRow, type Machine } from '../engine/machine.ts'
import { mustKnow, putAnswer } from '../notice.ts'
import { boundBy, findRecordFor } from '../peers.ts'
import { presentProof } from '../present-proof/model.ts'
import type { Handler, Received } from '../engine/receive.ts'
import { advanceByReply, type Protocol, type Rec } from '../engine/record.ts'
import { commentOf, ReportBody, reportProblem, toReport } from './model.ts'

const received = 'received problem-report'

/** Moves the record of the thread that waits for this sender's answer; a report about anything else is taken and changes nothing. */
export const onProblemReport: Handler = async (wallet, message) => {
  const report = ReportBody.safeParse(message.body).data
  const thid = message.pthid ?? message.thid
  // A warning (`w.`) says that the other side goes on.
  const isEnd = report !== undefined && !report.code.startsWith('w.')
  const find = (db: Db) => findConcerned(db, { ...message, thid })
  const isConcerning = isEnd && (await find(wallet.db)) !== undefined
  // Whose report moves a record is its other side, or declines the offer in an invitation, which answers it.
  if (!isConcerning) await mustKnow(wallet.db, message)
  wallet.env.log.info({ walletId: wallet.id, thid, code: report?.code }, 'the other side reports a problem')
  if (!isConcerning) return () => Promise.resolve()
  const metaLastFailure = {
    status: 400,
    type: report.code,
    title: 'Problem report',
    detail: commentOf(report),
  }
  return async (tx) => {
    // Meanwhile the flow may have ended by itself, or somebody else have answered the invitation.
    const concerned = await find(tx)
    if (!concerned) return
    const { protocol, record } = concerned
    await advanceByReply(tx, protocol, record.id, received, { metaLastFailure, ...boundBy(message, record) })
  }
}

/**
 * Owes the sender of a message a report of why it is refused. That the message itself was authenticated is certain here; that
 * its sender may know of the thread has been seen to by whoever refused it with one of the `codes`.
 */
export async function putReport(tx: Tx, message: Received, problem: Problem): Promise<void> {
  const body = toReport(problem)
  if (!body || message.type === reportProblem.messages['problem-report']) return
  await putAnswer(tx, message, reportProblem.name, {
    type: reportProblem.messages['problem-report'],
    pthid: message.thid,
    body,
  })
}

/** The record that a report is about: of the thread, with the sender on its other side or answering its invitation, and waiting for it. */
async function findConcerned(
  db: Db,
  message: Pick<Received, 'from' | 'to' | 'thid'>,
): Promise<Concerned | undefined> {
  for (const role of ['Inviter', 'Invitee'] as const) {
    const record = await findByThread(db, connection, role, message.thid)
    const isTheirs = record?.myDid === message.to && record.theirDid === message.from
    if (record && isTheirs && isWaiting(connection, record)) return { protocol: connection, record }
  }
  for (const role of ['Issuer', 'Holder'] as const) {
    const record = await findRecordFor(db, issueCredential, role, message, { mayAnswer: true })
    if (record && isWaiting(issueCredential, record)) return { protocol: issueCredential, record }
  }
  for (const role of ['Verifier', 'Prover'] as const) {
    const record = await findRecordFor(db, presentProof, role, message)
    if (record && isWaiting(presentProof, record)) return { protocol: presentProof, record }
  }
  return undefined
}

type Concerned = { protocol: Protocol; record: Rec }

/** True for a record that stands before a report, or will as soon as we know that our own message has arrived. */
function isWaiting(
  { states }: { states: Machine },
  { role, state }: { role: string; state: string },
): boolean {
  const sent = findRow(states, role, state, 'sent')?.[3] ?? state
  return findRow(states, role, sent, received) !== undefined
}
