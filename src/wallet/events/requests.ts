/** How events are divided among the requests to a webhook. */
import type { EventText } from './event.ts'
import type { QueuedWebhook } from './webhook-queues.ts'

/** An event, with its sequence number in the log. */
export type QueuedEvent = { sequence: number; event: EventText }

/** The events of one request: one, or for a webhook with a `batch` at most so many. */
export type Events = [QueuedEvent, ...QueuedEvent[]]

/** The size of a request with several events, in bytes. Many receivers refuse more than 100 kB. */
const maxBatchBytes = 96 * 1_024

/** Divides events among requests. The first one is made again with the same events if it has failed. */
export function toRequests(
  events: readonly QueuedEvent[],
  { batch, retry_to: retryTo }: Pick<QueuedWebhook, 'batch' | 'retry_to'>,
): Events[] {
  const requests: Events[] = []
  let size = 0
  for (const each of events) {
    const last = requests.at(-1)
    const bytes = Buffer.byteLength(each.event.text)
    const isRetried = each.sequence <= (retryTo ?? 0)
    const isFull = last && (last.length >= (batch ?? 1) || size + bytes > maxBatchBytes)
    const isEnded = last?.at(-1)!.sequence === retryTo
    if (last && (isRetried || (!isFull && !isEnded))) {
      last.push(each)
      size += bytes
    } else {
      requests.push([each])
      size = bytes
    }
  }
  return requests
}
