/** What a wallet's webhooks are owed, and what they were told and is not written down yet. */
import { dueDeliveries, type Delivery } from '../outbox/lane.ts'
import type { Wallet } from '../wallet/wallet.ts'
import type { Lane } from './lanes.ts'
import type { Round } from './round.ts'

/** Looks for deliveries that are due, and notes what is known of webhooks from now on. Returns what to begin with. */
export async function findDeliveries(wallet: Wallet, round: Round): Promise<Lane<Delivery>[]> {
  const { heard, webhooks, noting } = round
  await wallet.settled()
  await Promise.all(noting.values())
  const before = heard.events
  const isNoted = [...noting.keys()].every((name) => webhooks.has(name))
  const { deliveries, told, nextAt } = await dueDeliveries(wallet.db, wallet.id, { busy: [...webhooks.keys(), ...noting.keys()] })
  const isAll = isNoted && heard.events === before
  round.told = isAll ? new Map(told.map((webhook) => [webhook.webhookId, webhook])) : undefined
  // What has come, or was left, meanwhile may be missing.
  if (!isAll) round.woken = { debts: false, ...round.woken, events: true }
  round.eventsAt = nextAt
  return deliveries
    .filter(({ webhookId }) => !noting.has(webhookId))
    .map(({ isLast, ...item }) => ({ item, rest: isLast && isAll ? [] : undefined }))
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
