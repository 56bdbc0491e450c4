/** Base paths: clients are given URLs under which deployments of the real agent hide behind a proxy (api.md 1.1). */
import type { Middleware } from 'koa'

const basePaths = ['/cloud-agent', '/prism-agent']

/** Takes a known base path off the front, so that every endpoint is found with and without. */
export const basePath: Middleware = (ctx, next) => {
  const prefix = basePaths.find((known) => ctx.path.startsWith(`${known}/`))
  if (prefix !== undefined) ctx.path = ctx.path.slice(prefix.length)
  return next()
}
