/** What a survey of the wallets means: which of them cannot be read, and what has waited for too long. */
import { lasting, type Finding } from './check.ts'
import type { Survey, Waiting } from './survey.ts'

/** What stands in the way for longer has to be mended by somebody. */
const patienceMs = 10 * 60_000
/** A ledger that has taken an operation judges it within this time. */
const judgedAfterMs = 3_600_000

export function checkWallets({ total, seen, unreadable, setAside }: Survey): Finding {
  const [first] = unreadable
  if (setAside.length > 0) {
    return {
      status: 'failed',
      detail: `Damaged, or not the wallet's own, and so set aside: ${counted(setAside.length, 'file')}, the first of them wallets/${setAside[0]}.`,
      hint: 'put a copy of the file back as wallets/<id>.db, without a .sum beside it (AGENT_DATA_DIR); the daemon may go on meanwhile',
    }
  }
  if (!first) return { status: 'ok', detail: `${seen} of ${counted(total, 'wallet')} looked into, and all can be read.` }
  return {
    status: 'failed',
    detail: `${unreadable.length} of ${counted(seen, 'wallet')} cannot be read, the first of them wallets/${first.walletId}.db: ${first.reason}`,
    hint: 'stop the daemon, and put the file back from a copy of the data folder (AGENT_DATA_DIR)',
  }
}

export function checkOperations({ operations }: Survey, now = new Date()): Finding {
  if (operations.length === 0) return { status: 'ok', detail: 'No DID operation waits for the ledger.' }
  const failing = operations.filter(({ reason }) => reason !== undefined)
  const { since, walletId, what, reason } = oldest(failing.length > 0 ? failing : operations)
  const ageMs = now.getTime() - Date.parse(since)
  const detail = `Waiting for the ledger: ${sum(operations, 'DID operation')}, since ${lasting(ageMs)} ${what} of the wallet ${walletId}.`
  const hint = 'each goes on by itself once the ledger does what it should: see the check of the ledger, and VDR_URL'
  if (reason !== undefined) return { status: ageMs > patienceMs ? 'failed' : 'warning', detail: `${detail} ${reason}`, hint }
  return ageMs > judgedAfterMs ? { status: 'warning', detail, hint } : { status: 'ok', detail }
}

export function checkMessages({ messages }: Survey, now = new Date()): Finding {
  if (messages.length === 0) return { status: 'ok', detail: 'No message waits for another attempt.' }
  const { since, walletId, what } = oldest(messages)
  const age = lasting(now.getTime() - Date.parse(since))
  return {
    status: 'warning',
    detail: `Not taken by the other side: ${sum(messages, 'message')}, since ${age} one of ${what} of the wallet ${walletId}.`,
    hint: 'each is tried again for MESSAGE_RETRY_FOR; the record’s metaLastFailure says why, as does `agent daemon logs`',
  }
}

export function checkWebhooks({ deadLetters }: Survey, now = new Date()): Finding {
  if (deadLetters.length === 0) return { status: 'ok', detail: 'No event was given up in the last day.' }
  const { since, walletId, what, reason = '' } = newest(deadLetters)
  const age = lasting(now.getTime() - Date.parse(since))
  return {
    status: 'warning',
    detail: `Given up in the last day: ${sum(deadLetters, 'event')}, the last ${age} ago for the webhook ${what} of the wallet ${walletId}: ${reason}`,
    hint: 'start the receiver and send them again with `agent webhook replay`, or take the webhook away with `agent webhook remove`',
  }
}

function sum(waiting: readonly Waiting[], noun: string): string {
  return counted(
    waiting.reduce((all, { count }) => all + count, 0),
    noun,
  )
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function oldest(waiting: readonly Waiting[]): Waiting {
  return waiting.reduce((first, each) => (each.since < first.since ? each : first))
}

function newest(waiting: readonly Waiting[]): Waiting {
  return waiting.reduce((last, each) => (each.since > last.since ? each : last))
}
