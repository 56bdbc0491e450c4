/** What a wallet's webhooks are owed, and what they were told and is not written down yet. */
import { eventsAfter } from '../outbox/event.ts'
import { dueDeliveries, nextDelivery, type Delivery, type DueDelivery } from '../outbox/lane.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { mostAhead, type Lane } from './lanes.ts'
import type { Round } from './round.ts'

/** Looks for deliveries that are due, begins with them, and notes what is known of webhooks from now on. */
export async function findDeliveries(wallet: Wallet, round: Round, begin: (lane: Lane<Delivery>) => void): Promise<void> {
  const { heard, webhooks, noting } = round
  await wallet.settled()
  await Promise.all(noting.values())
  const before = { ...heard }
  const isNoted = [...noting.keys()].every((name) => webhooks.has(name))
  const { deliveries, told, nextAt } = await dueDeliveries(wallet.db, wallet.id, { busy: [...webhooks.keys(), ...noting.keys()] })
  const lanes = await Promise.all(deliveries.map((delivery) => lookAhead(wallet, delivery)))
  // From here on nothing may come in between.
  const isAll = isNoted && heard.events === before.events
  for (const { item, rest, isAll: isEnd } of lanes)
    if (!wasTold(round, item)) begin({ item, rest: heard.changes === before.changes ? rest : [], isAll: isAll && isEnd })
  round.told = isAll ? new Map(told.map((webhook) => [webhook.webhookId, webhook])) : undefined
  // What has come, or was left, meanwhile may be missing.
  if (!isAll) round.woken = { debts: false, ...round.woken, events: true }
  round.eventsAt = nextAt
}

/** Whether a webhook has been told of something since it was read that it is owed it. */
function wasTold({ told, noting }: Round, { webhookId, kind, sequence }: Delivery): boolean {
  const isPast = kind === 'automatic' && (told?.get(webhookId)?.cursor ?? 0) >= sequence
  return isPast || noting.has(webhookId)
}

/** Who is behind is not looked after for each event. What was asked for again is in no order of its own. */
async function lookAhead({ db, id }: Wallet, { isLast, ...item }: DueDelivery): Promise<Lane<Delivery>> {
  if (isLast || item.kind === 'replay') return { item, rest: [], isAll: isLast }
  const next = await eventsAfter(db, id, item.sequence, mostAhead)
  return { item, rest: next.map((placed) => nextDelivery(item, placed, id)), isAll: next.length < mostAhead }
}

/**
 * Remembers, at once, that a webhook was told of something that is being written down: until it is, its place in the file is an older one.
 * Resolves when that is over. @throws what `noted` does
 */
export async function rememberUntil(noted: Promise<void>, { noting }: Round, webhookId: string): Promise<void> {
  const ended = noted.catch(() => undefined)
  noting.set(webhookId, ended)
  await ended
  if (noting.get(webhookId) === ended) noting.delete(webhookId)
  await noted
}
