/** Pays one debt of the outbox: sends a message or does a piece of work, and writes down that it is done. */
import { Problem } from '../base/problem.ts'
import { done, putOff, type Debt, type Owing } from '../outbox/outbox.ts'
import { outcomes, protocols, works } from '../protocols/index.ts'
import { findRecord, getRecord } from '../protocols/find.ts'
import { findRow } from '../protocols/machine.ts'
import { amend, settle } from '../protocols/record.ts'
import { NotDelivered, sendMessage, type MessageDebt } from '../protocols/send.ts'
import { LaterError } from '../wallet/work.ts'
import type { Tx } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'

/** The shortest and the longest wait between two attempts, in milliseconds. */
const firstWaitMs = 250
const longestWaitMs = 60_000

/** Pays a debt, or puts it off and notes on its record why. */
export async function pay(wallet: Wallet, owing: Owing): Promise<void> {
  const { id, debt } = owing
  try {
    const write = debt.kind === 'message' ? await send(wallet, id, debt) : await works[debt.work]!(wallet, debt.recordId)
    await wallet.transaction(async (tx) => {
      await done(tx, id)
      await write(tx)
    })
  } catch (error) {
    if (error instanceof LaterError) return wallet.transaction((tx) => putOff(tx, owing, error.at))
    await note(wallet, owing, error)
  }
}

async function send(wallet: Wallet, id: string, debt: MessageDebt): Promise<(tx: Tx) => Promise<unknown>> {
  await sendMessage(wallet, id, debt)
  const { protocol: name, recordId } = debt
  const protocol = protocols[name]
  if (!protocol) return async (tx) => outcomes[name]?.(tx, recordId)
  return async (tx) => settle(tx, protocol, await getRecord(tx, protocol, recordId), 'sent')
}

/** A failure: the debt waits, unless the other side refused it for good, or a message has been tried for long enough. */
async function note(wallet: Wallet, owing: Owing, error: unknown): Promise<void> {
  const { log, config } = wallet.env
  const { id, debt, attempts } = owing
  const endsAt = debt.kind === 'message' ? Date.parse(owing.createdAt) + config.DIDCOMM_RETRY_FOR * 1_000 : Infinity
  const isRefused = error instanceof NotDelivered && error.isFinal
  const isFinal = isRefused || Date.now() >= endsAt
  const about = { walletId: wallet.id, lane: owing.lane, attempts: attempts + 1 }
  if (isFinal) log.warn({ ...about, err: error }, isRefused ? 'a message was refused' : 'a message was given up')
  else if ((attempts + 1) % 10 === 0) log.warn({ ...about, err: error }, 'a debt is still not paid')
  else log.info({ ...about, reason: (error as Error).message }, 'a debt is put off')

  const failure = toFailure(error)
  if (isFinal && !isRefused) failure.detail = `Given up after ${attempts + 1} attempts since ${owing.createdAt}: ${failure.detail}`
  const dueAt = Math.min(endsAt, Date.now() + Math.max(waitMs(attempts), wantedMs(error)))
  await wallet.transaction(async (tx) => {
    if (isFinal) await done(tx, id)
    else await putOff(tx, owing, new Date(dueAt))
    await tell(tx, debt, failure, isFinal)
  })
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
  await amend(tx, protocol, record, { metaRetries: isFinal ? 0 : Math.max(0, record.metaRetries - 1), metaLastFailure: failure })
}

/** How long the other side asked to be left alone. */
function wantedMs(error: unknown): number {
  return (error instanceof NotDelivered && error.waitMs) || 0
}

/** Doubling waits, each shortened by up to a half at random, so that many do not come back at once. */
function waitMs(attempts: number): number {
  const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(attempts, 20))
  return longest * (0.5 + Math.random() / 2)
}

type Failure = { status: number; type: string; title: string; detail: string }

function toFailure(error: unknown): Failure {
  if (error instanceof Problem) return { status: error.status, type: error.type, title: error.title, detail: error.message }
  return { status: 502, type: 'NotDelivered', title: 'NotDelivered', detail: (error as Error).message }
}
