/**
 * The only place where an error becomes a response.
 *
 * A `Problem` is shown to the caller; anything else is a bug, whose text goes to the log and never to the caller. Types
 * that begin with `/errors/` have the enterprise suite's body (service §2.13), all others the agent API's (api.md 2.1).
 */
import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import type { Log } from '../../src/base/log.ts'
import { Problem, type ProblemType } from '../../src/base/problem.ts'
import { reasonOf } from '../../src/base/reason.ts'
import { contextOf } from './request-context.ts'
import { isSuitePath, toSuiteProblem } from './suite-problem.ts'

export const problem: Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    // A body that was read in part only would stand before the next request on the connection.
    ctx.req.unpipe()
    ctx.req.resume()
    const id = randomUUID()
    const general = toProblem(error)
    const shown = isSuitePath(ctx.path) ? toSuiteProblem(general) : general
    const { log, route, walletId } = contextOf(ctx)
    if (shown.status >= 500 && isAboutOthers(shown)) {
      log.warn(
        { type: shown.type, status: shown.status, reason: whyOf(shown), instance: id, route, walletId },
        'a request was not served',
      )
    } else if (shown.status >= 500) log.error({ err: error, instance: id, route }, 'a request failed')
    ctx.status = shown.status
    if (shown.retryAfter !== undefined) ctx.set('Retry-After', String(shown.retryAfter))
    // As it is written here, without the charset that koa would add.
    ctx.set('Content-Type', 'application/json')
    ctx.body = toBody(shown, id)
  }
}

/** Failures that are no fault of this agent's, and that a caller can bring about: a host that is not there, a wallet that has moved, a queue that is full. They get a line without a stack. */
function isAboutOthers({ type }: Problem): boolean {
  return aboutOthers.has(type)
}

const aboutOthers: ReadonlySet<ProblemType> = new Set([
  '/errors/common/unreachable',
  'error:ServiceUnavailable',
  'error:DIDResolution:methodNotSupported',
  'error:WalletManagementServiceError:WalletMoved',
  'error:WalletManagementServiceError:TooManyRecords',
  'error:WalletManagementServiceError:TooManyBytes',
  'error:MediatorError:QueueFull',
] as const)

/** The text of a problem, and of what caused it. */
function whyOf(problem: Problem): string {
  const [reason, cause] = [
    reasonOf(problem),
    problem.cause === undefined ? undefined : reasonOf(problem.cause),
  ]
  return cause === undefined || cause === reason ? reason : `${reason} (${cause})`
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem(
    'error:InternalServerError',
    'The agent failed in a way that it did not expect. Its log says more, under the instance that is given here.',
  )
}

/** The body of a problem, its members in the order of the documents; `id` is a UUID to find it by in the log. */
export function toBody({ status, type, title, message: detail }: Problem, id: string): object {
  if (type.startsWith('/errors/')) return { type, title, detail, status, instance: id }
  return { status, type, title, detail, instance: `error:instance:${id}` }
}

/** Errors of connections that the client broke off: it sent no HTTP, or disconnected early. */
const disconnectCodes =
  /^(?:HPE_\w+|EPIPE|ECONNRESET|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|ERR_STREAM_DESTROYED)$/

/** Makes koa's listener for errors after the response has begun. Disconnect errors are logged by code only: they hold received bytes. */
export function logUnsent(log: Log): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    const { code } = error
    if (code !== undefined && disconnectCodes.test(code)) log.debug({ code }, 'a response was not sent')
    else log.warn({ err: error }, 'a response was not sent')
  }
}
