/** Offers that are delivered by messages, and what their person does with the link. */
import { Webhook } from '../../support/webhook.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import type { TestAgent } from '../../support/agent.ts'
import { until, type Tenant } from '../../support/tenants.ts'
import { offer, type OfferOptions, type Setup } from './_wallet.ts'

export const [mail, phone] = ['mailto:alice@example.org', 'sms:+4915112345678']

export type Deliver = { to: string; code?: string; locale?: string }
type Options = OfferOptions & { deliver: Deliver; expectedIdentity?: object }

/** A receiver of a tenant's events. */
export async function addWebhook({ call }: Tenant, deliver: boolean): Promise<Webhook & { id: string }> {
  const webhook = await Webhook.open()
  const { id } = await call('POST /events/webhooks', { body: { url: webhook.url, deliver } })
  return Object.assign(webhook, { id })
}

export const deliverOffer = (setup: Setup, options: Options) => offer(setup, options)

/** The message about a record that a webhook got last. */
export async function messageOf(
  webhook: Webhook,
  type: 'OfferDeliveryRequested' | 'TransactionCodeDeliveryRequested',
  recordId: string,
): Promise<{ id: string; data: Record<string, string> }> {
  const fits = (event: { type: string; data: Record<string, unknown> }) =>
    event.type === type && event.data['recordId'] === recordId
  await webhook.waitFor(type, fits)
  return webhook.events.findLast(fits) as never
}

/** Waits until the delivery of an event is stored: only then it can be replayed. */
export function stored({ call }: Tenant, { id }: { id: string }, eventId: string) {
  const read = () =>
    call('GET /events/webhooks/{id}/deliveries', { path: { id }, query: { limit: 5, offset: 0, eventId } })
  return until('the delivery', read, ({ contents }) => contents.length > 0)
}

/** A person's browser. Returns the link for the wallet, if the page has one. */
export async function openLink(url: string, init: RequestInit = {}) {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  const link = /<a class="button" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  return { status: response.status, text, headers: response.headers, link }
}

/** Presses the button of the page, as a browser does. */
export function press(url: string, headers: Record<string, string> = {}) {
  const own = { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  return openLink(url, { method: 'POST', headers: { ...own, ...form, ...headers }, body: '' })
}

/** Lets the code or the `issuer_state` of an offer be made `ms` earlier. */
export function age({ agent }: TestAgent, { walletId }: Tenant, recordId: string, ms: number) {
  return agent.wallets.use(walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const rows = tx.selectFrom('issuance_grant').selectAll()
      const grant = await rows.where('records', 'like', `%${recordId}%`).executeTakeFirstOrThrow()
      const context = `issuance-session:${recordId}`
      const secrets = JSON.parse(wallet.unseal(context, grant.sealed!))
      const sealed = wallet.seal(context, JSON.stringify({ ...secrets, endsMs: secrets.endsMs - ms }))
      await tx.updateTable('issuance_grant').set({ sealed }).where('id', '=', grant.id).execute()
    }),
  )
}
