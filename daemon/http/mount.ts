/**
 * Routes to koa: find the endpoint, authenticate, parse, handle, reply.
 *
 * The checks come in the order path, credentials, query and body (decisions.md §2), so that nobody without credentials
 * learns more than that an endpoint exists.
 */
import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import type { Agent } from '../../src/agent.ts'
import { Problem } from '../../src/base/problem.ts'
import { forRequest, type Wallet } from '../../src/wallet/wallet.ts'
import { assertByteQuota, withQuotas } from '../../src/wallet/quotas.ts'
import { addressOf } from './address.ts'
import { streamBody } from './body-stream.ts'
import { createBodyDecoder, decodeHeaders, decodeQuery } from './decode.ts'
import { createRouteFinder } from './find-route.ts'
import { createAccess, type Authenticate, type Caller } from '../middleware/access.ts'
import { createGuard, type Guard } from '../middleware/attempts.ts'
import type { Given } from './audit-subject.ts'
import { auditOf, type Visit } from '../middleware/audit.ts'
import { createParties, leaveTurn, type Parties } from '../middleware/fairness.ts'
import {
  createAddressPace,
  createTenantPace,
  type AddressPace,
  type TenantPace,
} from '../middleware/limits.ts'
import { stateOf } from '../middleware/request-log.ts'
import { mustHaveScope } from '../middleware/scope.ts'
import { scopesOf, splitKey, type Answer, type Route } from './route.ts'
import { toSuiteProblem } from '../routes/_suite.ts'

export type MountOptions = {
  /** Compare every reply with its contract, and fail where they differ. For tests. */
  checkReplies?: boolean
  /** Who is told of everybody that was let in. */
  parties?: Parties
}

/** Makes the last of koa's middleware of routes. It throws `ResourcePathNotFound` for a request that is for none of them. */
export function mount(
  agent: Agent,
  routes: readonly Route[],
  { checkReplies = false, parties = createParties() }: MountOptions = {},
): Middleware {
  const authenticate = createAccess(agent)
  const guard = createGuard(agent.config.FAILED_ATTEMPTS_PER_MINUTE, agent, parties.shown)
  const pace = createTenantPace(agent.config.TENANT_REQUESTS_PER_MINUTE)
  const paceOfAddress = createAddressPace(agent.config)
  const around = { routes, authenticate, guard, pace, paceOfAddress, parties, checkReplies }
  const find = createRouteFinder(routes.map((route) => [route.key, endpoint(agent, route, around)] as const))
  return (ctx) => {
    const found = find(ctx.method, ctx.path)
    if (!found) throw pathNotFound(ctx.method, ctx.path)
    return found.value(ctx, found.params)
  }
}

type Around = {
  routes: readonly Route[]
  authenticate: Authenticate
  guard: Guard
  pace: TenantPace
  paceOfAddress: AddressPace
  parties: Parties
  checkReplies: boolean
}

function endpoint(
  agent: Agent,
  route: Route,
  { routes, authenticate, guard, pace, paceOfAddress, parties, checkReplies }: Around,
) {
  const { key, contract, handler } = route
  const [method] = splitKey(key)
  const path = contract.path && z.object(contract.path)
  const identify: (headers: Context['headers'], visit: Visit) => Promise<Caller> =
    authenticate[contract.access]
  const decodeBody = createBodyDecoder({
    limit: contract.bodyLimit?.(agent.config),
    takesAnything: contract.anyBody,
  })
  const { wallets, tenants } = agent
  const scopes = scopesOf(contract)
  const audit = auditOf(agent, route)

  async function admit(headers: Context['headers'], visit: Visit): Promise<Caller> {
    visit.caller = await parties.meet(headers, () =>
      guard({ ...visit, headers }, () => identify(headers, visit)),
    )
    mustHaveScope(visit.caller, scopes, key)
    return visit.caller
  }

  const handle = async (ctx: Context, params: Record<string, string>): Promise<void> => {
    const state = stateOf(ctx)
    state.route = key
    const names = path?.safeParse(params)
    if (names?.success === false) throw pathNotFound(ctx.method, ctx.path)
    const { headers } = ctx
    const address = addressOf(ctx.req, agent.config.AGENT_TRUST_PROXY)
    state.address = address
    await paceOfAddress(contract.perAddress, address)
    const visit: Visit = { address, requestId: state.requestId }
    const caller =
      contract.access === 'public' ? undefined : await audit.admission(visit, () => admit(headers, visit))
    await pace(caller)
    // A file comes as fast as the network brings it: others begin meanwhile.
    if (contract.stream) leaveTurn(ctx)
    const result = await audit.performance(visit, async (begin) => {
      const input = {
        path: names?.data,
        query: contract.query ? decodeQuery(ctx, contract.query) : {},
        headers: contract.headers ? decodeHeaders(ctx, contract.headers) : {},
        body: contract.body && (await decodeBody(ctx, contract.body)),
        stream:
          contract.stream &&
          streamBody(ctx, { ...contract.stream, limit: contract.stream.limit(agent.config) }),
        target: ctx.originalUrl,
        address,
        log: state.log,
        accept: ctx.headers.accept ?? '*/*',
        accepts: (types: readonly string[]) => ctx.accepts([...types]) || undefined,
        whenGone: () => {
          leaveTurn(ctx)
          return whenGone(ctx)
        },
        isStillAllowed: async () =>
          isDeepStrictEqual(await identify(ctx.headers, { ...visit }).catch(() => null), caller),
      }
      const serve = async (wallet: Wallet): Promise<unknown> => {
        if (contract.sharesFile) await assertByteQuota(wallet, Buffer.byteLength(ctx.request.rawBody))
        const held = method === 'DELETE' ? wallet : withQuotas(wallet)
        return handler({ wallet: forRequest(held, state.log, (thid) => state.thids.add(thid)), agent }, input)
      }
      await begin({ path: input.path, body: input.body as Given['body'] })
      if (contract.access !== 'tenant' || caller?.kind !== 'tenant')
        return handler({ wallets, tenants, caller, agent, routes }, input)
      state.walletId = caller.walletId
      return wallets.use(caller.walletId, serve, state.log)
    })
    reply(ctx, route, result, checkReplies)
  }
  if (contract.suite !== 'enterprise') return handle
  return (ctx: Context, params: Record<string, string>) =>
    handle(ctx, params).catch((error: unknown) => {
      throw toSuiteProblem(error)
    })
}

/** A signal that aborts when the connection closes before the response is sent. */
function whenGone({ req: { socket }, res }: Context): AbortSignal {
  const controller = new AbortController()
  const abort = () => controller.abort()
  // A pipelined response that waits behind another one gets no `close` event.
  if (socket.destroyed) abort()
  socket.once('close', abort)
  res.once('close', () => socket.off('close', abort))
  return controller.signal
}

function reply(ctx: Context, { key, contract }: Route, result: unknown, isChecked: boolean): void {
  const [status, type] = contract.reply
  if (contract.media) return answer(ctx, status, result as Answer)
  if (isChecked && type) mustFit(key, type, result)
  ctx.body = type ? result : null
  ctx.status = status
  if (type) ctx.set('Content-Type', 'application/json')
}

function answer(ctx: Context, success: number, { status = success, type, body, headers = {} }: Answer): void {
  ctx.status = status
  ctx.set('Content-Type', type)
  ctx.set(headers)
  ctx.body = typeof body === 'string' || body instanceof Readable ? body : JSON.stringify(body)
  // The caller has it already (RFC 9110 §13.1.2).
  if (ctx.fresh) ctx.status = 304
}

function mustFit(key: string, type: z.ZodType, result: unknown): void {
  const sent: unknown = JSON.parse(JSON.stringify(result))
  const described = type.parse(sent)
  if (!isDeepStrictEqual(sent, described))
    throw new Error(`${key} replies with more than its contract says: ${JSON.stringify(sent)}`)
}

function pathNotFound(method: string, path: string): Problem {
  return new Problem(
    'error:ResourcePathNotFound',
    `There is no ${method} ${path.slice(0, 200)} here. GET /docs/openapi.json lists what there is.`,
  )
}
