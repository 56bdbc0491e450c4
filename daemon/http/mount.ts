/**
 * Mounts routes in koa: find the endpoint, authenticate, parse, handle, reply.
 *
 * The path is checked first, then the credentials, then query, headers and body. A client without credentials
 * thus only learns that an endpoint exists.
 */
import Router from '@koa/router'
import { isDeepStrictEqual } from 'node:util'
import type { Context, Middleware } from 'koa'
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { NotOwnerError } from '../../src/foundation/storage/not-owner-error.ts'
import { assertByteQuota, withQuotas } from '../../src/wallet/quotas.ts'
import { forRequest, type Wallet } from '../../src/wallet/wallet.ts'
import { assertScope, createAccess, type Access, type Caller, type Identify } from '../middleware/access.ts'
import { challengeFor } from '../middleware/bearer.ts'
import { createAttemptLimit, type AttemptLimit } from '../middleware/failed-attempts.ts'
import { createRateLimits, type RateLimits } from '../middleware/rate-limits.ts'
import { contextOf, onDisconnect } from '../middleware/request-context.ts'
import { auditRefusal, auditWork, isAudited, type AuditedInput } from './audit.ts'
import { createInputDecoder } from './decode.ts'
import { reply } from './reply.ts'
import { scopesOf, splitKey, type Route } from './route.ts'

export type MountOptions = {
  /** Compare every reply with its contract, and fail where they differ. For tests. */
  checkReplies?: boolean
}

type Services = Required<MountOptions> & {
  agent: Agent
  routes: readonly Route[]
  access: Record<Access, Identify>
  limitAttempts: AttemptLimit
  rateLimits: RateLimits
}

/** Makes the last middleware. It throws `ResourcePathNotFound` for a request without a route. */
export function mount(
  agent: Agent,
  routes: readonly Route[],
  { checkReplies = false }: MountOptions = {},
): Middleware {
  const services: Services = {
    agent,
    routes,
    access: createAccess(agent),
    limitAttempts: createAttemptLimit(agent.config.FAILED_ATTEMPTS_PER_MINUTE, agent),
    rateLimits: createRateLimits(agent.config),
    checkReplies,
  }
  // A router tests the path with every route, so each first segment has its own router.
  const routers = new Map<string, Router>()
  // `{` sorts after all characters of fixed segments: `/a/b` is matched before `/a/{name}`.
  for (const route of routes.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const [method, path] = splitKey(route.key)
    const router = routers.get(firstSegment(path)) ?? new Router({ sensitive: true })
    routers.set(firstSegment(path), router)
    router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [method], createEndpoint(route, services))
  }
  const dispatchers = new Map([...routers].map(([segment, router]) => [segment, router.routes()]))
  return (ctx) => {
    const notFound = () => {
      throw pathNotFound(ctx)
    }
    const dispatch = dispatchers.get(firstSegment(ctx.path)) as unknown as Middleware | undefined
    return dispatch ? dispatch(ctx, notFound) : notFound()
  }
}

function firstSegment(path: string): string {
  return path.split('/', 2)[1] ?? ''
}

function createEndpoint(route: Route, services: Services) {
  const { agent, rateLimits, checkReplies } = services
  const { key, contract } = route
  const pathType = contract.path && z.object(contract.path)
  const authenticate = createAuthenticator(route, services)
  const work = createWork(route, services)
  const hasAudit = isAudited(route)

  return async (ctx: Context): Promise<void> => {
    const context = contextOf(ctx)
    context.route = key
    const path = pathType?.safeParse(ctx['params'])
    if (path?.success === false) throw pathNotFound(ctx)
    if (contract.perAddress) await rateLimits.countAddress(contract.perAddress, context.address)
    if (contract.access !== 'public') await authenticate(ctx)
    const { caller } = context
    // Nothing is counted, audited or read for a request that another process handles.
    if (caller?.kind === 'tenant' && !agent.env.ownership.owns(caller.walletId))
      throw new NotOwnerError(caller.walletId)
    if (caller?.kind === 'tenant') await rateLimits.countTenant?.(caller.walletId)
    if (caller?.kind === 'subject') await rateLimits.countTenant?.(caller.login.subject)
    // A file arrives at the speed of the network; other requests run meanwhile.
    if (contract.stream) context.slot?.release()
    const result = hasAudit
      ? await auditWork(agent, route, context, (begin) => work(ctx, path?.data, begin))
      : await work(ctx, path?.data)
    reply(ctx, route, result, checkReplies)
  }
}

/** Sets `caller` in the context. @throws {Problem} 401, 403 or 429, which the audit log then has */
function createAuthenticator({ key, contract }: Route, { agent, access, limitAttempts }: Services) {
  const identify = access[contract.access]
  const scopes = scopesOf(contract)
  const { bearerTokens, env } = agent
  return async (ctx: Context): Promise<void> => {
    const { headers } = ctx
    const context = contextOf(ctx)
    try {
      context.caller = await limitAttempts(headers, context, () => identify(headers, context))
      assertScope(context.caller, scopes, key)
    } catch (error) {
      if (bearerTokens && error instanceof Problem && [401, 403].includes(error.status))
        ctx.set('WWW-Authenticate', challengeFor(error, { headers, url: env.urls.rest }))
      await auditRefusal(agent, key, context, error)
      throw error
    }
  }
}

/** Parses the input and runs the handler: a tenant's with its wallet, which stays open meanwhile. */
function createWork({ key, contract, handler }: Route, { agent, access, routes }: Services) {
  const [method] = splitKey(key)
  const decodeInput = createInputDecoder(contract, agent.config)
  const { wallets, tenants } = agent

  return async (ctx: Context, path: unknown, begin?: (input: AuditedInput) => Promise<void>) => {
    const context = contextOf(ctx)
    const { caller, log, address } = context
    const input = {
      path,
      ...(await decodeInput(ctx)),
      target: ctx.originalUrl,
      address,
      log,
      accept: ctx.headers.accept ?? '*/*',
      accepts: (types: readonly string[]) => ctx.accepts([...types]) || undefined,
      acceptsLanguage: (languages: readonly string[]) => ctx.acceptsLanguages([...languages]) || undefined,
      acceptsEncoding: (encoding: string) => ctx.acceptsEncodings([encoding]) === encoding,
      whenGone: () => {
        context.slot?.release()
        const controller = new AbortController()
        onDisconnect(ctx, () => controller.abort())
        return controller.signal
      },
      isStillAllowed: async () => {
        const isSame = (current: Caller) => isDeepStrictEqual(current, caller)
        return access[contract.access](ctx.headers, { ...context }).then(isSame, () => false)
      },
    }
    await begin?.(input as AuditedInput)
    if (contract.access !== 'tenant' || caller?.kind !== 'tenant')
      return handler({ wallets, tenants, caller, agent, routes }, input)
    context.walletId = caller.walletId
    const run = async (wallet: Wallet): Promise<unknown> => {
      if (contract.sharesFile) await assertByteQuota(wallet, Buffer.byteLength(ctx.request.rawBody))
      const limited = method === 'DELETE' ? wallet : withQuotas(wallet)
      return handler({ wallet: forRequest(limited, log, (thid) => context.thids.add(thid)), agent }, input)
    }
    return wallets.use(caller.walletId, run, log)
  }
}

function pathNotFound({ method, path }: Context): Problem {
  return new Problem(
    'error:ResourcePathNotFound',
    `There is no ${method} ${path.slice(0, 200)} here. GET /docs/openapi.json lists all endpoints.`,
  )
}
