/** Pays one debt of the outbox: sends a message or does a piece of work, and writes down that it is done. */
import { Problem } from '../base/problem.ts'
import { done, putOff, type Owing } from '../outbox/outbox.ts'
import { protocols, works } from '../protocols/index.ts'
import { getRecord } from '../protocols/find.ts'
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
  const protocol = protocols[debt.protocol]!
  return async (tx) => settle(tx, protocol, await getRecord(tx, protocol, debt.recordId), 'sent')
}

/** A failure: the record says why (api.md 5.1), and the debt waits, unless the other side refused it for good. */
async function note(wallet: Wallet, owing: Owing, error: unknown): Promise<void> {
  const { log } = wallet.env
  const isFinal = error instanceof NotDelivered && error.isFinal
  const about = { walletId: wallet.id, lane: owing.lane, attempts: owing.attempts + 1 }
  if (isFinal || (owing.attempts + 1) % 10 === 0)
    log.warn({ ...about, err: error }, isFinal ? 'a message was refused' : 'a debt is still not paid')
  else log.info({ ...about, reason: (error as Error).message }, 'a debt is put off')
  await wallet.transaction(async (tx) => {
    if (isFinal) await done(tx, owing.id)
    else await putOff(tx, owing, new Date(Date.now() + waitMs(owing.attempts)))
    const protocol = protocols[owing.debt.protocol]
    if (!protocol) return
    const record = await getRecord(tx, protocol, owing.debt.recordId)
    await amend(tx, protocol, record, { metaRetries: isFinal ? 0 : Math.max(0, record.metaRetries - 1), metaLastFailure: toFailure(error) })
  })
}

/** Doubling waits, each shortened by up to a half at random, so that many do not come back at once. */
function waitMs(attempts: number): number {
  const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(attempts, 20))
  return longest * (0.5 + Math.random() / 2)
}

function toFailure(error: unknown): { status: number; type: string; title: string; detail: string } {
  if (error instanceof Problem) return { status: error.status, type: error.type, title: error.title, detail: error.message }
  return { status: 502, type: 'NotDelivered', title: 'NotDelivered', detail: (error as Error).message }
}
