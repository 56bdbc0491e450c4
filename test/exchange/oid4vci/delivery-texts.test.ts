/** The texts of an issuer for the messages that deliver its offers: what they become, and what is refused. */
import { expect, test } from 'vitest'
import { sharedAgent } from '../../support/agent.ts'
import { untilEnd } from '../../support/shared.ts'
import { refusal } from '../../support/tenants.ts'
import { addWebhook, deliverOffer, mail, messageOf, phone, type Deliver } from './_delivery.ts'
import { addIssuer } from './_wallet.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
const setup = await addIssuer(agent, tenant)
const sender = await untilEnd(addWebhook(tenant, true))

const path = { issuerId: setup.issuerId }
const update = (body: object) => tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body })

const link = { subject: '{{issuer}}: {{name}}', text: 'Hello,\n\n{{name}} is here until {{until}}:\n{{url}}' }
const code = { subject: 'Code', text: '{{code}}: type it in your wallet.' }

/** What the person gets. */
async function messages(deliver: Partial<Deliver> = {}) {
  const { recordId } = await deliverOffer(setup, { deliver: { to: mail, code: phone, ...deliver } })
  const sent = await messageOf(sender, 'OfferDeliveryRequested', recordId)
  const { data } = await messageOf(sender, 'TransactionCodeDeliveryRequested', recordId)
  return { recordId, link: sent.data, code: data }
}

test('the texts of the issuer replace those of the agent, and HTML is made of them', async () => {
  const shown = await update({ display: [{ name: 'Acme' }], deliveryTexts: { en: { link } } })
  expect(shown.deliveryTexts).toEqual({ en: { link } })
  const { contents } = await tenant.call('GET /oid4vci/issuers', { query: { limit: 5, offset: 0 } })
  expect(contents[0]).toEqual(shown)
  const sent = await messages()
  const { url } = sent.link
  expect(sent.link['subject']).toBe('Acme: Person')
  expect(sent.link['text']).toMatch(/^Hello,\n\nPerson is here until .* UTC:\n/)
  expect(sent.link['text']!.endsWith(`\n${url}`)).toBe(true)
  expect(sent.link['html']).toContain(`<p>Hello,</p>\n<p>Person is here until`)
  expect(sent.link['html']).toContain(`<a href="${url}">${url}</a>`)
  // That of the code, and another language, are still those of the agent.
  expect(sent.code['text']).toContain('is your code for the credential Person of Acme.')
  expect((await messages({ locale: 'de' })).link['subject']).toBe('Acme: Ihr Nachweis Person')

  const removed = await update({ deliveryTexts: null })
  expect(removed).not.toHaveProperty('deliveryTexts')
  expect((await messages()).link['subject']).toBe('Acme: your credential Person')
})

test('a new language has both messages, also when asked for again after it was removed', async () => {
  const refused = await refusal(messages({ locale: 'fr' }))
  expect([refused.status, refused.detail]).toEqual([
    400,
    expect.stringMatching(/deliver\.locale: .* in fr\. It has them in en, de\. .*--delivery-texts/),
  ])
  await update({ deliveryTexts: { fr: { link: { ...link, subject: 'Votre carte' }, code } } })
  const sent = await messages({ locale: 'fr' })
  expect(sent.link).toMatchObject({ subject: 'Votre carte', locale: 'fr' })
  expect(sent.link['text']).toMatch(/until \d+ \S+ \d{4}/)
  await update({ deliveryTexts: null })
  const again = { path: { recordId: sent.recordId } }
  const record = await tenant.call('POST /issue-credentials/records/{recordId}/deliver', again)
  const { id } = record.delivery!.link
  const { data } = await sender.waitFor('the repeated message', (event) => event.id === id)
  expect(data).toMatchObject({ locale: 'fr', subject: 'Acme: your credential Person' })
})

test('values are escaped in HTML, and have no line break in subject and text', async () => {
  const html = '<a href="{{url}}" title=\'{{name}}\'>{{issuer}}</a>'
  const name = `A"'<b>&\r\nBcc: eve@example.org\u2028{{url}}\u0007`
  await update({ display: [{ name }], deliveryTexts: { en: { link: { ...link, html } } } })
  const sent = await messages()
  const shown = `A"'<b>& Bcc: eve@example.org {{url}}`
  expect(sent.link['subject']).toBe(`${shown}: Person`)
  expect(sent.link['html']).toContain(
    `<a href="${sent.link['url']}" title='Person'>A&quot;&#39;&lt;b&gt;&amp;`,
  )
  expect(sent.link['html']!.split(sent.link['url']!)).toHaveLength(2)
  expect(sent.code['text']).toContain(`of ${shown}.`)
  expect(sent.code['html']).not.toContain('<b>')
})

const long = (length: number) => 'x'.repeat(length)

test.each<[what: string, texts: object, detail: RegExp]>([
  [
    'no link',
    { en: { link: { ...link, text: 'Look.' } } },
    /deliveryTexts\.en\.link\.text: lacks \{\{url\}\}/,
  ],
  ['no link as HTML', { en: { link: { ...link, html: '<b>' } } }, /en\.link\.html: lacks \{\{url\}\}/],
  ['no code', { de: { code: { ...code, text: 'x' } } }, /de\.code\.text: lacks \{\{code\}\}/],
  [
    'the code beside the link',
    { en: { link: { ...link, text: '{{url}} {{code}}' } } },
    /en\.link\.text: cannot have \{\{code\}\}\. Placeholders: \{\{name\}\}, .*\{\{url\}\}/,
  ],
  ['the code in a subject', { en: { code: { ...code, subject: '{{code}}' } } }, /code\.subject: cannot have/],
  [
    'the link beside the code',
    { en: { code: { ...code, text: '{{code}} {{url}}' } } },
    /cannot have \{\{url/,
  ],
  ['a typing mistake', { en: { link: { ...link, text: '{{url}} {{ nmae }}' } } }, /\{\{ nmae \}\}\. Place/],
  ['a header', { en: { link: { ...link, subject: 'a\nBcc: b@example.org' } } }, /subject: has a line break/],
  ['an empty subject', { en: { link: { ...link, subject: '' } } }, /en\.link\.subject/],
  ['a long subject', { en: { link: { ...link, subject: long(201) } } }, /en\.link\.subject: .*200/],
  ['a long text', { en: { link: { ...link, text: `{{url}}${long(2_000)}` } } }, /en\.link\.text: .*2000/],
  ['half a language', { fr: { link } }, /deliveryTexts\.fr: has no code\. Give link and code.* en, de/],
  ['no language', { 'not a tag': { link, code } }, /deliveryTexts\.not a tag: .*BCP 47/],
  [
    'too many languages',
    Object.fromEntries([...'abcdefghijklmnopqrstu'].map((letter) => [`x${letter}`, { link, code }])),
    /more than 20 languages/,
  ],
  [
    'too much',
    Object.fromEntries(
      [...'abcdefg'].map((letter) => [
        `x${letter}`,
        { link: { ...link, html: `{{url}}${long(9_990)}` }, code },
      ]),
    ),
    /deliveryTexts: is longer than 65536/,
  ],
])('texts with %s are refused by name', async (_, deliveryTexts, detail) => {
  const refused = await refusal(update({ deliveryTexts }))
  expect([refused.status, refused.detail]).toEqual([400, expect.stringMatching(detail)])
})
