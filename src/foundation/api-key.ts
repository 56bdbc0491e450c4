/** API keys and other secrets that are sent in headers: generated, compared and recognised. */
import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secret } from './secret.ts'

/** The prefix of generated keys. Secret scanners recognise it. */
const keyPrefix = 'iak_'

/** The characters that an HTTP header can carry, which is how keys are sent. */
export const headerText = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** Generates a key of 256 random bits: `iak_` and 43 characters of base64url. */
export function newApiKey(): string {
  return keyPrefix + randomBytes(32).toString('base64url')
}

/**
 * Creates a check whether a value is one of the tokens, of which only digests are kept. It takes the same
 * time for every wrong token, and never accepts an empty one.
 */
export function createTokenCheck(tokens: readonly Secret[]): (token: unknown) => boolean {
  // timingSafeEqual compares only values of the same length, which digests have.
  const digest = (token: string) => createHash('sha256').update(token).digest()
  const digests = tokens.map((token) => digest(token.reveal()))
  return (token) => {
    if (typeof token !== 'string' || token === '') return false
    const candidate = digest(token)
    // All digests are compared, so that the time does not tell which one matched.
    return digests.filter((each) => timingSafeEqual(candidate, each)).length > 0
  }
}

/**
 * Creates a function that maps a secret to a fingerprint (base64), with a salt that never leaves this
 * process.
 */
export function createFingerprint(): (secret: string) => string {
  const salt = randomBytes(32).toString('base64')
  return (secret) => hash('sha256', salt + secret, 'base64')
}
