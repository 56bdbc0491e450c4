/**
 * How many messages of strangers are answered: trust pings, and requests that come with an invitation that is used or has expired. Each answer is a call to an address that the sender names, and a sender can make as many DIDs as it
 * likes: so they are counted by the address that they come from, and by the invitation whose DID they are for.
 */
import { createPace } from '../base/pace.ts'
import { Problem } from '../base/problem.ts'

/** Counts a message for one of our DIDs. @throws {Problem} 429 when it is one too many. */
export type ReplyLimit = (message: { address?: string; to: string }) => Promise<void>

/** Lets each address, and each invitation, have `perMinute` answers. */
export function createReplyLimit(perMinute: number): ReplyLimit {
  const [byAddress, byInvitation] = [createPace(perMinute, 60), createPace(perMinute, 60)]
  return async ({ address = '', to }) => {
    const retryAfter = (await byAddress(address)) ?? (await byInvitation(to))
    if (retryAfter === undefined) return
    const detail = `${perMinute} messages in a minute are answered without a connection (INVITATION_REPLIES_PER_MINUTE). Come again in ${retryAfter} seconds.`
    throw new Problem('TooManyRequests', detail, { retryAfter })
  }
}
