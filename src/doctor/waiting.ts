/** What a survey of the wallets means: which of them cannot be read, and what has waited for too long. */
import { definitions } from '../protocols/definitions.ts'
import { lasting, type Finding } from './check.ts'
import type { Survey, Waiting } from './survey.ts'

/** What stands in the way for longer has to be mended by somebody. */
const patienceMs = 10 * 60_000
/** A ledger that has taken an operation judges it within this time. */
const judgedAfterMs = 3_600_000
/** A record that ends by itself within this time, and within the last tenth of its own, is told of. */
const endsSoonMs = 86_400_000

export function checkWallets({ total, seen, unreadable, setAside }: Survey): Finding {
  const [first] = unreadable
  if (setAside.length > 0) {
    return {
      status: 'failed',
      detail: `Damaged, or not the wallet's own, and so set aside: ${counted(setAside.length, 'file')}, the first of them wallets/${setAside[0]}.`,
      hint: `cp <a copy of it> wallets/${setAside[0]!.replace(/\.damaged-.*$/, '')}   # in AGENT_DATA_DIR; the daemon may go on meanwhile`,
    }
  }
  if (!first)
    return {
      status: 'ok',
      detail: `${seen} of ${counted(total, 'wallet')} looked into, and all can be read.`,
    }
  return {
    status: 'failed',
    detail: `${unreadable.length} of ${counted(seen, 'wallet')} cannot be read, the first of them wallets/${first.walletId}.db: ${first.reason}`,
    hint: 'agent daemon stop   # then put the file back from a copy of the data folder (AGENT_DATA_DIR), and start it again',
  }
}

export function checkOperations({ operations }: Survey, now = new Date()): Finding {
  if (operations.length === 0) return { status: 'ok', detail: 'No DID operation waits for the ledger.' }
  const failing = operations.filter(({ reason }) => reason !== undefined)
  const { since, walletId, what, reason } = oldest(failing.length > 0 ? failing : operations)
  const ageMs = now.getTime() - Date.parse(since)
  const detail = `Waiting for the ledger: ${sum(operations, 'DID operation')}, since ${lasting(ageMs)} ${what} of the wallet ${walletId}.`
  const hint = `agent did show ${what}   # as the wallet’s tenant; it goes on by itself once the ledger (VDR_URL) does what it should`
  if (reason !== undefined)
    return { status: ageMs > patienceMs ? 'failed' : 'warning', detail: `${detail} ${reason}`, hint }
  return ageMs > judgedAfterMs ? { status: 'warning', detail, hint } : { status: 'ok', detail }
}

export function checkMessages({ messages }: Survey, now = new Date()): Finding {
  if (messages.length === 0) return { status: 'ok', detail: 'No message waits for another attempt.' }
  const { since, walletId, what } = oldest(messages)
  const age = lasting(now.getTime() - Date.parse(since))
  return {
    status: 'warning',
    detail: `Not taken by the other side: ${sum(messages, 'message')}, since ${age} one of ${what} of the wallet ${walletId}.`,
    hint: `${showCommand(what)}   # as the wallet’s tenant: the last failure says why; each is tried again for MESSAGE_RETRY_FOR`,
  }
}

/** Records that wait, of which none does for long unless a person has to do something; `lifetimeMs` is how long one may wait. */
export function checkRecords({ records, tasks }: Survey, lifetimeMs: number, now = new Date()): Finding {
  if (tasks.length > 0) {
    const { since, walletId, what } = oldest(tasks)
    const detail = `Stuck: ${sum(tasks, 'record')} whose next step fails, since ${lasting(now.getTime() - Date.parse(since))} ${what} of the wallet ${walletId}.`
    return {
      status: 'warning',
      detail,
      hint: `${showCommand(what)}   # as the wallet’s tenant: the last failure says why`,
    }
  }
  if (records.length === 0) return { status: 'ok', detail: 'No record waits for anybody.' }
  const { since, walletId, what } = oldest(records)
  const ageMs = now.getTime() - Date.parse(since)
  const leftMs = lifetimeMs - ageMs
  const age = ageMs < 0 ? 'as an invitation that may still be answered' : `for ${lasting(ageMs)}`
  const detail = `${sum(records, 'record')} waiting for a next step, the longest ${age}: ${what} of the wallet ${walletId}, which ends by itself in ${lasting(leftMs)}.`
  if (leftMs > endsSoonMs || leftMs > lifetimeMs / 10) return { status: 'ok', detail }
  return {
    status: 'warning',
    detail,
    hint: `${showCommand(what)}   # as the wallet’s tenant; FLOW_EXPIRY says how long a flow may wait`,
  }
}

export function checkWebhooks({ deadLetters }: Survey, now = new Date()): Finding {
  if (deadLetters.length === 0) return { status: 'ok', detail: 'No event was given up in the last day.' }
  const { since, walletId, what, reason = '' } = newest(deadLetters)
  const age = lasting(now.getTime() - Date.parse(since))
  return {
    status: 'warning',
    detail: `Given up in the last day: ${sum(deadLetters, 'event')}, the last ${age} ago for the webhook ${what} of the wallet ${walletId}: ${reason}`,
    hint: `agent webhook replay ${what} --failed   # as the wallet’s tenant, once the receiver runs`,
  }
}

/** The command that shows what `what` begins with: a protocol and the id of a record. */
function showCommand(what: string): string {
  const [protocol = '', id = ''] = what.split(' ')
  const topic = definitions.find(({ name }) => name === protocol)?.topic
  return topic === undefined ? 'agent daemon logs' : `agent ${topic} show ${id}`
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
