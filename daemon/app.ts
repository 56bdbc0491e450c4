/** The HTTP API as a koa application, in the order in which a request meets it. */
import Koa from 'koa'
import helmet from 'koa-helmet'
import type { Agent } from '../src/agent.ts'
import { basePath } from './middleware/base-path.ts'
import { isLocal, local } from './middleware/local.ts'
import { problem } from './middleware/problem.ts'
import { requestLog } from './middleware/request-log.ts'
import { mount, notFound, type MountOptions } from './mount.ts'
import type { Route } from './route.ts'

/** Makes the application of routes for an agent; `.callback()` is what a server of `node:http` takes. */
export function createApp(agent: Agent, routes: readonly Route[], options: MountOptions = {}): Koa {
  const app = new Koa()
  app.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever reads a stream goes when it has seen enough.
    const level = error.code === 'ERR_STREAM_PREMATURE_CLOSE' ? 'debug' : 'warn'
    agent.log[level]({ err: error }, 'a response was not sent')
  })
  app.use(securityHeaders(agent.env.urls.rest))
  app.use(requestLog(agent.log))
  app.use(problem(agent.log))
  if (isLocal(agent.config.AGENT_HOST)) app.use(local(agent.env.urls.rest))
  app.use(basePath)
  app.use(mount(agent, routes, options))
  app.use(notFound)
  return app
}

/** Replies are data for programs: nothing in them is to be rendered, framed or kept by a cache. Pages say for themselves what may be rendered. */
function securityHeaders(publicUrl: string): Koa.Middleware {
  const secure = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: publicUrl.startsWith('https:') ? {} : false,
  })
  return (ctx, next) => {
    ctx.set('Cache-Control', 'no-store')
    return secure(ctx, next)
  }
}
