/**
 * Converts errors to responses; no other code does. A client sees a `Problem`. Any other error is a bug: its
 * text is logged, and the client sees none of it.
 *
 * Problem types that begin with `/errors/` have the body of the enterprise suite, others the Cloud Agent's.
 */
import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { Log } from '../../src/foundation/log.ts'
import { Problem, type ProblemType } from '../../src/foundation/problem.ts'
import { reasonOf } from '../../src/foundation/reason.ts'
import { contextOf } from './request-context.ts'

export const problem: Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    // The rest of the body would precede the next request on the connection.
    ctx.req.unpipe()
    ctx.req.resume()
    const id = randomUUID()
    const general = toProblem(error)
    const sent = isSuitePath(ctx.path) ? toSuiteProblem(general) : general
    const { log, route, walletId } = contextOf(ctx)
    if (sent.status >= 500 && externalFailures.has(sent.type))
      log.warn(
        { type: sent.type, status: sent.status, reason: reasonsOf(sent), instance: id, route, walletId },
        'a request was not served',
      )
    else if (sent.status >= 500) log.error({ err: error, instance: id, route }, 'a request failed')
    ctx.status = sent.status
    if (sent.retryAfter !== undefined) ctx.set('Retry-After', String(sent.retryAfter))
    ctx.body = toBody(sent, id)
    // koa would add a charset.
    ctx.set('Content-Type', 'application/json')
  }
}

/** Failures of status 500 and above that clients or other systems cause. They are logged without a stack. */
const externalFailures: ReadonlySet<ProblemType> = new Set<ProblemType>([
  '/errors/common/unreachable',
  'error:ServiceUnavailable',
  'error:DIDResolution:methodNotSupported',
  'error:WalletManagementServiceError:WalletMoved',
  'error:WalletManagementServiceError:TooManyRecords',
  'error:WalletManagementServiceError:TooManyBytes',
  'error:MediatorError:QueueFull',
])

function reasonsOf(problem: Problem): string {
  const reason = reasonOf(problem)
  const cause = problem.cause === undefined ? reason : reasonOf(problem.cause)
  return cause === reason ? reason : `${reason} (${cause})`
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(
    'error:InternalServerError',
    'An unexpected error. The log of the agent describes it under this instance.',
  )
}

/** The body of a response. `id` is a UUID, by which the log finds the error. */
export function toBody({ status, type, title, message: detail }: Problem, id: string): object {
  if (type.startsWith('/errors/')) return { type, title, detail, status, instance: id }
  return { status, type, title, detail, instance: `error:instance:${id}` }
}

/** The types of general problems at endpoints of the enterprise suite, by status. */
const suiteTypes: Readonly<Record<number, ProblemType>> = {
  400: '/errors/common/bad-request',
  401: '/errors/common/unauthorized',
  403: '/errors/common/forbidden',
  404: '/errors/common/not-found',
  413: '/errors/common/body-too-large',
  415: '/errors/common/unsupported-media-type',
  429: '/errors/common/too-many-requests',
  500: '/errors/common/internal',
  503: '/errors/common/unavailable',
  507: '/errors/common/insufficient-storage',
}

/** Whether a path, with or without a base path, is one of the suite. */
function isSuitePath(path: string): boolean {
  return /^(?:\/+[a-z-]+)?\/+(?:onboard|did-requests|did-authentication)\//.test(path)
}

function toSuiteProblem(problem: Problem): Problem {
  const { status, retryAfter } = problem
  const type = suiteTypes[status]
  if (problem.type.startsWith('/errors/') || type === undefined) return problem
  return new Problem(type, problem.message, {
    cause: problem,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

/** Codes of connections that the client broke off: it sent no HTTP, or disconnected early. */
const disconnectCodes =
  /^(?:HPE_\w+|EPIPE|ECONNRESET|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|ERR_STREAM_DESTROYED)$/

/**
 * Makes koa's listener for errors after a response has begun. Of disconnections only the code is logged: the
 * error holds received bytes.
 */
export function logUnsent(log: Log): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    const { code } = error
    if (code !== undefined && disconnectCodes.test(code)) log.debug({ code }, 'a response was not sent')
    else log.warn({ err: error }, 'a response was not sent')
  }
}
