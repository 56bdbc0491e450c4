/** A presentation before the consent in Chromium: the page of the request goes on to the consent by itself. */
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { launch } from '../../../support/chromium.ts'
import { startServer } from '../../../support/server.ts'
import { untilEnd } from '../../../support/shared.ts'
import { issuerDid } from '../../oid4vp/_wallet.ts'
import { addPasses, presentTo, requestedPass, trust } from './_presentation.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
const setup = await addPasses(agent, tenant)
await trust(tenant, issuerDid)
const wallet = await untilEnd(startServer((_, response) => response.end('the wallet')))
const browser = await launch()
afterAll(() => browser.close())

/** Opens the page, presses its button, and returns the request for the wallet. */
async function begin(page: Page, button: string) {
  const parameters = { ...requestedPass().parameters, redirect_uri: `${wallet.url}/cb` }
  const query = new URLSearchParams(parameters as Record<string, string>).toString()
  await page.goto(`${setup.identifier}/authorize?${query}`)
  await page.getByRole('button', { name: button }).click()
  await page.waitForURL('**/oid4vp/requests/*/page')
  const link = page.locator('a[href^="openid4vp:"]').first()
  return { authorizationRequest: (await link.getAttribute('href'))! }
}

const present = (request: { authorizationRequest: string }) => presentTo(request as never)

async function accept(page: Page, button: string) {
  await page.getByRole('button', { name: button }).click()
  await page.waitForURL(`${wallet.url}/**`)
  expect(new URL(page.url()).searchParams.get('code')).toEqual(expect.any(String))
}

test('a wallet on another device presents, and the page goes on to the consent', async () => {
  const context = await browser.newContext({ locale: 'de' })
  const page = await context.newPage()
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  const request = await begin(page, 'Nachweis vorzeigen')
  const { next } = await present(request)
  await page.waitForURL('**/presentation?id=*')
  // The browser of the other device.
  const other = await (await browser.newContext({ locale: 'de' })).newPage()
  await other.goto(next!)
  expect(await other.getByRole('heading', { level: 1 }).innerText()).toBe(
    'Machen Sie dort weiter, wo Sie begonnen haben',
  )
  await accept(page, 'Annehmen')
  expect(said.filter((text) => text.includes('Security Policy'))).toEqual([])
})

test('a wallet on the same device takes the browser to the consent', async () => {
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
  const { next } = await present(await begin(page, 'Show a proof'))
  await page.goto(next!)
  expect(new URL(page.url()).searchParams.has('response_code')).toBe(false)
  await accept(page, 'Accept')
})
