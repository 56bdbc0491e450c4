/** The delivery of an offer: who gets the link and the code, what opening the link does, and what is refused. */
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { untilEnd } from '../../support/shared.ts'
import { refusal, until } from '../../support/tenants.ts'
import { answer, open, requestFor, sealedIn } from './_authorization.ts'
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
import { useProvider } from './log-in/_browser.ts'
import { startLyingProvider } from './log-in/_lying-provider.ts'
import { addIssuer, codeOf, errorOf, offer, recordOf, redeemOffer } from './_wallet.ts'

const agent = await untilEnd(startAgent({ OID4VCI_REQUESTS_PER_MINUTE: '100000' }))
const tenant = await agent.newTenant('issuer')
const setup = await addIssuer(agent, tenant)
const sender = await untilEnd(addWebhook(tenant, true))
const other = await untilEnd(addWebhook(tenant, false))

const link = 'OfferDeliveryRequested'
const code = 'TransactionCodeDeliveryRequested'
const path = { issuerId: setup.issuerId }

async function delivered(deliver = { to: mail, code: phone }, options: object = {}) {
  const made = await deliverOffer(setup, { deliver, ...options })
  return { ...made, message: await messageOf(sender, link, made.recordId) }
}

const pastTen = 10 * 60_000 + 1

test('the webhook that delivers gets link and code, with texts; the log and other webhooks do not', async () => {
  const { recordId, message, txCode } = await delivered()
  const { data } = await messageOf(sender, code, recordId)
  expect(txCode).toBeUndefined()
  expect(message.data).toMatchObject({ recordId, issuerId: setup.issuerId, to: mail, locale: 'en' })
  expect(message.data['url']).toMatch(new RegExp(`^${setup.identifier}/d/[\\w-]{43}$`))
  expect(message.data['subject']).toBe(`${new URL(agent.url).host}: your credential Person`)
  expect(message.data['text']).toContain(`\n${message.data['url']}\n`)
  expect(message.data['html']).toContain(`<a href="${message.data['url']}">`)
  expect(JSON.stringify(message.data)).not.toContain(data['code'])
  expect(data).toMatchObject({ to: phone, code: expect.stringMatching(/^\d{6}$/) })
  expect(data['text']).toContain(`${data['code']} is your code for the credential Person`)
  expect(data['html']).toContain(`<strong>${data['code']}</strong>`)

  const { contents } = await tenant.call('GET /events', { query: { limit: 100, offset: 0 } })
  const logged = contents.filter((event) => event.data['recordId'] === recordId && event.data['to'])
  expect(logged.map(({ type, data: { url, code } }) => [type, url ?? code])).toEqual([
    [link, '***'],
    [code, '***'],
  ])
  expect(JSON.stringify(contents)).not.toContain(message.data['url'])
  expect(JSON.stringify(contents)).not.toContain(`"${data['code']}"`)
  expect(logged[1]!.data).not.toHaveProperty('text')

  const last = await tenant.call('POST /events/test', { body: { type: 'ConnectionUpdated' } })
  await other.waitFor('the event after', ({ id }) => id === last.id)
  expect(other.events.filter(({ type }) => [link, code].includes(type))).toEqual([])
})

test('a replay has no secret, and a webhook that does not deliver gets none of these events again', async () => {
  const { message } = await delivered()
  const eventId = message.id
  const replay = (id: string) =>
    tenant.call('POST /events/webhooks/{id}/replay', { path: { id }, body: { eventId } })
  await stored(tenant, sender, eventId)
  expect(await replay(other.id)).toEqual({ count: 0 })
  expect(await replay(sender.id)).toEqual({ count: 1 })
  const arrivals = () => Promise.resolve(sender.deliveries.filter(({ event }) => event.id === eventId))
  const [, again] = await until('the replay', arrivals, ({ length }) => length === 2)
  expect(again!.event.data).toMatchObject({ url: '***', to: mail })
  expect(again!.event.data).not.toHaveProperty('html')
})

test('mail scanners use nothing up; the button makes a code for ten minutes, as often as needed', async () => {
  const { recordId, message, credentialOffer } = await delivered({ to: mail } as never, { txCode: false })
  const url = message.data['url']!
  const rows = () =>
    agent.agent.wallets.use(tenant.walletId, ({ db }) =>
      db.selectFrom('issuance_grant').selectAll().execute(),
    )
  const before = await rows()
  for (const method of ['HEAD', 'GET', 'OPTIONS'])
    for (const headers of [{}, { 'sec-purpose': 'prefetch', purpose: 'prefetch' }])
      await openLink(url, { method, headers: { ...headers } as Record<string, string> })
  expect(await rows()).toEqual(before)
  const page = await openLink(url, { headers: { accept: 'text/html' } })
  expect([page.status, page.link]).toEqual([200, undefined])
  expect(page.text).toContain('<form method="post">')
  expect(page.text).not.toContain('openid-credential-offer')
  expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
  expect(page.headers.get('cache-control')).toBe('no-store')

  // That of the reply is new, so a press soon after it gets the same one, as of a double click.
  const first = await press(url)
  expect([first.status, first.link]).toEqual([200, credentialOffer])
  await age(agent, tenant, recordId, pastTen)
  const late = await redeemOffer(setup, first.link!)
  expect(errorOf(late)).toEqual([400, 'invalid_grant'])
  const second = await press(url)
  expect(await codeOf(second.link!)).not.toBe(await codeOf(first.link!))
  expect(errorOf(await redeemOffer(setup, first.link!))).toEqual([400, 'invalid_grant'])
  expect((await redeemOffer(setup, second.link!)).status).toBe(200)
  expect([(await openLink(url)).status, (await press(url)).status]).toEqual([410, 410])
})

test('the person redeems with the code of the other message', async () => {
  const { recordId, message } = await delivered()
  const { data } = await messageOf(sender, code, recordId)
  const { link: wallet } = await press(message.data['url']!)
  expect(errorOf(await redeemOffer(setup, wallet!, '000000x'))).toEqual([400, 'invalid_grant'])
  expect((await redeemOffer(setup, wallet!, data['code'])).status).toBe(200)
})

test('the page of another site cannot press the button, nor is the link of another issuer good', async () => {
  const { message } = await delivered()
  const url = message.data['url']!
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    expect(await press(url, headers as never)).toMatchObject({ status: 403, link: undefined })
  const elsewhere = await addIssuer(agent, tenant)
  const foreign = url.replace(setup.issuerId, elsewhere.issuerId)
  for (const wrong of [foreign, `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`])
    expect([(await openLink(wrong)).status, (await press(wrong)).status]).toEqual([404, 404])
})

test('with consent at the issuer, the button makes an issuer_state for ten minutes', async () => {
  const { recordId, message } = await delivered({ to: mail } as never, { grant: 'authorization_code' })
  const url = message.data['url']!
  const { parameters: old } = await requestFor((await press(url)).link!)
  await age(agent, tenant, recordId, pastTen)
  const page = await open(setup, old)
  expect([page.status, page.text]).toEqual([410, expect.stringContaining('This link is closed')])
  const { parameters } = await requestFor((await press(url)).link!)
  expect(parameters['issuer_state']).not.toBe(old['issuer_state'])
  expect((await open(setup, old)).status).toBe(400)
  const asked = await open(setup, parameters)
  expect(asked.status).toBe(200)
  const { location } = await answer(setup, { request: sealedIn(asked), decision: 'decline' })
  expect(location!.searchParams.get('error')).toBe('access_denied')
})

test('the tenant says what became of a message, and the record shows it', async () => {
  const { recordId, message } = await delivered()
  const report = (deliveryId: string, body: { status: 'sent' | 'failed'; reason?: string }) =>
    tenant.call('POST /oid4vci/issuers/{issuerId}/deliveries/{deliveryId}', {
      path: { ...path, deliveryId },
      body,
    })
  expect((await recordOf(setup, recordId)).delivery).toMatchObject({
    locale: 'en',
    link: { id: message.id, to: mail, status: 'requested' },
    code: { to: phone, status: 'requested' },
  })
  const failed = await report(message.id, { status: 'failed', reason: 'no such mailbox' })
  expect(failed.delivery).toMatchObject({ link: { status: 'failed', reason: 'no such mailbox' } })
  const { data } = await sender.waitFor(
    'the event',
    (event) =>
      (event.data['delivery'] as any)?.link.status === 'failed' && event.data['recordId'] === recordId,
  )
  expect(data['protocolState']).toBe('OfferCreated')

  const again = await tenant.call('POST /issue-credentials/records/{recordId}/deliver', {
    path: { recordId },
  })
  const { id } = again.delivery!.link
  expect(id).not.toBe(message.id)
  const repeated = await sender.waitFor('the repeated event', (event) => event.id === id)
  for (const url of [message.data['url']!, repeated.data['url'] as string])
    expect((await press(url)).status).toBe(200)
  expect((await report(id, { status: 'sent' })).delivery!.link).toMatchObject({ id, status: 'sent' })
  const gone = await refusal(report(message.id, { status: 'sent' }))
  expect([gone.status, gone.detail]).toEqual([404, expect.stringContaining('asked for once more')])
  expect((await recordOf(setup, recordId)).delivery).toEqual({
    ...again.delivery,
    link: { id, to: mail, status: 'sent', at: expect.any(String) },
  })
})

test.each<[what: string, options: object, status: number, detail: RegExp]>([
  [
    'code to the same address',
    { deliver: { to: mail, code: 'MAILTO:Alice@example.org' } },
    400,
    /same address/,
  ],
  ['a code without one', { deliver: { to: mail, code: phone }, txCode: false }, 400, /no transaction code/],
  ['a short link too', { deliver: { to: mail }, byReference: true }, 400, /byReference/],
  ['two recipients', { deliver: { to: 'mailto:a@example.org,b@example.org' } }, 400, /deliver\.to/],
  ['a hidden recipient', { deliver: { to: 'mailto:a@example.org?bcc=b@example.org' } }, 400, /deliver\.to/],
  ['a web address', { deliver: { to: 'https://example.org' } }, 400, /deliver\.to/],
])('an offer with %s is refused', async (_, options, status, detail) => {
  const refused = await refusal(offer(setup, options))
  expect([refused.status, refused.detail]).toEqual([status, expect.stringMatching(detail)])
})

test('without a webhook that delivers, an offer is refused, and leaves nothing', async () => {
  const lonely = await agent.newTenant('lonely')
  const theirs = await addIssuer(agent, lonely)
  await untilEnd(addWebhook(lonely, false))
  const refused = await refusal(deliverOffer(theirs, { deliver: { to: mail } }))
  expect([refused.status, refused.detail]).toEqual([
    409,
    expect.stringContaining('webhook add <url> --deliver'),
  ])
  const { contents } = await lonely.call('GET /issue-credentials/records', { query: { limit: 5, offset: 0 } })
  expect(contents).toEqual([])
  const body = { url: sender.url, types: [link as 'OfferDeliveryRequested'] }
  expect((await refusal(lonely.call('POST /events/webhooks', { body }))).detail).toMatch(/"deliver": true/)
})

test('a log-in allows link and code at one address', async () => {
  const staff = await addIssuer(agent, tenant)
  const idp = await untilEnd(startLyingProvider())
  await useProvider(staff, idp.url)
  const { recordId } = await deliverOffer(staff, { deliver: { to: mail, code: mail, locale: 'de' } })
  const { data } = await messageOf(sender, code, recordId)
  expect([data['to'], data['text']]).toEqual([mail, expect.stringContaining('ist Ihr Code für')])
  const refused = await refusal(
    deliverOffer(staff, { deliver: { to: mail, code: mail }, grant: 'pre-authorized_code' }),
  )
  expect(refused.status).toBe(400)
})

test('a repeated request has the first reply, and an offer that has ended is not sent again', async () => {
  const { recordId, message } = await delivered({ to: mail } as never)
  const { link: wallet } = await press(message.data['url']!)
  await redeemOffer(setup, wallet!)
  const repeat = tenant.call('POST /issue-credentials/records/{recordId}/deliver', { path: { recordId } })
  expect((await refusal(repeat)).status).toBe(409)
  const { recordId: plain } = await offer(setup)
  const never = tenant.call('POST /issue-credentials/records/{recordId}/deliver', {
    path: { recordId: plain },
  })
  expect((await refusal(never)).detail).toMatch(/not delivered by messages/)
})
