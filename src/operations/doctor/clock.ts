/**
 * Checks the system clock: whether it was changed, and whether it agrees with another server. Other agents
 * reject signatures that are dated in the future.
 */
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { formatDuration, type Finding } from './check.ts'

/** A common tolerance for clocks. Verifiers of this agent use it too. */
const leewayMs = 30_000
/** No verifier tolerates more. */
const maxSkewMs = 300_000

/**
 * Milliseconds since 1970: the system clock, the monotonic clock of the process, the newest event, and
 * another server.
 */
export type Clocks = {
  now: number
  steady: number
  newest?: number | undefined
  /** A larger difference than `maxMs` has failed. */
  other?: { ms: number; host: string; maxMs?: number } | undefined
}

export function compareClocks({ now, steady, newest, other }: Clocks): Finding {
  const hint =
    'timedatectl   # shows whether the clock is synchronised; `sudo timedatectl set-ntp true` synchronises it'
  if (newest !== undefined && newest - now > leewayMs) {
    const detail = `The clock is ${formatDuration(newest - now)} behind the newest event: it was set back, or was ahead then.`
    return { status: 'failed', detail, hint }
  }
  const skew = other ? now - other.ms : 0
  if (Math.abs(skew) > leewayMs) {
    const detail = `The clock is ${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} that of ${other!.host}.`
    return { status: Math.abs(skew) > (other?.maxMs ?? maxSkewMs) ? 'failed' : 'warning', detail, hint }
  }
  const jump = now - steady
  if (Math.abs(jump) > leewayMs) {
    const detail = `The clock was set ${jump > 0 ? 'forward' : 'back'} by ${formatDuration(Math.abs(jump))} since the daemon started.`
    return { status: 'warning', detail, hint }
  }
  return {
    status: 'ok',
    detail: other
      ? `The clock agrees with that of ${other.host}.`
      : 'The clock was not changed since the daemon started.',
  }
}

/**
 * The time in the `Date` header of a server, in milliseconds since 1970. Undefined when it does not send one,
 * or does not reply.
 */
export async function fetchTime(http: Pick<HttpClient, 'exchange'>, url: string): Promise<Clocks['other']> {
  const start = Date.now()
  const answer = await http
    .exchange(url, { method: 'GET', headers: {}, timeoutMs: 3_000, maxBytes: 65_536 })
    .catch(() => ({ date: undefined }))
  const at = Date.parse(answer.date ?? '')
  if (Number.isNaN(at)) return undefined
  // Add half of the round trip, and half a second since the header has whole seconds.
  return { ms: at + 500 + (Date.now() - start) / 2, host: new URL(url).host }
}
