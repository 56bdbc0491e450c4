/**
 * Lanes of a wallet: debts of one record, or events for one webhook, one after the other. What a commit has promised or written goes into its lane
 * as it is told, so that the file is asked only for what is not known: after a start, after a failure, after a change.
 */
import type { Owing } from '../outbox/debt.ts'
import { nextDelivery, type Delivery, type Told } from '../outbox/lane.ts'
import type { News } from '../outbox/news.ts'
import { freeFor, type Round } from './round.ts'

/** A lane that is occupied, what with, what comes behind that, in order, and whether that is all; else more has to be looked for. */
export type Lane<T> = { item: T; rest: T[]; isAll: boolean }

/** What is remembered of a lane at most. */
export const mostAhead = 100

/**
 * Takes in debts that were promised: in lanes that are occupied they wait, others are begun with. Returns whether that is all there is to do; else
 * they are to be looked for.
 */
export function hearDebts(round: Round, debts: News['debts'], begin: (debt: Owing) => void): boolean {
  if (debts.length === 0) return true
  round.heard.debts++
  if (debts === 'look') for (const lane of round.debts.values()) forget(lane)
  if (debts === 'look' || round.hasMore) return false
  let isKnown = true
  for (const { isFirst, ...debt } of debts) {
    const lane = round.debts.get(debt.lane)
    // What the lane was occupied with has been struck out, then.
    if (lane && isFirst) Object.assign(lane, { rest: [debt], isAll: true })
    else if (lane) queue(lane, [debt])
    else if (isFirst && freeFor(round) > 0) begin(debt)
    else isKnown = false
  }
  return isKnown
}

/** Takes in events that were written, as `hearDebts` does: each is for every webhook. */
export function hearEvents(round: Round, events: News['events'], walletId: string, begin: (lane: Lane<Delivery>) => void): boolean {
  if (events.length === 0) return true
  round.heard.events++
  if (events === 'look') {
    round.heard.changes++
    for (const lane of round.webhooks.values()) forget(lane)
    round.told = undefined
  }
  if (events === 'look' || !round.told) return false
  let isKnown = true
  for (const lane of round.webhooks.values()) {
    const { item, rest, isAll } = lane
    if (!isAll) continue
    if (follows(events, (rest.at(-1) ?? item).sequence))
      queue(
        lane,
        events.map((event) => nextDelivery(item, event, walletId)),
      )
    else lane.isAll = false
  }
  for (const [id, told] of round.told) {
    round.told.delete(id)
    const [item, ...rest] = events.map((event) => nextDelivery(told, event, walletId))
    if (item && follows(events, told.cursor)) begin({ item, rest, isAll: true })
    else isKnown = false
  }
  return isKnown
}

/** A webhook that has just taken what was last in its lane. */
export function toTold({ webhookId, url, headers, secrets, sequence: cursor }: Delivery): Told {
  return { webhookId, url, headers, secrets, cursor }
}

/** Whether events are those right after a place in the log. */
function follows([first]: Exclude<News['events'], 'look'>, sequence: number): boolean {
  return first?.sequence === sequence + 1
}

function queue<T>(lane: Lane<T>, items: readonly T[]): void {
  if (!lane.isAll) return
  if (lane.rest.length + items.length > mostAhead) lane.isAll = false
  else lane.rest.push(...items)
}

/** What comes behind has changed. */
function forget(lane: Lane<unknown>): void {
  Object.assign(lane, { rest: [], isAll: false })
}

/** News of the same kinds, without what they are. */
export function unread({ debts, events }: News): News {
  return { debts: debts.length > 0 ? 'look' : debts, events: events.length > 0 ? 'look' : events }
}
