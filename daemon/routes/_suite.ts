/** What the enterprise suite answers when something goes wrong that is not its own: the same problem, by a type of its own (service §2.13). */
import { Problem, type ProblemType } from '../../src/base/problem.ts'

const types: Readonly<Record<number, ProblemType>> = {
  400: '/errors/common/bad-request',
  401: '/errors/common/unauthorized',
  403: '/errors/common/forbidden',
  404: '/errors/common/not-found',
  413: '/errors/common/body-too-large',
  415: '/errors/common/unsupported-media-type',
  429: '/errors/common/too-many-requests',
  503: '/errors/common/unavailable',
  507: '/errors/common/insufficient-storage',
}

/** Tells whether a path is one of the suite's, as far as that can be told before its endpoint is looked for. */
export function isSuitePath(path: string): boolean {
  return /^(?:\/+[a-z-]+)?\/+(?:onboard|did-requests|did-authentication)\//.test(path)
}

/** The problem as the suite tells it; what is no problem is an internal failure, whose text is for the log. */
export function toSuiteProblem(error: unknown): Problem {
  if (!(error instanceof Problem)) {
    const detail =
      'The agent failed in a way that it did not expect. Its log says more, under the instance that is given here.'
    return new Problem('/errors/common/internal', detail, { cause: error })
  }
  const type = types[error.status]
  if (error.type.startsWith('/errors/') || type === undefined) return error
  return new Problem(type, error.message, {
    cause: error,
    ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
  })
}
