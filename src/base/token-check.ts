/** Telling whether a token is one of those that are accepted, without keeping any of them. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from './secret.ts'

/** Keeps digests of tokens. What it returns takes as long for any wrong token as for any other; an empty one is none. */
export function createTokenCheck(tokens: readonly Secret[]): (token: unknown) => boolean {
  const digests = tokens.map((token) => digest(token.reveal()))
  return (token) => {
    if (typeof token !== 'string' || token === '') return false
    const given = digest(token)
    // All are compared, so that it cannot be told which one was met.
    return digests.filter((each) => timingSafeEqual(given, each)).length > 0
  }
}

/** Digests are of one length, which a comparison in constant time needs. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
