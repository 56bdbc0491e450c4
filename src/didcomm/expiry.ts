/** When a message is too old to be taken (DIDComm v2.1, Message Headers, `expires_time`). */
import { Problem } from '../base/problem.ts'
import type { PlaintextMessage } from './message.ts'

/** How far the clocks of two honest parties may differ. */
const leewaySeconds = 30

/** The Cloud Agent gives every message this long, whatever it is for. */
const blanketSeconds = 1_000

/**
 * The leeway of such messages. Their times are those of a clock on the wall, taken for UTC: up to 14 hours off, by the zone of the server.
 * It also sends them again for longer than they say.
 */
const blanketLeewaySeconds = 86_400

/** The moment from which on a message is not taken, in milliseconds since 1970; nothing when it has no end. */
export function endOf({
  created_time: created,
  expires_time: expires,
}: PlaintextMessage): number | undefined {
  if (expires === undefined) return undefined
  const isBlanket = created !== undefined && expires - created === blanketSeconds
  return (expires + (isBlanket ? blanketLeewaySeconds : leewaySeconds)) * 1_000
}

/** The text of the refusal of a message whose end is over. */
export function expiredAt({ expires_time: expires = 0 }: PlaintextMessage): string {
  const date = new Date(expires * 1_000)
  return `The message expired at ${Number.isNaN(date.getTime()) ? expires : date.toISOString()} (expires_time). Send it anew.`
}

/** The refusal of a message whose end is over. */
export function messageExpired(message: PlaintextMessage): Problem {
  return new Problem('error:DIDCommControllerError:MessageExpired', expiredAt(message))
}
