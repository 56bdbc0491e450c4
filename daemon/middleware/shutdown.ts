/**
 * The last responses of a stopping daemon close their connections. They are sent once the port is closed: a
 * client that got one earlier would connect again, and the system would reset its connection when the port
 * closes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Middleware } from 'koa'

/** The port is closed after 50 checks without a new request (250 ms), or after 400 checks (2 s). */
const [checkMs, quietChecks, maxChecks] = [5, 50, 400]

export type Shutdown = {
  /** Holds responses from now on. Resolves when no more requests arrive. */
  begin(): Promise<void>
  /** Sends the responses that are held. */
  release(): void
  middleware: Middleware
}

export function createShutdown(): Shutdown {
  let isStopping = false
  let requests = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  return {
    async begin() {
      isStopping = true
      // Node.js accepts one connection per iteration of the event loop: checks are counted, because time
      // passes even while the process does not run.
      for (let quiet = 0, checks = 0; quiet < quietChecks && checks < maxChecks; checks++) {
        const before = requests
        await sleep(checkMs)
        quiet = requests === before ? quiet + 1 : 0
      }
    },
    release,
    async middleware(ctx, next) {
      requests++
      await next()
      if (!isStopping) return
      ctx.set('Connection', 'close')
      // Of `/_system/ready`: a load balancer has to learn it before the port is closed.
      if (ctx.status !== 503) await released
    },
  }
}
