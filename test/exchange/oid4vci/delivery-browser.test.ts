/** The page of a delivered offer in Chromium without JavaScript: its button, and a page of another site. */
import { expect, test } from 'vitest'
import { launch } from '../../support/chromium.ts'
import { startServer } from '../../support/server.ts'
import { untilEnd } from '../../support/shared.ts'
import { addWebhook, deliverOffer, mail, messageOf } from './_delivery.ts'
import { redeemOffer, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const sender = await untilEnd(addWebhook(setup.tenant, true))

async function deliveredUrl() {
  const { recordId } = await deliverOffer(setup, { deliver: { to: mail } })
  return (await messageOf(sender, 'OfferDeliveryRequested', recordId)).data['url']!
}

test('the button shows the link for the wallet, which another site cannot have made', async () => {
  await using browser = await launch()
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  const url = await deliveredUrl()
  await page.goto(url)
  expect(await page.getByRole('link').count()).toBe(0)
  await page.getByRole('button', { name: 'Get the credential' }).click()
  expect(page.url()).toBe(url)
  const link = await page.getByRole('link', { name: 'Open the wallet on this device' }).getAttribute('href')
  expect(said.filter((text) => text.includes('Security Policy'))).toEqual([])
  expect((await redeemOffer(setup, link!)).status).toBe(200)

  const other = await deliveredUrl()
  const form = `<form method="post" action="${other}"><button>Win</button></form>`
  await using evil = await startServer((_, response) =>
    response.setHeader('content-type', 'text/html').end(form),
  )
  await page.goto(evil.url)
  await page.getByRole('button').click()
  await page.waitForURL(other)
  expect(await page.getByRole('link').count()).toBe(0)
})
