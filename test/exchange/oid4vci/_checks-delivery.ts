/** Checks of the delivery of offers, and the attack that each one stops. */
import {
  addWebhook,
  age,
  deliverOffer,
  mail,
  messageOf,
  openLink,
  phone,
  press,
  stored,
} from './_delivery.ts'
import { open, requestFor } from './_authorization.ts'
import { check, replyIf, type Check } from './_mutants.ts'
import { expire, type Scene } from './_scene.ts'
import { redeemOffer } from './_wallet.ts'

const pastTen = 10 * 60_000 + 1

/** An offer that is delivered, its link, and the webhooks with and without `deliver`. */
async function delivered({ setup }: Scene, options: object = {}) {
  const sender = await addWebhook(setup.tenant, true)
  try {
    const offered = await deliverOffer(setup, { deliver: { to: mail }, ...options })
    const { id, data } = await messageOf(sender, 'OfferDeliveryRequested', offered.recordId)
    return { ...offered, id, url: data['url']! }
  } finally {
    await sender[Symbol.asyncDispose]()
    await setup.tenant.call('DELETE /events/webhooks/{id}', { path: { id: sender.id } })
  }
}

/** Whether a webhook gets a secret of a delivered offer. */
async function secretAt({ setup }: Scene, deliver: boolean, replayed: boolean) {
  const own = await addWebhook(setup.tenant, true)
  const webhook = deliver ? own : await addWebhook(setup.tenant, false)
  try {
    const { recordId } = await deliverOffer(setup, { deliver: { to: mail, code: phone } })
    const { id } = await messageOf(own, 'TransactionCodeDeliveryRequested', recordId)
    const path = { id: webhook.id }
    if (replayed) {
      await stored(setup.tenant, own, id)
      webhook.forget()
      await setup.tenant.call('POST /events/webhooks/{id}/replay', { path, body: { eventId: id } })
    }
    const last = await setup.tenant.call('POST /events/test', { body: { type: 'ConnectionUpdated' } })
    await webhook.waitFor('the last event', (event) => event.id === last.id)
    return replyIf(webhook.events.some((event) => event.id === id && event.data['code'] !== '***'))
  } finally {
    for (const each of new Set([own, webhook])) {
      await each[Symbol.asyncDispose]()
      await setup.tenant.call('DELETE /events/webhooks/{id}', { path: { id: each.id } })
    }
  }
}

/** Whether an offer is made. */
async function made({ setup }: Scene, options: object) {
  const sender = await addWebhook(setup.tenant, true)
  try {
    const offered = deliverOffer(setup, { deliver: { to: mail }, ...options })
    return replyIf(
      await offered.then(
        () => true,
        () => false,
      ),
    )
  } finally {
    await sender[Symbol.asyncDispose]()
    await setup.tenant.call('DELETE /events/webhooks/{id}', { path: { id: sender.id } })
  }
}

/** What a message says of an issuer with such a name. */
async function named({ setup }: Scene, name: string, member: 'subject' | 'html'): Promise<string> {
  const path = { issuerId: setup.issuerId }
  const sender = await addWebhook(setup.tenant, true)
  try {
    await setup.tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { display: [{ name }] } })
    const { recordId } = await deliverOffer(setup, { deliver: { to: mail } })
    return (await messageOf(sender, 'OfferDeliveryRequested', recordId)).data[member]!
  } finally {
    await setup.tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { display: null } })
    await sender[Symbol.asyncDispose]()
    await setup.tenant.call('DELETE /events/webhooks/{id}', { path: { id: sender.id } })
  }
}

/** Whether an issuer takes such texts. */
async function taken({ setup: { tenant, issuerId } }: Scene, link: { subject?: string; text?: string }) {
  const path = { issuerId }
  const texts = { en: { link: { subject: 'Card', text: '{{url}}', ...link } } }
  const changed = tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { deliveryTexts: texts } })
  const isTaken = await changed.then(
    () => true,
    () => false,
  )
  if (isTaken) await tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { deliveryTexts: null } })
  return replyIf(isTaken)
}

export const deliveryChecks: Check[] = [
  check(
    'src/wallet/events/webhook-queues.ts',
    ['if (isDeliveryEvent(type)) return deliver === 1', ';'],
    (scene) => secretAt(scene, false, false),
  ),
  check('src/wallet/events/secret-events.ts', ["kind === 'automatic'", 'true'], (scene) =>
    secretAt(scene, true, true),
  ),
  check('delivery.ts', 'to.toLowerCase() === code.toLowerCase() && !isProtected', (scene) =>
    made(scene, { deliver: { to: mail, code: mail } }),
  ),
  check('delivery-texts.ts', 'other !== undefined', (scene) =>
    taken(scene, { text: 'Open {{url}} and type {{code}}' }),
  ),
  check('delivery-texts.ts', ['placeholdersIn(text).includes(own)', 'true'], (scene) =>
    taken(scene, { text: 'Open https://phishing.example' }),
  ),
  check('delivery-texts.ts', ['!controls.test(text)', 'true'], (scene) =>
    taken(scene, { subject: 'Card\r\nBcc: eve@example.org' }),
  ),
  check('delivery-texts.ts', ['mapWords(words, toLine)', 'words'], async (scene) =>
    replyIf((await named(scene, 'Acme\r\nBcc: eve@example.org', 'subject')).includes('\n')),
  ),
  check('delivery-texts.ts', ['mapWords(words, escape)', 'words'], async (scene) =>
    replyIf((await named(scene, '<img src=//eve.example>', 'html')).includes('<img')),
  ),
  check('token.ts', 'secrets.endsMs !== undefined && isOver(secrets.endsMs)', async (scene) => {
    const { agent, setup } = scene
    const { recordId, credentialOffer } = await delivered(scene)
    await age(agent, setup.tenant, recordId, pastTen)
    return redeemOffer(setup, credentialOffer)
  }),
  check('authorization-request.ts', 'endsMs !== undefined && isOver(endsMs)', async (scene) => {
    const { agent, setup } = scene
    const options = { grant: 'authorization_code', txCode: false }
    const { recordId, credentialOffer } = await delivered(scene, options)
    await age(agent, setup.tenant, recordId, pastTen)
    return open(setup, (await requestFor(credentialOffer)).parameters)
  }),
  check('delivered-link.ts', 'grant?.issuer_id !== issuer.id', async (scene) => {
    const { url } = await delivered(scene)
    const page = await press(url.replace(scene.setup.issuerId, scene.other.issuerId))
    return replyIf(page.status === 200)
  }),
  check('delivered-link.ts', '!records.every(isOpen)', async (scene) => {
    const { url, recordId } = await delivered(scene)
    await expire(scene, recordId)
    return replyIf((await openLink(url)).status === 200)
  }),
  check('daemon/routes/_oid4vci.ts', "!isOwn || (site ?? 'same-origin') !== 'same-origin'", async (scene) => {
    const { url } = await delivered(scene)
    return replyIf((await press(url, { 'sec-fetch-site': 'cross-site' })).status === 200)
  }),
]
