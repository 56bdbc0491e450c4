/** The state of the enterprise suite outside of the wallets: sign-in tokens, and limits. */
import type { Config } from '../../foundation/config/config.ts'
import type { Subscription } from '../../foundation/notifier.ts'
import { createRateLimiter } from '../../foundation/rate-limiter.ts'
import { Problem } from '../../foundation/problem.ts'
import { deriveSealKey } from '../../foundation/seal.ts'
import { createSignInTokens, type SignInTokens } from './token.ts'

/** Answers per minute to one link, of which it accepts one. */
const answersPerLink = 30

export type Enterprise = {
  readonly signInTokens: SignInTokens
  /** The requests that wait for an answer. */
  readonly waiting: Set<Subscription>
  /** Counts an answer. @throws {Problem} 429 when an address sends, or a link gets, too many. */
  limitAnswers(address: string, submissionId: string): Promise<void>
}

/** `url` is the public base URL of the HTTP API. */
export function createEnterprise(config: Config, agentKey: Uint8Array, { url }: { url: string }): Enterprise {
  const byAddress = createRateLimiter(config.ENTERPRISE_SUBMISSIONS_PER_MINUTE, 60)
  const byLink = createRateLimiter(answersPerLink, 60)
  return {
    signInTokens: createSignInTokens(deriveSealKey(agentKey, 'authentication-tokens'), {
      url,
      audience: config.AUTH_TOKEN_AUDIENCE ?? url,
      lifetimeSeconds: config.AUTH_TOKEN_LIFETIME,
    }),
    waiting: new Set(),
    async limitAnswers(address, submissionId) {
      const retryAfter = (await byAddress(address)) ?? (await byLink(submissionId))
      if (retryAfter === undefined) return
      const detail = `Too many answers. Try again in ${retryAfter} seconds.`
      throw new Problem('/errors/common/too-many-requests', detail, { retryAfter })
    },
  }
}
