/** What the enterprise suite has beside the wallets: the key of its links, how many answers it takes, who waits, and what signs tokens. */
import type { Config } from '../base/config.ts'
import { createPace } from '../base/pace.ts'
import { Problem } from '../base/problem.ts'
import { deriveSealKey } from '../base/seal.ts'
import type { Product } from './session.ts'
import { newSubmissionId, openSubmissionId } from '../wallet/wallet-tokens.ts'
import { createTokens, type Tokens } from './token.ts'

/** Answers to one link in a minute. It takes one; the others are told so, and need not be told often. */
const perLink = 30

export type Enterprise = {
  readonly tokens: Tokens
  readonly waiters: Waiters
  newSubmissionId(product: Product, walletId: string): string
  /** The wallet that a link belongs to; nothing for a link that no wallet here has issued. */
  openSubmissionId(product: Product, id: string): Promise<string | undefined>
  /** Counts an answer. @throws {Problem} 429 when there are too many from an address, or to a link. */
  admit(address: string, submissionId: string): Promise<void>
  close(): void
}

type Around = {
  /** The public base URL of the HTTP API. */
  url: string
  /** The wallet that was imported with a link. */
  findAlias: (product: Product, id: string) => Promise<string | undefined>
}

/** Makes what the suite has, by keys derived from the agent's. */
export function createEnterprise(
  config: Config,
  agentKey: Uint8Array,
  { url, findAlias }: Around,
): Enterprise {
  const key = deriveSealKey(agentKey, 'enterprise-submissions')
  const byAddress = createPace(config.ENTERPRISE_SUBMISSIONS_PER_MINUTE, 60)
  const byLink = createPace(perLink, 60)
  const waiters = createWaiters()
  return {
    tokens: createTokens(deriveSealKey(agentKey, 'authentication-tokens'), {
      url,
      audience: config.AUTH_TOKEN_AUDIENCE ?? url,
      lifetimeSeconds: config.AUTH_TOKEN_LIFETIME,
    }),
    waiters,
    newSubmissionId: (product, walletId) => newSubmissionId(key, product, walletId),
    openSubmissionId: async (product, id) => openSubmissionId(key, product, id) ?? findAlias(product, id),
    async admit(address, submissionId) {
      const retryAfter = (await byAddress(address)) ?? (await byLink(submissionId))
      if (retryAfter === undefined) return
      throw new Problem(
        '/errors/common/too-many-requests',
        `Too many answers have come. Try again in ${retryAfter} seconds.`,
        {
          retryAfter,
        },
      )
    },
    close: () => waiters.close(),
  }
}

/** How many may wait at a time. Whoever comes then is answered at once, as if the time were over. */
const places = 1_000

export type Waiters = {
  /** Resolves when `wake` is called for the id, when the time is over, or when `signal` says that nobody waits any more. */
  wait(id: string, milliseconds: number, signal?: AbortSignal): Promise<void>
  /** Tells everybody who waits for the id. */
  wake(id: string): void
  /** Tells everybody: nothing more will come. */
  close(): void
}

export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>()
  let count = 0
  let isClosed = false

  function wake(id: string): void {
    for (const done of waiting.get(id) ?? []) done()
  }

  return {
    wait(id, milliseconds, signal) {
      if (isClosed || count >= places || signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          others.delete(done)
          if (others.size === 0) waiting.delete(id)
          count--
          resolve()
        }
        const timer = setTimeout(done, milliseconds)
        const others = waiting.get(id) ?? new Set()
        waiting.set(id, others.add(done))
        signal?.addEventListener('abort', done)
        count++
      })
    },
    wake,
    close() {
      isClosed = true
      for (const id of waiting.keys()) wake(id)
    },
  }
}
