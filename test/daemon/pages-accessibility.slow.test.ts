/** The accessibility of all pages (WCAG 2.2 AA), in Chromium: axe-core, and what it cannot see. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { launch } from '../support/chromium.ts'
import { encode, offerByInvitation } from '../support/invitation.ts'
import { offered } from '../exchange/oid4vci/_authorization.ts'
import { useProvider } from '../exchange/oid4vci/log-in/_browser.ts'
import { startLyingProvider } from '../exchange/oid4vci/log-in/_lying-provider.ts'
import { addWebhook, deliverOffer, mail, messageOf } from '../exchange/oid4vci/_delivery.ts'
import { issuerDid, requestProof, type RequestOptions } from '../exchange/oid4vp/_wallet.ts'
import {
  addPasses,
  begin,
  declineAt,
  requestedPass,
  trust,
  visit,
} from '../exchange/oid4vci/presentation/_presentation.ts'
import { addIssuer } from '../exchange/oid4vci/_wallet.ts'
import { oobOf } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Names and goals in several scripts, one of which is written from right to left. */
const name = 'Größe & Söhne 株式会社 شركة 🎓'

const agent = await untilEnd(startAgent())
const browser = await launch()
const body = { from: name }
const link = (oob: string) => `${agent.url}/invitation?_oob=${oob}`
const tenant = await agent.newTenant()
const [{ didRequest, shortUrl }, unnamed, { challenge }, withdrawn, connection, offer, request] =
  await Promise.all([
    agent.tenant('POST /onboard/did-requests', { body }),
    agent.tenant('POST /onboard/did-requests', { body: {} }),
    agent.tenant('POST /did-authentication/challenges', { body: { ...body, openid4vp: {} } }),
    agent.tenant('POST /onboard/did-requests', { body }),
    agent.tenant('POST /connections', { body: { goal: name } }),
    offerByInvitation({ ...tenant }, { goal: name }),
    agent.tenant('POST /present-proof/presentations/invitation', { body: { goal: name, proofs: [] } }),
  ])
await agent.tenant('DELETE /onboard/did-requests/{didRequestId}', { path: { didRequestId: withdrawn.id } })
const issuer = await addIssuer(agent, tenant)
const { parameters } = await offered(issuer)
const sender = await untilEnd(addWebhook(tenant, true))
const { recordId } = await deliverOffer(issuer, { deliver: { to: mail } })
const { data: message } = await messageOf(sender, 'OfferDeliveryRequested', recordId)
const consent = new URLSearchParams(parameters as Record<string, string>)
const staff = await addIssuer(agent, tenant)
await useProvider(staff, (await untilEnd(startLyingProvider())).url)
const afterLogIn = async (options: object = {}) => {
  const asked = await offered(staff, options)
  return `${staff.identifier}/authorize?${new URLSearchParams(asked.parameters as Record<string, string>).toString()}`
}
const library = await addPasses(agent, tenant)
await trust(tenant, issuerDid)
const { parameters: pass } = requestedPass()
const declined = await begin(library, requestedPass().parameters)
await declineAt(declined)
const toReturn = (await visit(declined.pageUrl)).location!.href
const pageOf = async (options: RequestOptions) => (await requestProof({ tenant }, options)).openid4vp!.pageUrl
const pages = {
  'OpenID4VP request': await pageOf({}),
  'request for the browser': await pageOf({ responseMode: 'dc_api' }),
  'request for the browser alone': await pageOf({ responseMode: 'dc_api', directPost: false }),
  consent: `${issuer.identifier}/authorize?${consent.toString()}`,
  'refused request': `${issuer.identifier}/authorize?${consent.toString()}&response_mode=fragment`,
  'consent after a log-in': await afterLogIn(),
  'log-in of another person': await afterLogIn({ expectedIdentity: { sub: 'bob' } }),
  'lost log-in': `${staff.identifier}/log-in?state=none`,
  'presentation before the consent': `${library.identifier}/authorize?${new URLSearchParams(pass as Record<string, string>).toString()}`,
  'presentation of another browser': toReturn,
  'delivered offer': message['url']!,
  home: `${agent.url}/`,
  'DID request': didRequest.onboardEndpoint,
  'DID request without a name': unnamed.didRequest.onboardEndpoint,
  challenge: challenge.submissionEndpoint,
  invitation: link(oobOf(connection)),
  'short link of an invitation': connection.invitation.shortUrl!,
  'short link of a DID request': shortUrl!,
  offer: link(oobOf(offer)),
  'proof request': link(oobOf(request)),
  'expired invitation': link(
    encode({
      id: '1',
      type: 'https://didcomm.org/out-of-band/2.0/invitation',
      from: 'did:example:other',
      expires_time: 1,
    }),
  ),
  unreadable: link('no'),
  unknown: `${agent.url}/onboard/none`,
  closed: withdrawn.didRequest.onboardEndpoint,
}
afterAll(async () => {
  await browser.close()
})

type Look = { colorScheme: 'light' | 'dark'; width: number }
const looks: Look[] = [
  { colorScheme: 'light', width: 1_280 },
  { colorScheme: 'dark', width: 375 },
]

async function look(page: Page, { colorScheme, width }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height: 800 })
}

/** What axe-core reports of a page: the rule, and the elements. Content of collapsed details counts too. */
async function faultsOf(page: Page): Promise<string[]> {
  const options = JSON.stringify({ runOnly: tags, rules: { 'target-size': { enabled: true } } })
  type Found = { id: string; nodes: { html: string; failureSummary: string }[] }[]
  const { violations, passes } = await page.evaluate<Record<'violations' | 'passes', Found>>(
    `axe.run(${options})`,
  )
  expect(passes.length).toBeGreaterThan(5)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

/**
 * Shows all that a page can show: details, and what only browsers without JavaScript show. axe-core needs
 * JavaScript.
 */
const showAll = `document.querySelectorAll('details').forEach((each) => each.open = true)
  document.querySelectorAll('noscript').forEach((each) => each.outerHTML = each.textContent)`

/** Elements whose content does not fit, or that are wider than the window. */
const cut = `[...document.body.querySelectorAll('*')].filter((each) => !each.closest('svg') && each.localName !== 'textarea')
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 || each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
  .map((each) => each.outerHTML.slice(0, 100))`

// Colours are those of every language.
describe.each([
  ['en-GB', looks],
  ['de-DE', looks.slice(1)],
] as const)('%s', (locale, seen) => {
  let context: BrowserContext
  let page: Page
  beforeAll(async () => {
    // Styles for tests are not in the policy of the pages.
    context = await browser.newContext({ locale, bypassCSP: true })
    page = await context.newPage()
  })
  afterAll(() => context.close())

  test('axe-core reports nothing on a screen and on a phone, and 320 pixels show all', async () => {
    const faults: Record<string, string[]> = {}
    for (const [title, url] of Object.entries(pages)) {
      await page.goto(url)
      await page.evaluate(showAll)
      await page.evaluate(axe)
      for (const each of seen) {
        await look(page, each)
        const found = await faultsOf(page)
        if (found.length > 0) faults[`${title}, ${each.colorScheme}, ${each.width}`] = found
      }
      expect(await page.getAttribute('html', 'lang'), title).toBe(locale.slice(0, 2))
      expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg\+xml,/)
      await page.setViewportSize({ width: 320, height: 256 })
      expect(await page.evaluate(cut), title).toEqual([])
      // The text spacing of WCAG 1.4.12.
      await page.addStyleTag({
        content: `* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }
          p { margin-bottom: 2em !important }`,
      })
      expect(await page.evaluate(cut), title).toEqual([])
    }
    expect(faults).toEqual({})
  })
})

test('axe-core reports nothing of the API reference around Swagger UI, and sees faults', async () => {
  const context = await browser.newContext()
  // Without Swagger UI, which is not ours.
  await context.route(/\/docs\/.*\.js$/, (route) => route.abort())
  const page = await context.newPage()
  await page.goto(`${agent.url}/docs`)
  await page.evaluate(showAll)
  await page.evaluate(axe)
  for (const each of looks) {
    await look(page, each)
    expect(await faultsOf(page)).toEqual([])
  }
  await page.evaluate(`document.querySelector('h1').style.color = '#333'; document.documentElement.lang = ''`)
  expect((await faultsOf(page)).map((fault) => fault.split(':')[0])).toEqual([
    'color-contrast',
    'html-has-lang',
  ])
  await context.close()
})

test('the keyboard reaches each control in order, and its focus is visible', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  const focused = async () =>
    await page.evaluate<{ name: string; isVisible: boolean }>(`(() => {
      const { localName, id } = document.activeElement
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
      return { name: localName + id, isVisible: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 }
    })()`)
  const walk = async (url: string, count: number) => {
    await page.goto(url)
    await page.evaluate(showAll)
    const names: string[] = []
    for (let at = 0; at < count; at++) {
      await page.keyboard.press('Tab')
      const { name: control, isVisible } = await focused()
      expect(isVisible, `${url} ${control}`).toBe(true)
      names.push(control)
    }
    return names
  }
  expect(await walk(pages['invitation'], 4)).toEqual([
    'summary',
    'textareacopy-0',
    'textareacopy-1',
    'summary',
  ])
  expect(await walk(pages['home'], 3)).toEqual(['a', 'a', 'a'])
  expect(await walk(pages['consent'], 3)).toEqual(['inputtx_code', 'button', 'button'])
  // Without the pointer, Enter opens the details.
  await page.goto(pages['DID request'])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await page.locator('textarea').isVisible()).toBe(true)
  // Nothing moves, for people who ask for that (WCAG 2.3.3) and for others.
  expect(await page.evaluate('document.getAnimations().length')).toBe(0)
  await context.close()
})
