/**
 * A log-in in Chromium, without JavaScript: the cookie survives the way over the site of the provider, and
 * the answer goes to the wallet.
 */
import { afterAll, expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { launch } from '../../../support/chromium.ts'
import { startServer } from '../../../support/server.ts'
import { untilEnd } from '../../../support/shared.ts'
import { offered } from '../_authorization.ts'
import { addIssuer, recordOf } from '../_wallet.ts'
import { useProvider } from './_browser.ts'
import { startLyingProvider } from './_lying-provider.ts'

const agent = await sharedAgent()
const setup = await addIssuer(agent, await agent.newTenant('issuer'))
// Another site than that of the agent, 127.0.0.1.
const provider = await untilEnd(startLyingProvider('localhost'))
await useProvider(setup, provider.url)
const wallet = await untilEnd(startServer((_, response) => response.end('the wallet')))
const browser = await launch()
afterAll(() => browser.close())

async function asked(options: object = {}) {
  const { parameters, recordId } = await offered(setup, { txCode: false, claims: {}, ...options })
  const request = { ...parameters, redirect_uri: `${wallet.url}/cb` }
  const query = new URLSearchParams(request as Record<string, string>).toString()
  return { recordId, url: `${setup.identifier}/authorize?${query}` }
}

test('the person sees the account, accepts, and the browser goes to the wallet with a code', async () => {
  const page = await (await browser.newContext({ javaScriptEnabled: false, locale: 'de' })).newPage()
  const { url } = await asked()
  await page.goto(url)
  expect(new URL(page.url()).pathname).toBe(`/oid4vci/issuers/${setup.issuerId}/log-in`)
  expect(await page.getByText('Sie sind angemeldet als').isVisible()).toBe(true)
  expect(await page.getByText('Alice Adams').isVisible()).toBe(true)
  await page.getByRole('button', { name: 'Annehmen' }).click()
  await page.waitForURL(`${wallet.url}/**`)
  expect(new URL(page.url()).searchParams.get('code')).toEqual(expect.any(String))
})

test('a person for whom the offer is not reads why, and tells the wallet by a link', async () => {
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
  const { url, recordId } = await asked({ expectedIdentity: { sub: 'bob' } })
  await page.goto(url)
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('You do not get this credential now')
  expect(await page.getByText('for another person than the one who has logged in').isVisible()).toBe(true)
  await page.getByRole('link').click()
  await page.waitForURL(`${wallet.url}/**`)
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  expect((await recordOf(setup, recordId)).protocolState).toBe('OfferCreated')
})
