/** Where webhooks lead: is anybody there? A tenant's address is called as its events are, and only where those may go. */
import type { HttpClient } from '../net/guarded-agent.ts'
import { UnreachableError } from '../net/unreachable-error.ts'
import { reasonOf } from '../base/reason.ts'
import type { Finding } from './check.ts'
import type { Target } from './survey.ts'

type Http = Pick<HttpClient, 'exchange'>

/** So many addresses are called at most, all at once, and each has so long to answer. */
const most = 20
const timeoutMs = 1_500

/** Who can be called: tenants' webhooks, and the operator's own if there is one. */
export type Targets = {
  http: Http
  operatorHttp: Http
  globalUrl: string | undefined
  webhooks: readonly Target[]
}

/**
 * Asks every address for what is there (GET, which changes nothing where people keep to HTTP); any answer will do, since what is asked for
 * is no event. Of an address only its origin is told: the rest may be secret.
 */
export async function checkTargets({ http, operatorHttp, globalUrl, webhooks }: Targets): Promise<Finding> {
  const byUrl = new Map(webhooks.map((each) => [each.url, each]))
  const chosen = [...byUrl.values()].slice(0, most)
  if (chosen.length === 0 && globalUrl === undefined)
    return { status: 'ok', detail: 'There are no webhooks.' }
  const [ownReason, ...reasons] = await Promise.all([
    globalUrl === undefined ? undefined : findObstacle(operatorHttp, globalUrl),
    ...chosen.map(({ url }) => findObstacle(http, url)),
  ])
  if (ownReason !== undefined) {
    const detail = `The global webhook at ${new URL(globalUrl!).origin} cannot be reached: ${ownReason}.`
    return {
      status: 'failed',
      detail,
      hint: `curl -i ${new URL(globalUrl!).origin}   # start the receiver, or change GLOBAL_WEBHOOK_URL`,
    }
  }
  const unreached = chosen.flatMap((target, index) =>
    reasons[index] === undefined ? [] : [{ ...target, reason: reasons[index] }],
  )
  const [first] = unreached
  const total = chosen.length + (globalUrl === undefined ? 0 : 1)
  if (first) {
    const detail = `${unreached.length} of ${total} receivers of webhooks cannot be reached, such as ${new URL(first.url).origin} of the wallet ${first.walletId}: ${first.reason}.`
    return {
      status: 'warning',
      detail,
      hint: `agent webhook test ${first.webhookId}   # as the wallet’s tenant, once its receiver runs`,
    }
  }
  const failing = chosen.find(({ reason }) => reason !== undefined)
  if (failing) {
    const waiting = failing.waiting > 0 ? ` ${failing.waiting} events wait.` : ''
    const detail = `The webhook ${failing.webhookId} of the wallet ${failing.walletId} did not take the last event: ${failing.reason}${waiting}`
    return {
      status: 'warning',
      detail,
      hint: `agent webhook deliveries ${failing.webhookId}   # as the wallet’s tenant`,
    }
  }
  return {
    status: 'ok',
    detail: `${total === 1 ? 'The receiver' : `All ${total} receivers`} of webhooks can be reached.`,
  }
}

/** Why an address gives no answer; nothing when it gives one. */
async function findObstacle(http: Http, url: string): Promise<string | undefined> {
  try {
    await http.exchange(url, { method: 'GET', headers: {}, timeoutMs, maxBytes: 65_536 })
    return undefined
  } catch (error) {
    return error instanceof UnreachableError && ['too-large', 'not-text'].includes(error.code)
      ? undefined
      : reasonOf(error)
  }
}
