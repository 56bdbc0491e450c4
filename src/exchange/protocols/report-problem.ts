/**
 * Report Problem 2.0: a report ends the flow of the record that it is about, and this agent reports the
 * messages that it refuses.
 *
 * https://identity.foundation/didcomm-messaging/spec/v2.1/#problem-reports
 */
import * as z from 'zod'
import { oneLine } from '../../foundation/foreign.ts'
import type { Problem, ProblemType } from '../../foundation/problem.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { connection } from './connection/model.ts'
import { findRecord } from '../engine/find.ts'
import { findRow, type Machine } from '../../definitions/machine.ts'
import type { Handler, Received } from '../engine/receive.ts'
import { advanceByReply } from '../engine/record.ts'
import type { Outgoing, Protocol, Rec } from '../engine/protocol.ts'
import { enqueueReply } from './stateless-message.ts'
import { bindSender, findRecordFor, requireKnownSender } from './peers.ts'

export const reportProblem = {
  name: 'report-problem',
  messages: { 'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report' },
} as const

export const ReportBody = z.looseObject({
  /** Sorter, scope and descriptors, such as `e.p.msg.offer-refused`. */
  code: z.string().min(1).max(200),
  /** The problem in words. `{1}` stands for the first of `args`. */
  comment: z.string().nullish(),
  args: z.array(z.unknown()).nullish(),
})
export type ReportBody = z.infer<typeof ReportBody>

const trigger = 'received problem-report'

/**
 * Ends the flow of the thread, if a record of one of the protocols waits for this sender. Any other report
 * changes nothing.
 */
export function onProblemReport(protocols: readonly Protocol[]): Handler {
  return async (wallet, message) => {
    const report = ReportBody.safeParse(message.body).data
    const thid = message.pthid ?? message.thid
    // After a warning (`w.`) the other side continues.
    const isEnd = report !== undefined && !report.code.startsWith('w.')
    const find = (db: Db) => findReported(db, protocols, { ...message, thid })
    const isAboutRecord = isEnd && (await find(wallet.db)) !== undefined
    if (!isAboutRecord) await requireKnownSender(wallet.db, message)
    wallet.env.log.info({ walletId: wallet.id, thid, code: report?.code }, 'the other side reports a problem')
    if (!isAboutRecord) return () => Promise.resolve()
    const metaLastFailure = {
      status: 400,
      type: report.code,
      title: 'Problem report',
      detail: commentOf(report),
    }
    return async (tx) => {
      // The flow may have expired meanwhile, or another sender may have answered the invitation.
      const { protocol, record } = (await find(tx)) ?? {}
      if (!protocol || !record) return
      const change = { metaLastFailure, ...bindSender(message, record) }
      await advanceByReply(tx, protocol, record.id, trigger, change)
    }
  }
}

/**
 * Enqueues a report to the sender of a refused message. The message is authenticated; the handler that
 * refuses it with one of `codes` has checked that the sender may know of the thread.
 */
export async function enqueueReport(tx: Tx, message: Received, problem: Problem): Promise<void> {
  const body = toReport(problem)
  const type = reportProblem.messages['problem-report']
  if (!body || message.type === type) return
  await enqueueReply(tx, message, reportProblem.name, { type, pthid: message.thid, body })
}

/** A report to the sender of a message, or to the other side of its thread, as a transition sends it. */
export function problemReport(
  { from, to, thid }: Pick<Received, 'from' | 'to' | 'thid'>,
  body: { code: string; comment: string },
) {
  return { type: 'problem-report' as const, from: to, to: from, pthid: thid, body }
}

/**
 * The report to the other side, in any state of the connection. An unanswered invitation, and a deleted
 * connection, have none.
 */
export async function reportTo(
  tx: Tx,
  record: Rec,
  body: { code: string; comment: string },
): Promise<Outgoing | undefined> {
  const sides: Rec =
    record.connectionId === undefined ? record : await findRecord(tx, connection, record.connectionId)
  if (sides?.myDid === undefined || sides.theirDid === undefined) return undefined
  const { myDid: to, theirDid: from } = sides
  return problemReport({ from, to, thid: record.thid }, body)
}

/**
 * The record of the thread whose other side is the sender, or whose invitation the report answers, and whose
 * table has the trigger.
 */
async function findReported(
  db: Db,
  protocols: readonly Protocol[],
  message: Pick<Received, 'from' | 'to' | 'thid'>,
): Promise<{ protocol: Protocol; record: Rec } | undefined> {
  for (const protocol of protocols) {
    for (const role of protocol.roles) {
      const record = await findRecordFor(db, protocol, role, message, { mayAnswer: true })
      if (record && isWaiting(protocol, record)) return { protocol, record }
    }
  }
  return undefined
}

/** Whether the record is in a state with the trigger, or will be once its own message is confirmed as sent. */
function isWaiting(protocol: Machine, { role, state }: Rec): boolean {
  const sent = findRow(protocol, role, state, 'sent')?.[3] ?? state
  return findRow(protocol, role, sent, trigger) !== undefined
}

/** The longest stored comment, in characters. */
const maxComment = 1_000

/** The problems that are reported to the other side, and their codes. */
export const codes: Readonly<Partial<Record<ProblemType, string>>> = {
  'error:ConnectionServiceError:InvitationExpired': 'e.p.req.time.invitation-expired',
  'error:ConnectionServiceError:InvitationAlreadyReceived': 'e.p.req.invitation-used',
  'error:CredentialServiceError:InvitationExpired': 'e.p.req.time.invitation-expired',
  'error:CredentialServiceError:InvalidCredentialOffer': 'e.p.msg.offer-refused',
  'error:CredentialServiceError:InvalidCredentialRequest': 'e.p.trust.request-refused',
  'error:CredentialServiceError:InvalidCredentialIssue': 'e.p.trust.credential-refused',
  'error:PresentationError:InvitationExpired': 'e.p.req.time.invitation-expired',
  'error:PresentationError:InvalidPresentationRequest': 'e.p.msg.request-refused',
  'error:PresentationError:InvalidPresentation': 'e.p.msg.presentation-unreadable',
}

/** The body of the report of a problem. Undefined if it is not reported. */
export function toReport({ type, message }: Problem): { code: string; comment: string } | undefined {
  const code = codes[type]
  return code === undefined ? undefined : { code, comment: message.slice(0, maxComment) }
}

/** The comment of a report with its arguments filled in. */
export function commentOf({ comment, args }: ReportBody): string | undefined {
  if (comment == null) return undefined
  const filled = comment
    .slice(0, maxComment)
    .replaceAll(/\{(\d{1,3})\}/g, (_, place: string) => toText(args?.[Number(place) - 1]))
  return oneLine(filled, maxComment)
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '?'
}
