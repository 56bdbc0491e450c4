/**
 * What waits in the wallets. To open all of them could take minutes, so it is a bounded number: those with
 * jobs first.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { reasonOf } from '../base/reason.ts'
import type { Wallets } from '../wallet/wallets.ts'
import type { Known } from './addresses.ts'
import { look } from './look.ts'

/** How many there are in a wallet, and one of them: which it is, since when, and why if that is known. */
export type Waiting = { count: number; since: string; walletId: string; what: string; reason?: string }

export type Survey = {
  /** Wallets there are, and those that were looked into. */
  total: number
  seen: number
  unreadable: { walletId: string; reason: string }[]
  /** Names of wallets' files that were set aside as damaged. */
  setAside: string[]
  /** DID operations that the ledger has not judged, in each wallet; `reason` is what stands in the way of the oldest that has one. */
  operations: Waiting[]
  /** Messages that the other side has not taken at least once. */
  messages: Waiting[]
  /** Tasks for a record, such as signing, that have failed at least once. */
  tasks: Waiting[]
  /** Records that wait for somebody's next step, in each wallet; one of them waits for longest. */
  records: Waiting[]
  /** Events that a webhook did not take in the last day; `since` and `reason` are of the last one. */
  deadLetters: Waiting[]
  /** Webhooks, with what came of the last attempt if that was a failure. */
  webhooks: Target[]
  /** Addresses by which the other sides of connections know this agent. */
  addresses: Known[]
  /** When the last event of all was written. */
  newest?: string
}

/** Where events of a wallet go; `waiting` is how many it was not told yet, `reason` why it did not take the last one. */
export type Target = { walletId: string; webhookId: string; url: string; waiting: number; reason?: string }

export type SurveyOptions = { most?: number; timeMs?: number; now?: Date }

const dayMs = 86_400_000
const kinds = ['operations', 'messages', 'tasks', 'records', 'deadLetters'] as const

/** Looks into at most `most` wallets, one after the other, for about `timeMs`; never throws for what a wallet does. */
export async function surveyWallets(
  wallets: Wallets,
  busy: readonly string[],
  options: SurveyOptions = {},
): Promise<Survey> {
  const { most = 100, timeMs = 3_000, now = new Date() } = options
  const ids = await wallets.ids()
  const survey: Survey = {
    total: ids.length,
    seen: 0,
    unreadable: [],
    setAside: wallets.setAside(),
    operations: [],
    messages: [],
    tasks: [],
    records: [],
    deadLetters: [],
    webhooks: [],
    addresses: [],
  }
  const until = performance.now() + timeMs
  const known = new Set(ids)
  const chosen = [...new Set([...busy.filter((id) => known.has(id)), ...ids])].slice(0, most)
  for (const walletId of chosen) {
    if (performance.now() > until) break
    // Of wallets that are open nothing is waited for: all of them at a time would be everybody else's wait.
    await turn()
    survey.seen++
    try {
      const { newest, webhooks, addresses, ...found } = await wallets.use(walletId, ({ db }) =>
        look(db, new Date(now.getTime() - dayMs)),
      )
      survey.addresses.push(...addresses)
      survey.webhooks.push(...webhooks.map((each) => ({ walletId, ...each })))
      if (newest !== undefined && newest > (survey.newest ?? '')) survey.newest = newest
      for (const kind of kinds) if (found[kind]) survey[kind].push({ walletId, ...found[kind] })
    } catch (error) {
      survey.unreadable.push({ walletId, reason: reasonOf(error) })
    }
  }
  return survey
}
