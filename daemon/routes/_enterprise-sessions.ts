/** Handlers that DID requests (`/onboard`) and challenges (`/did-authentication`) share. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import {
  createSession,
  deleteSession,
  findSessionOfLink,
  getSession,
  getWalletIdOfLink,
  linkUnknown,
  listSessions,
  remainingMs,
  requireOpen,
  type Product,
  type Session,
  type SessionChoices,
} from '../../src/exchange/enterprise/session.ts'
import { unlessDeleted } from '../../src/foundation/storage/transferred.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { Page, toPage, whole, type Paging } from '../http/paging.ts'
import { useForOthers } from './_for-others.ts'

/** Proxies commonly close a request after 60 seconds without a reply. */
const maxWaitSeconds = 55

/** Requests that wait at once. Requests above that get an immediate reply. */
const maxWaiting = 1_000

export const Wait = z.object({
  wait: whole(0, maxWaitSeconds, 0).describe('How many seconds to wait for the answer. 0 when absent.'),
})

export const Collection = <Item extends z.ZodType>(item: Item, id: string) => Page('Collection', item, id)

type WaitInput = { query: z.output<typeof Wait>; whenGone: () => AbortSignal }

type Tenant = { wallet: Wallet; agent: Agent }

/** The handlers of a product; `listPath` is the path of its list. */
export function createHandlers<State extends { id: string }>(product: Product<State>, listPath: string) {
  const toState = (agent: Agent, row: Session) => product.toState(row, agent.env.urls.rest)
  return {
    create: async ({ wallet, agent }: Tenant, { body }: { body: SessionChoices }) =>
      toState(agent, await createSession(wallet, product, body)),

    list: async ({ wallet, agent }: Tenant, { query }: { query: Paging }) => {
      const { rows, total } = await listSessions(wallet.db, product, query)
      const contents = rows.map((row) => toState(agent, row))
      return toCollection(agent.env.urls.rest + listPath, { ...query, total }, contents)
    },

    get: async ({ wallet, agent }: Tenant, id: string, input: WaitInput) =>
      toState(agent, await readAnswered(agent, wallet, product, id, input)),

    delete: ({ wallet }: Tenant, id: string) => deleteSession(wallet, product, id),

    /** The open session of a link, for everyone who has the link. */
    async readLink(agent: Agent, submissionId: string) {
      const walletId = await getWalletIdOfLink(agent.env.tokens, product, submissionId)
      const found = agent.wallets.use(walletId, ({ db }) => findSessionOfLink(db, product, submissionId))
      const row = requireOpen(product, await unlessDeleted(found, () => linkUnknown(product)))
      return { walletId, row, state: toState(agent, row), remainingMs: remainingMs(row) }
    },

    /** What closes a link that was read. */
    watch: (open: { walletId: string; row: Session; remainingMs: number }) => ({
      walletId: open.walletId,
      topic: `session ${open.row.id}`,
      remainingMs: open.remainingMs,
    }),

    /** Runs `submit` with the wallet that issued a link. */
    async answer<T>(
      agent: Agent,
      submissionId: string,
      address: string,
      submit: (wallet: Wallet) => Promise<T>,
    ): Promise<T> {
      await agent.enterprise.limitAnswers(address, submissionId)
      const walletId = await getWalletIdOfLink(agent.env.tokens, product, submissionId)
      return useForOthers(agent, walletId, submit, () => linkUnknown(product))
    },
  }
}

/** A page with absolute URLs, as the `self` of its items. */
function toCollection<Item>(self: string, page: Paging & { total: number }, contents: Item[]) {
  const query = new URLSearchParams({ offset: String(page.offset), limit: String(page.limit) })
  const target = `${new URL(self).pathname}?${query.toString()}`
  const relative = toPage('Collection', { ...page, target }, contents, self)
  const toAbsolute = (url: string | undefined) => url && new URL(url, self).href
  const [next, previous] = [toAbsolute(relative.next), toAbsolute(relative.previous)]
  return { ...relative, pageOf: self, ...(next && { next }), ...(previous && { previous }) }
}

/** Reads a session. If it has no answer yet, waits for it, at most `seconds`, and reads again. */
async function readAnswered(
  { notifier, enterprise: { waiting } }: Agent,
  wallet: Wallet,
  product: Product,
  id: string,
  { query: { wait }, whenGone }: WaitInput,
): Promise<Session> {
  const read = () => getSession(wallet.db, product, id)
  if (wait === 0 || waiting.size >= maxWaiting) return read()
  // Subscribe before reading, so that an answer in between is not missed.
  const subscription = notifier.subscribe(`session ${id}`, wallet.id, whenGone())
  waiting.add(subscription)
  try {
    const session = await read()
    const timeoutMs = Math.min(wait * 1_000, remainingMs(session))
    if (timeoutMs === 0) return session
    await subscription.next(timeoutMs)
    return await read()
  } finally {
    subscription.close()
    waiting.delete(subscription)
  }
}
