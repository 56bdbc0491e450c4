/** The consent page in Chromium without JavaScript. The browser takes the person's answer to the wallet. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestAgent } from '../../support/agent.ts'
import { launch } from '../../support/chromium.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { offered, open, sealedIn } from './_authorization.ts'
import { startIssuer, type Setup } from './_wallet.ts'

let setup: Setup & { agent: TestAgent }
let browser: Browser
let wallet: TestServer
let evil: TestServer
/** The page of another site. */
let evilPage = ''
beforeAll(async () => {
  setup = await startIssuer()
  browser = await launch()
  wallet = await startServer((request, response) => response.end(request.headers.referer ?? 'no referrer'))
  evil = await startServer((_, response) => response.setHeader('content-type', 'text/html').end(evilPage))
})
afterAll(async () => {
  await browser.close()
  for (const each of [wallet, evil, setup.agent]) await each[Symbol.asyncDispose]()
})

async function openPage(javaScriptEnabled = false) {
  const context = await browser.newContext({ javaScriptEnabled })
  const page = await context.newPage()
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  return { page, said }
}

async function asked() {
  const { parameters, txCode } = await offered(setup)
  const request = { ...parameters, redirect_uri: `${wallet.url}/cb` }
  const query = new URLSearchParams(request as Record<string, string>).toString()
  return { request, txCode: txCode!, url: `${setup.identifier}/authorize?${query}` }
}

test('a person enters a wrong code and then the right one, and the browser goes to the wallet', async () => {
  const { page, said } = await openPage()
  const { url, txCode } = await asked()
  await page.goto(url)
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(
    'Add this credential to your wallet?',
  )
  await page.getByLabel('Code from the issuer').fill(txCode === '000000' ? '000001' : '000000')
  await page.getByRole('button', { name: 'Accept' }).click()
  expect(await page.getByRole('alert').innerText()).toBe('This code is wrong. You can try 4 more times.')
  await page.getByLabel('Code from the issuer').fill(`${txCode.slice(0, 3)} ${txCode.slice(3)}`)
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.waitForURL(`${wallet.url}/**`)
  expect(new URL(page.url()).searchParams.get('code')).toEqual(expect.any(String))
  // Neither the address of the page nor its request reaches the wallet.
  expect(await page.locator('body').innerText()).toBe('no referrer')
  expect(said.filter((text) => text.includes('Security Policy'))).toEqual([])
})

test('a person declines without a code', async () => {
  const { page } = await openPage()
  await page.goto((await asked()).url)
  await page.getByRole('button', { name: 'Decline' }).click()
  await page.waitForURL(`${wallet.url}/**`)
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
})

test('the form of a page of another site is refused, and the page cannot be in a frame', async () => {
  const { request, txCode, url } = await asked()
  const sealed = sealedIn(await open(setup, request))
  evilPage = `<form method="post" action="${setup.identifier}/authorize">
    <input name="request" value="${sealed}"><input name="tx_code" value="${txCode}">
    <button name="decision" value="accept">Win</button></form>`
  const { page, said } = await openPage()
  await page.goto(evil.url)
  const [response] = await Promise.all([
    page.waitForResponse((each) => each.url().endsWith('/authorize')),
    page.getByRole('button').click(),
  ])
  expect(response.status()).toBe(403)
  evilPage = `<iframe src="${url}"></iframe>`
  await page.goto(evil.url)
  await expect.poll(() => said.join('\n')).toContain('frame-ancestors')
})
