/** The koa applications of the daemon's ports. */
import Koa, { type Context, type Middleware } from 'koa'
import type { Agent } from '../../src/agent/agent.ts'
import { isTracing } from '../../src/foundation/spans.ts'
import { authorityFileOf } from '../../src/foundation/net/https.ts'
import { isLocalHost } from '../../src/foundation/net/public-url.ts'
import type { Forwarding } from '../nodes/forward.ts'
import { mount, type MountOptions } from '../http/mount.ts'
import type { Route } from '../http/route.ts'
import { basePath } from '../middleware/base-path.ts'
import { cors } from '../middleware/cors.ts'
import { apiClientOf, fairness } from '../middleware/fairness.ts'
import { head } from '../middleware/head.ts'
import { findWalletId } from '../nodes/wallet-of-request.ts'
import { eventsOfAll } from '../nodes/event-streams.ts'
import { local } from '../middleware/local.ts'
import { logUnsent, problem } from '../middleware/problem.ts'
import { requestContext } from '../middleware/request-context.ts'
import { apiSpans } from '../middleware/request-spans.ts'
import { securityHeaders } from '../middleware/security-headers.ts'
import type { Shutdown } from '../middleware/shutdown.ts'

export type AppOptions = {
  /** The URL at which clients reach the port. */
  publicUrl: string
  isProxied: boolean
  clientOf: (ctx: Context) => string | Promise<string>
  failedLevel?: 'info' | 'debug'
  /** Makes the spans of requests. It is not used without an export of traces. */
  spans: Middleware
  shutdown?: Shutdown | undefined
  forward?: Middleware | undefined
}

/** An application with the middleware that both ports have, in the order in which it handles a request. */
export function createBaseApp(agent: Agent, options: AppOptions): Koa {
  const { publicUrl, clientOf, shutdown, forward } = options
  const app = new Koa()
  app.on('error', logUnsent(agent.log))
  if (shutdown) app.use(shutdown.middleware)
  if (isTracing()) app.use(options.spans)
  app.use(requestContext(agent.env, options))
  // Browsers would refuse the host for a year after the certificate for development has gone.
  const isDevelopment = authorityFileOf(agent.config) !== undefined
  app.use(securityHeaders(publicUrl.startsWith('https:') && !isDevelopment))
  app.use(problem)
  app.use(head)
  if (forward) app.use(forward)
  app.use(fairness(agent.scheduler, clientOf))
  return app
}

/** The HTTP API. `.callback()` is the listener for a server of `node:http`. */
export function createApp(
  agent: Agent,
  routes: readonly Route[],
  { shutdown, forwarding, ...options }: MountOptions & { shutdown?: Shutdown; forwarding?: Forwarding } = {},
): Koa {
  const { AGENT_HOST, AGENT_LAN, AGENT_CORS_ORIGINS, AGENT_TRUST_PROXY: isProxied } = agent.config
  const publicUrl = agent.env.urls.rest
  const clientOf = apiClientOf(agent)
  const forward = forwarding?.middleware('rest', (ctx) => findWalletId(agent, ctx))
  const app = createBaseApp(agent, { publicUrl, isProxied, clientOf, spans: apiSpans, shutdown, forward })
  if (isLocalHost(AGENT_HOST) || AGENT_LAN !== 'off') app.use(local(agent))
  app.use(cors(AGENT_CORS_ORIGINS))
  app.use(basePath)
  if (forwarding) app.use(eventsOfAll(agent.env.ownership, forwarding))
  app.use(mount(agent, routes, options))
  return app
}
