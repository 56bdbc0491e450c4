/** Problems of the enterprise suite's endpoints: general problems with the suite's own types. */
import { Problem, type ProblemType } from '../../src/base/problem.ts'

const types: Readonly<Record<number, ProblemType>> = {
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
export function isSuitePath(path: string): boolean {
  return /^(?:\/+[a-z-]+)?\/+(?:onboard|did-requests|did-authentication)\//.test(path)
}

/** Converts a problem to the suite's type for its status, if there is one. */
export function toSuiteProblem(problem: Problem): Problem {
  const type = types[problem.status]
  if (problem.type.startsWith('/errors/') || type === undefined) return problem
  return new Problem(type, problem.message, {
    cause: problem,
    ...(problem.retryAfter !== undefined && { retryAfter: problem.retryAfter }),
  })
}
