/** The metrics of all workers in one reply: a scrape reaches any of them. */
import { text } from 'node:stream/consumers'
import type { Middleware } from 'koa'
import { isForwarded } from '../middleware/address.ts'
import type { Forwarding } from './forward.ts'

/** How long the other workers may take to answer. */
const answerMs = 5_000

/** Adds the metrics of the other workers to those of this one, which have a label `worker`. */
export function metricsOfAll({ askOthers }: Forwarding): Middleware {
  return async (ctx, next) => {
    await next()
    if (ctx.status !== 200 || typeof ctx.body !== 'string' || ctx.path !== '/_system/metrics') return
    if (!isForwarded(ctx.req)) {
      const others = await askOthers(ctx, AbortSignal.timeout(answerMs))
      ctx.body = mergeMetrics([ctx.body, ...(await Promise.all(others.map((each) => text(each))))])
    }
  }
}

/**
 * Merges texts of the Prometheus format. All lines of one metric must be together, and its help and type
 * appear once.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, { head: string[]; samples: string[] }>()
  for (const text of texts) {
    let current: string[] = []
    for (const line of text.split('\n')) {
      const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? []
      if (name === undefined) {
        if (line !== '') current.push(line)
        continue
      }
      const metric = metrics.get(name) ?? { head: [], samples: [] }
      metrics.set(name, metric)
      if (!metric.head.includes(line)) metric.head.push(line)
      current = metric.samples
    }
  }
  return [...metrics.values()].flatMap(({ head, samples }) => [...head, ...samples, '']).join('\n')
}
