/** Checks the survey of the wallets: unreadable wallets, and items that have waited for too long. */
import { definitions } from '../../definitions/protocols.ts'
import { formatDuration, type Finding } from './check.ts'
import type { Survey, Waiting } from './survey.ts'

/** An error that lasts longer needs the operator. */
const patienceMs = 10 * 60_000
/** A ledger confirms an accepted operation within this time. */
const confirmedAfterMs = 3_600_000
/** A record is reported when it expires within this time and within the last tenth of its lifetime. */
const endsSoonMs = 86_400_000

export function checkWallets({ total, read, elsewhere, system, unreadable, setAside }: Survey): Finding {
  const [first] = unreadable
  if (setAside.length > 0) {
    return {
      status: 'failed',
      detail: `Set aside because damaged or another wallet's: ${counted(setAside.length, 'file')}, such as wallets/${setAside[0]}.`,
      hint: `cp <a copy of it> wallets/${setAside[0]!.replace(/\.damaged-.*$/, '')}   # in AGENT_DATA_DIR; the daemon can keep running`,
    }
  }
  if (!first)
    return {
      status: 'ok',
      detail: `${read} of ${counted(total, 'wallet')} were checked, and all can be read.${elsewhere > 0 ? ` Other nodes have ${elsewhere} more: run the doctor there too.` : ''}`,
    }
  return {
    status: 'failed',
    detail: `${unreadable.length} of ${counted(read, 'wallet')} cannot be read, such as ${first.name}: ${first.reason}`,
    hint:
      system === 'postgresql'
        ? 'agent doctor --deep   # examines all wallets; then restore a backup'
        : 'agent daemon stop   # then restore the file from a copy of the data folder (AGENT_DATA_DIR), and start the daemon again',
  }
}

export function checkOperations({ operations }: Survey, now = new Date()): Finding {
  if (operations.length === 0) return { status: 'ok', detail: 'No DID operation waits for the ledger.' }
  const failing = operations.filter(({ reason }) => reason !== undefined)
  const { since, walletId, what, reason } = oldest(failing.length > 0 ? failing : operations)
  const ageMs = now.getTime() - Date.parse(since)
  const detail = `Waiting for the ledger: ${sum(operations, 'DID operation')}, since ${formatDuration(ageMs)} ${what} of the wallet ${walletId}.`
  const hint = `agent did show ${what}   # as the wallet’s tenant; it continues when the ledger (VDR_URL) works again`
  if (reason !== undefined)
    return { status: ageMs > patienceMs ? 'failed' : 'warning', detail: `${detail} ${reason}`, hint }
  return ageMs > confirmedAfterMs ? { status: 'warning', detail, hint } : { status: 'ok', detail }
}

export function checkMessages({ messages }: Survey, now = new Date()): Finding {
  if (messages.length === 0) return { status: 'ok', detail: 'No message is waiting for a retry.' }
  const { since, walletId, what } = oldest(messages)
  const age = formatDuration(now.getTime() - Date.parse(since))
  return {
    status: 'warning',
    detail: `Not delivered: ${sum(messages, 'message')}, for ${age} one of ${what} of the wallet ${walletId}.`,
    hint: `${showCommand(what)}   # as the wallet’s tenant: the last failure names the reason; MESSAGE_RETRY_FOR limits the retries`,
  }
}

/** Checks failed tasks, and records that will expire soon; `lifetimeMs` is FLOW_EXPIRY. */
export function checkRecords({ records, tasks }: Survey, lifetimeMs: number, now = new Date()): Finding {
  if (tasks.length > 0) {
    const { since, walletId, what } = oldest(tasks)
    const detail = `Stuck: ${sum(tasks, 'record')} whose next step fails, since ${formatDuration(now.getTime() - Date.parse(since))} ${what} of the wallet ${walletId}.`
    return {
      status: 'warning',
      detail,
      hint: `${showCommand(what)}   # as the wallet’s tenant: the last failure names the reason`,
    }
  }
  if (records.length === 0) return { status: 'ok', detail: 'No record is waiting.' }
  const { since, walletId, what } = oldest(records)
  const ageMs = now.getTime() - Date.parse(since)
  const leftMs = lifetimeMs - ageMs
  const age = ageMs < 0 ? 'as an invitation that may still be answered' : `for ${formatDuration(ageMs)}`
  const detail = `${sum(records, 'record')} waiting for a next step, the longest ${age}: ${what} of the wallet ${walletId}, which expires in ${formatDuration(leftMs)}.`
  if (leftMs > endsSoonMs || leftMs > lifetimeMs / 10) return { status: 'ok', detail }
  return {
    status: 'warning',
    detail,
    hint: `${showCommand(what)}   # as the wallet’s tenant; FLOW_EXPIRY limits how long a flow can wait`,
  }
}

export function checkWebhooks({ deadLetters }: Survey, now = new Date()): Finding {
  if (deadLetters.length === 0)
    return { status: 'ok', detail: 'No event delivery was abandoned in the last day.' }
  const { since, walletId, what, reason = '' } = deadLetters.toSorted(bySince).at(-1)!
  const age = formatDuration(now.getTime() - Date.parse(since))
  return {
    status: 'warning',
    detail: `Abandoned in the last day: ${sum(deadLetters, 'event')}, the last ${age} ago for the webhook ${what} of the wallet ${walletId}: ${reason}`,
    hint: `agent webhook replay ${what} --failed   # as the wallet’s tenant, once the receiver runs`,
  }
}

/** The command that shows a record; `what` begins with its protocol and id. */
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
  return waiting.toSorted(bySince)[0]!
}

function bySince(a: Waiting, b: Waiting): number {
  return a.since < b.since ? -1 : 1
}
