/** Requests to a ledger node of the operator's choosing, and what comes back, or why nothing did. */
import type { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { tryParseJson } from '../base/json.ts'
import type { Exchanged, HttpClient } from '../net/guarded-agent.ts'

/** How long a node has to answer. A submission to a chain takes longer than reading. */
export type NodeLimits = { readMs?: number; submitMs?: number }

export type Node = {
  /** Where it is, for people. */
  readonly location: string
  /** Reads; any status but these is a fault. */
  get(path: string, statuses: readonly number[], accept?: string): Promise<Exchanged>
  post(path: string, body: object, statuses: readonly number[]): Promise<Exchanged>
  /** An answer's JSON as a type; what is not of it is a fault. */
  parse<Type extends z.ZodType>(type: Type, answer: Exchanged): z.output<Type>
  /** `error:ServiceUnavailable`: the node and what is wrong with it. Never what it said: it may be somebody else's secret. */
  fault(reason: string, cause?: unknown): Problem
}

/** The longest state, in hexadecimal, and as many DIDs as one look-up tells of. */
const maxBytes = 2_500_000

/** `baseUrl` has no slash at its end. */
export function createNode(
  baseUrl: string,
  http: Pick<HttpClient, 'exchange'>,
  limits: NodeLimits = {},
): Node {
  const { readMs = 10_000, submitMs = 30_000 } = limits
  const location = baseUrl
  const fault = (reason: string, cause?: unknown) =>
    new Problem(
      'error:ServiceUnavailable',
      `The DID ledger at ${location} cannot be used: ${reason}. Try again later, or check VDR_URL and the node behind it.`,
      { cause },
    )

  async function exchange(
    path: string,
    request: Parameters<HttpClient['exchange']>[1],
    statuses: readonly number[],
  ): Promise<Exchanged> {
    const answer = await http.exchange(baseUrl + path, request).catch((error: unknown) => {
      throw fault(reasonOf(error), error)
    })
    if (!statuses.includes(answer.status)) throw fault(`it answered with status ${answer.status}`)
    return answer
  }

  return {
    location,
    fault,
    get: (path, statuses, accept = 'application/json') =>
      exchange(path, { method: 'GET', headers: { accept }, timeoutMs: readMs, maxBytes }, statuses),
    post: (path, body, statuses) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json' }
      return exchange(
        path,
        { method: 'POST', headers, body: JSON.stringify(body), timeoutMs: submitMs, maxBytes },
        statuses,
      )
    },
    parse(type, { text }) {
      const result = type.safeParse(tryParseJson(text))
      if (!result.success) throw fault('it answered with something that is not the NeoPRISM API')
      return result.data
    },
  }
}
