/** Keys that let somebody in, as they are made. */
import { randomBytes } from 'node:crypto'

/** Before every key that the agent makes, so that whoever scans files for secrets knows one when it sees it. */
const prefix = 'iak_'

/** Secrets travel in headers: one that no header can carry would let nobody in. */
export const headerText = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** Makes a key of 256 random bits: `iak_` and 43 characters of base64url. */
export function newApiKey(): string {
  return prefix + randomBytes(32).toString('base64url')
}
