/** Sends an answer to those who did not wait for it: in the background, once, to the HTTP address in their DID. */
import PQueue from 'p-queue'
import type { Log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { encryptedType } from '../didcomm/jwe.ts'
import type { HttpClient } from '../net/guarded-agent.ts'

const atOnce = 16
/** Answers that wait to be sent; beyond that they are dropped, as any answer may be. */
const maxWaiting = 1_000
const timeoutMs = 5_000

/** Makes the function that sends, and one that ends it. */
export function createPost(
  http: HttpClient,
  log: Log,
): { post: (url: string, envelope: string) => void; stop: () => void } {
  const queue = new PQueue({ concurrency: atOnce })
  const send = async (url: string, envelope: string) => {
    try {
      const { status } = await http.post(url, {
        headers: { 'content-type': encryptedType },
        body: envelope,
        timeoutMs,
      })
      if (status < 200 || status > 299) log.info({ status }, 'an answer of the mediator was not taken')
    } catch (error) {
      log.info({ reason: reasonOf(error) }, 'an answer of the mediator could not be sent')
    }
  }
  return {
    post(url, envelope) {
      if (queue.size >= maxWaiting)
        log.warn('an answer of the mediator was dropped: too many wait to be sent')
      else void queue.add(() => send(url, envelope))
    },
    stop: () => queue.clear(),
  }
}
