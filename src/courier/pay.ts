/** Pays one debt of the outbox: sends a message or does a piece of work, and writes down that it is done. */
import { steadyNow } from '../base/clock.ts'
import type { Fields } from '../base/log.ts'
import { Problem } from '../base/problem.ts'
import { CrowdedError, LeftAloneError } from '../net/destinations.ts'
import type { Debt, Owing } from '../outbox/debt.ts'
import { logSent, type Attempt } from '../outbox/message-log.ts'
import { done, putOff } from '../outbox/outbox.ts'
import { outcomes, protocols, works } from '../protocols/index.ts'
import { findRecord, getRecord } from '../protocols/find.ts'
import { findRow } from '../protocols/machine.ts'
import { flowExpired } from '../protocols/model.ts'
import { amend, settle, type Rec } from '../protocols/record.ts'
import { NotDelivered, sendMessage, type MessageDebt } from '../protocols/send.ts'
import { threadOf } from '../protocols/thread.ts'
import { LaterError } from '../wallet/work.ts'
import type { Tx } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** The shortest and the longest wait between two attempts, in milliseconds. */
const firstWaitMs = 250
const longestWaitMs = 60_000

/** How much of the reason is kept with a debt that is put off: a text that a peer may have chosen. */
const longestReason = 1_000

/** Pays a debt, or puts it off and notes on its record why. Returns whether it was paid. @throws {CrowdedError} when it has to wait for a place at the other side. */
export async function pay(wallet: Wallet, owing: Owing): Promise<boolean> {
  const { id, debt } = owing
  const at = new Date()
  try {
    const write = debt.kind === 'message' ? await send(wallet, owing, debt) : await works[debt.work]!(wallet, debt.recordId)
    await wallet.transaction(async (tx) => {
      await done(tx, id)
      await write(tx)
    })
    if (debt.kind === 'message') wallet.env.log.debug(aboutOf(wallet, owing), 'a message was sent')
    return true
  } catch (error) {
    // Nothing was done, and nothing was wrong: whoever called is to come again.
    if (error instanceof CrowdedError) throw error
    if (error instanceof LaterError) await wallet.transaction((tx) => putOff(tx, owing, error.at))
    else await note(wallet, owing, at, error)
    return false
  }
}

async function send(wallet: Wallet, owing: Owing, debt: MessageDebt): Promise<(tx: Tx) => Promise<unknown>> {
  const attempt = await sendMessage(wallet, owing.id, debt)
  const { protocol: name, recordId } = debt
  const protocol = protocols[name]
  return async (tx) => {
    await logMessage(tx, owing, debt, attempt)
    if (protocol) await settle(tx, protocol, await getRecord(tx, protocol, recordId), 'sent')
    else await outcomes[name]?.(tx, recordId)
  }
}

function logMessage(tx: Tx, owing: Owing, { from, to, message }: MessageDebt, attempt: Attempt): Promise<void> {
  const about = { id: owing.id, thread: threadOf({ id: owing.id, ...message }), type: message.type, from, to }
  return logSent(tx, about, owing, attempt)
}

/** A failure: the debt waits, unless the other side refused it for good, or a message has been tried for long enough. */
async function note(wallet: Wallet, owing: Owing, at: Date, error: unknown): Promise<void> {
  const { log, config } = wallet.env
  const { id, debt, attempts } = owing
  const endsAt = debt.kind === 'message' ? Date.parse(owing.createdAt) + config.MESSAGE_RETRY_FOR * 1_000 : Infinity
  const isRefused = error instanceof NotDelivered && error.isFinal
  const isFinal = isRefused || steadyNow() >= endsAt
  const about = aboutOf(wallet, owing)
  if (isFinal) log.warn({ ...about, err: error }, isRefused ? 'a message was refused' : 'a message was given up')
  else if ((attempts + 1) % 10 === 0) log.warn({ ...about, err: error }, 'a debt is still not paid')
  else log.info({ ...about, reason: (error as Error).message }, 'a debt is put off')

  const failure = toFailure(error)
  // Why it is left alone says more than that it is.
  const reason = (error instanceof LeftAloneError ? owing.reason : undefined) ?? failure.detail
  if (isFinal && !isRefused) failure.detail = `Given up after ${attempts + 1} attempts since ${owing.createdAt}: ${failure.detail}`
  const dueAt = Math.min(endsAt, steadyNow() + pauseMs(error, owing))
  await wallet.transaction(async (tx) => {
    if (!isFinal) await putOff(tx, owing, new Date(dueAt), new Date(steadyNow()), reason.slice(0, longestReason))
    else {
      await done(tx, id)
      const outcome = isRefused ? 'refused' : 'given up'
      if (debt.kind === 'message') await logMessage(tx, owing, debt, { at, failure: { outcome, reason } })
    }
    await tell(tx, debt, failure, isFinal)
  })
}

/** What the log says of an attempt: by its thread it is found at the other side, and with the request that it comes from. */
function aboutOf(wallet: Wallet, { id, lane, attempts, debt }: Owing): Fields {
  const { recordId } = debt
  const sent = debt.kind === 'message' ? { messageId: id, thid: debt.message.thid ?? id, type: debt.message.type } : {}
  return { walletId: wallet.id, lane, recordId, ...sent, attempts: attempts + 1 }
}

/** The record says why (api.md 5.1); of a protocol that has no records, whatever it keeps instead. */
async function tell(tx: Tx, { kind, protocol: name, recordId }: Debt, failure: Failure, isFinal: boolean): Promise<void> {
  const protocol = protocols[name]
  if (!protocol) {
    if (isFinal) await outcomes[name]?.(tx, recordId, failure.detail)
    return
  }
  const record = await findRecord(tx, protocol, recordId)
  // The answer may have come all the same: a record that has moved on knows better than this attempt.
  if (!record || !findRow(protocol.states, record.role, record.state, kind === 'message' ? 'sent' : 'made')) return
  // Why the flow is over matters more than that the other side was not told.
  const metaLastFailure = isExpired(record) ? record.metaLastFailure : failure
  await amend(tx, protocol, record, { metaRetries: isFinal ? 0 : Math.max(0, record.metaRetries - 1), metaLastFailure })
}

function isExpired({ state, metaLastFailure }: Rec): boolean {
  return state === 'ProblemReportPending' && metaLastFailure?.type === flowExpired.type
}

/** How long to wait: what the other side asked for, or as long as it is left alone by everybody. */
function pauseMs(error: unknown, owing: Owing): number {
  if (error instanceof LeftAloneError) return error.waitMs * (1 + Math.random() / 2)
  return Math.max(waitMs(owing), (error instanceof NotDelivered && error.waitMs) || 0)
}

/**
 * Doubling waits, none longer than a quarter of the debt's age, so that what could not be sent for a short time is sent soon after; each is
 * shortened by up to a half at random, so that many do not come back at once.
 */
function waitMs({ attempts, createdAt }: Owing): number {
  const ageMs = steadyNow() - Date.parse(createdAt)
  const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(attempts, 20), Math.max(firstWaitMs, ageMs / 4))
  return longest * (0.5 + Math.random() / 2)
}

type Failure = { status: number; type: string; title: string; detail: string }

function toFailure(error: unknown): Failure {
  if (error instanceof Problem) return { status: error.status, type: error.type, title: error.title, detail: error.message }
  return { status: 502, type: 'NotDelivered', title: 'NotDelivered', detail: (error as Error).message }
}
