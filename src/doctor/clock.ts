/** The clock: was it set while the agent ran or before, and does it go with other people's? What is signed carries dates, and others refuse dates of tomorrow. */
import type { HttpClient } from '../net/guarded-agent.ts'
import { lasting, type Finding } from './check.ts'

/** Others mostly forgive as much; credentials and presentations have it as their leeway. */
const leewayMs = 30_000
/** Nobody forgives as much. */
const mostMs = 300_000

/** Milliseconds since 1970: by the system, by the clock that nobody sets, of the newest thing that was written, and by somebody else. */
export type Clocks = {
  now: number
  steady: number
  newest?: number | undefined
  other?: { ms: number; host: string } | undefined
}

/** What the clocks say of each other. */
export function judgeClock({ now, steady, newest, other }: Clocks): Finding {
  const hint =
    'timedatectl   # says whether the clock is kept right; `sudo timedatectl set-ntp true` has it kept right'
  if (newest !== undefined && newest - now > leewayMs) {
    const detail = `The clock is behind what was written last by ${lasting(newest - now)}: it was set back, or was ahead then.`
    return { status: 'failed', detail, hint }
  }
  const skew = other ? now - other.ms : 0
  if (Math.abs(skew) > leewayMs) {
    const detail = `The clock is ${lasting(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} that of ${other!.host}.`
    return { status: Math.abs(skew) > mostMs ? 'failed' : 'warning', detail, hint }
  }
  const jump = now - steady
  if (Math.abs(jump) > leewayMs) {
    const detail = `The clock was set ${jump > 0 ? 'forward' : 'back'} by ${lasting(Math.abs(jump))} since the daemon started.`
    return { status: 'warning', detail, hint }
  }
  return {
    status: 'ok',
    detail: other
      ? `The clock goes with that of ${other.host}.`
      : 'The clock has not been set since the daemon started.',
  }
}

/** The time of the server at a URL, as its answer says, in milliseconds since 1970; nothing when it does not say, or does not answer. */
export async function askTime(http: Pick<HttpClient, 'exchange'>, url: string): Promise<Clocks['other']> {
  const start = Date.now()
  const answer = await http
    .exchange(url, { method: 'GET', headers: {}, timeoutMs: 3_000, maxBytes: 65_536 })
    .catch(() => ({ date: undefined }))
  const at = Date.parse(answer.date ?? '')
  if (Number.isNaN(at)) return undefined
  // Half of the time went by after the answer was written; and seconds are cut off, half of one on average.
  return { ms: at + 500 + (Date.now() - start) / 2, host: new URL(url).host }
}
