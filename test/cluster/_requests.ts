/** Requests of tenants to random nodes, which are repeated at the next node until one of them has answered. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, ProblemError, type Client } from '../../daemon/client/client.ts'
import type { Tenant } from '../support/api.ts'
import type { Nodes } from './_nodes.ts'

/** How often a request was repeated, and the longest time until one was answered, with its repetitions. */
export type Counts = { requests: number; repeats: number; maxRepeats: number; longestMs: number }

const timeoutMs = 20_000
const patienceMs = 180_000

export function openRequests({ daemons }: Nodes, random: () => number) {
  const counts: Counts = { requests: 0, repeats: 0, maxRepeats: 0, longestMs: 0 }

  function clientOf(apikey: string): Client {
    const call = async (...given: Parameters<Client>) => {
      counts.requests++
      const begunAt = performance.now()
      const first = Math.floor(random() * daemons.length)
      for (let repeats = 0; ; repeats++) {
        const { url } = daemons[(first + repeats) % daemons.length]!
        try {
          const answer = await createClient(url, { apikey }, { timeoutMs })(...given)
          counts.longestMs = Math.max(counts.longestMs, Math.round(performance.now() - begunAt))
          return answer
        } catch (error) {
          // No answer, and 503, may be repeated. The work may be done: then the next answer says so.
          if (error instanceof ProblemError && error.problem.status !== 503) throw error
          if (performance.now() - begunAt > patienceMs) throw error
          counts.repeats++
          counts.maxRepeats = Math.max(counts.maxRepeats, repeats + 1)
          await sleep(100)
        }
      }
    }
    return call as Client
  }

  return {
    counts,
    withRequests: (tenant: Tenant): Tenant => ({ ...tenant, call: clientOf(tenant.apiKey) }),
  }
}

/** Ignores that a repeated request finds its work done. */
export function ignoreRepeated(error: unknown): void {
  const isRefusal = error instanceof ProblemError && [400, 409, 410, 422].includes(error.problem.status)
  if (!isRefusal) throw error
}
