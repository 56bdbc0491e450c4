/**
 * The last responses of a stopping daemon close their connections. They are sent once the port is closed: a client
 * that got one earlier would connect again, and the system would reset its connection when the port closes.
 */
import type { Middleware } from 'koa'

export type Shutdown = {
  /** Holds responses from now on. */
  begin(): void
  /** Sends the responses that are held. */
  release(): void
  middleware: Middleware
}

export function createShutdown(): Shutdown {
  let isStopping = false
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  return {
    begin: () => void (isStopping = true),
    release,
    async middleware(ctx, next) {
      await next()
      if (!isStopping) return
      ctx.set('Connection', 'close')
      await released
    },
  }
}
