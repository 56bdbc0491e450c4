/** The state of the enterprise suite outside of the wallets: sign-in tokens, limits, and requests that wait for an answer. */
import type { Config } from '../base/config.ts'
import { createRateLimiter } from '../base/rate-limiter.ts'
import { Problem } from '../base/problem.ts'
import { deriveSealKey } from '../base/seal.ts'
import { createSignInTokens, type SignInTokens } from './token.ts'

/** Answers per minute to one link, of which it accepts one. */
const answersPerLink = 30
/** Requests that wait at once. Requests above that get an immediate reply. */
const maxWaiting = 1_000

export type Enterprise = {
  readonly signInTokens: SignInTokens
  readonly answers: AnswerNotifier
  /** Counts an answer. @throws {Problem} 429 when an address sends, or a link gets, too many. */
  limitAnswers(address: string, submissionId: string): Promise<void>
  close(): void
}

/** Notifies requests that wait for the answer to a DID request or a challenge. */
export type AnswerNotifier = {
  /** Resolves when `notify` is called with the id, after `ms`, or when `signal` is aborted. */
  wait(id: string, ms: number, signal?: AbortSignal): Promise<void>
  notify(id: string): void
}

/** `url` is the public base URL of the HTTP API. */
export function createEnterprise(config: Config, agentKey: Uint8Array, { url }: { url: string }): Enterprise {
  const byAddress = createRateLimiter(config.ENTERPRISE_SUBMISSIONS_PER_MINUTE, 60)
  const byLink = createRateLimiter(answersPerLink, 60)
  const { close, ...answers } = createAnswerNotifier()
  return {
    signInTokens: createSignInTokens(deriveSealKey(agentKey, 'authentication-tokens'), {
      url,
      audience: config.AUTH_TOKEN_AUDIENCE ?? url,
      lifetimeSeconds: config.AUTH_TOKEN_LIFETIME,
    }),
    answers,
    async limitAnswers(address, submissionId) {
      const retryAfter = (await byAddress(address)) ?? (await byLink(submissionId))
      if (retryAfter === undefined) return
      const detail = `Too many answers. Try again in ${retryAfter} seconds.`
      throw new Problem('/errors/common/too-many-requests', detail, { retryAfter })
    },
    close,
  }
}

function createAnswerNotifier(): AnswerNotifier & { close: () => void } {
  const waiting = new Map<string, Set<() => void>>()
  let count = 0
  let isClosed = false

  function notify(id: string): void {
    for (const done of waiting.get(id) ?? []) done()
  }

  return {
    wait(id, ms, signal) {
      if (isClosed || count >= maxWaiting || signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const ofId = waiting.get(id) ?? new Set()
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          ofId.delete(done)
          if (ofId.size === 0) waiting.delete(id)
          count--
          resolve()
        }
        const timer = setTimeout(done, ms)
        waiting.set(id, ofId.add(done))
        signal?.addEventListener('abort', done)
        count++
      })
    },
    notify,
    close() {
      isClosed = true
      for (const id of waiting.keys()) notify(id)
    },
  }
}
