/** The HTTP API as a koa application, in the order in which a request meets it. */
import Koa from 'koa'
import type { Agent } from '../../src/agent.ts'
import { isLocalHost } from '../../src/net/public-url.ts'
import { auditForeign } from '../middleware/audit.ts'
import { basePath } from '../middleware/base-path.ts'
import { addressOf } from '../http/address.ts'
import { cors } from '../middleware/cors.ts'
import { createParties, fairness } from '../middleware/fairness.ts'
import { head } from '../middleware/head.ts'
import { local } from '../middleware/local.ts'
import { problem } from '../middleware/problem.ts'
import { requestId } from '../middleware/request-id.ts'
import { requestLog } from '../middleware/request-log.ts'
import { securityHeaders } from '../middleware/security-headers.ts'
import type { Shutdown } from '../middleware/shutdown.ts'
import { mount, type MountOptions } from '../http/mount.ts'
import type { Route } from '../http/route.ts'
import { logUnsent } from '../http/unsent.ts'

export type AppOptions = MountOptions & {
  shutdown?: Shutdown
}

/** Makes the application of routes for an agent; `.callback()` is what a server of `node:http` takes. */
export function createApp(
  agent: Agent,
  routes: readonly Route[],
  { shutdown, ...options }: AppOptions = {},
): Koa {
  const app = new Koa()
  app.on('error', logUnsent(agent.log))
  if (shutdown) app.use(shutdown.middleware)
  app.use(requestId)
  app.use(securityHeaders(agent.env.urls.rest))
  app.use(requestLog(agent.log))
  app.use(problem)
  app.use(head)
  const { AGENT_HOST, AGENT_CORS_ORIGINS, AGENT_TRUST_PROXY } = agent.config
  const parties = createParties()
  app.use(fairness(agent.turns, ({ req }) => parties.of(req.headers, addressOf(req, AGENT_TRUST_PROXY))))
  app.use(auditForeign(agent))
  if (isLocalHost(AGENT_HOST)) app.use(local(agent.env.urls.rest, AGENT_CORS_ORIGINS))
  app.use(cors(AGENT_CORS_ORIGINS))
  app.use(basePath)
  app.use(mount(agent, routes, { ...options, parties }))
  return app
}
