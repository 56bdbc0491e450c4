/**
 * Calls the receivers of webhooks. Addresses of tenants are called with the same network policy as their
 * events.
 */
import type { HttpClient } from '../../foundation/net/http-client.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { Finding } from './check.ts'
import type { Receiver } from './survey.ts'

type Http = Pick<HttpClient, 'exchange'>

/** Receivers that are called, all at once, and their time limit. */
const maxReceivers = 20
const timeoutMs = 1_500

/** The webhooks of tenants, and the global webhook of the operator. */
type Receivers = {
  http: Http
  operatorHttp: Http
  globalUrl: string | undefined
  webhooks: readonly Receiver[]
}

/**
 * Sends a GET request to every receiver; any reply will do. Findings contain only the origin of a URL, since
 * the rest may be secret.
 */
export async function checkReceivers({
  http,
  operatorHttp,
  globalUrl,
  webhooks,
}: Receivers): Promise<Finding> {
  const byUrl = new Map(webhooks.map((each) => [each.url, each]))
  const chosen = [...byUrl.values()].slice(0, maxReceivers)
  if (chosen.length === 0 && globalUrl === undefined)
    return { status: 'ok', detail: 'There are no webhooks.' }
  const [globalReason, ...reasons] = await Promise.all([
    globalUrl === undefined ? undefined : findObstacle(operatorHttp, globalUrl),
    ...chosen.map(({ url }) => findObstacle(http, url)),
  ])
  if (globalReason !== undefined) {
    const detail = `The global webhook at ${new URL(globalUrl!).origin} cannot be reached: ${globalReason}.`
    return {
      status: 'failed',
      detail,
      hint: `curl -i ${new URL(globalUrl!).origin}   # start the receiver, or change GLOBAL_WEBHOOK_URL`,
    }
  }
  const unreachable = chosen.flatMap((target, index) =>
    reasons[index] === undefined ? [] : [{ ...target, reason: reasons[index] }],
  )
  const [first] = unreachable
  const total = chosen.length + (globalUrl === undefined ? 0 : 1)
  if (first) {
    const detail = `${unreachable.length} of ${total} webhook receivers cannot be reached, such as ${new URL(first.url).origin} of the wallet ${first.walletId}: ${first.reason}.`
    return {
      status: 'warning',
      detail,
      hint: `agent webhook test ${first.webhookId}   # as the wallet’s tenant, once its receiver runs`,
    }
  }
  const failing = chosen.find(({ reason }) => reason !== undefined)
  if (failing) {
    const waiting = failing.waiting > 0 ? ` ${failing.waiting} events are waiting.` : ''
    const detail = `The webhook ${failing.webhookId} of the wallet ${failing.walletId} did not accept the last event: ${failing.reason}${waiting}`
    return {
      status: 'warning',
      detail,
      hint: `agent webhook deliveries ${failing.webhookId}   # as the wallet’s tenant`,
    }
  }
  return {
    status: 'ok',
    detail: `${total === 1 ? 'The webhook receiver' : `All ${total} webhook receivers`} can be reached.`,
  }
}

/** The reason why a URL does not reply; undefined when it does. */
async function findObstacle(http: Http, url: string): Promise<string | undefined> {
  try {
    await http.exchange(url, { method: 'GET', headers: {}, timeoutMs, maxBytes: 65_536 })
    return undefined
  } catch (error) {
    return error instanceof UnreachableError && ['too-large', 'not-text', 'bad-encoding'].includes(error.code)
      ? undefined
      : reasonOf(error)
  }
}
