/** The page of a presentation request: in Chromium behind a reverse proxy with a path, and its stream over HTTP. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../_agent.ts'
import { launch } from '../_chromium.ts'
import { newChallenge, person, trustIssuer } from '../enterprise/_openid4vp.ts'
import { openProxy, type Proxy } from '../_proxy.ts'
import type { Tenant } from '../_tenants.ts'
import {
  newVerifierDid,
  present,
  presentSdJwt,
  readRequest,
  requestProof,
  respond,
  type Presented,
  type RequestOptions,
} from './_wallet.ts'

let proxy: Proxy
let agent: TestAgent
let tenant: Tenant
let browser: Browser
beforeAll(async () => {
  proxy = await openProxy()
  agent = await startAgent({ REST_SERVICE_URL: `${proxy.url}/cloud-agent` })
  proxy.leadTo(agent.url)
  tenant = await agent.newTenant('verifier')
  browser = await launch()
})
afterAll(async () => {
  await browser.close()
  for (const each of [agent, proxy]) await each[Symbol.asyncDispose]()
})

async function asked(options: RequestOptions = {}) {
  const { openid4vp } = await requestProof({ tenant }, options)
  const { authorizationRequest, pageUrl } = openid4vp!
  return { authorizationRequest, pageUrl, request: await readRequest(authorizationRequest) }
}

/** Opens a page, and notes faults and the requests that a document makes. */
async function open(url: string) {
  const page = await (await browser.newContext()).newPage()
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  page.on('request', (each) => {
    if (!each.isNavigationRequest() && !each.url().startsWith('data:')) said.push(each.url())
  })
  const streamed = new Promise<void>((resolve) => {
    page.on('response', (each) => {
      if (each.headers()['content-type'] === 'text/event-stream') resolve()
    })
  })
  await page.goto(url)
  return { page, said, streamed, state: (name: string) => page.waitForSelector(`[data-state=${name}]`) }
}

const answer = async (request: any, presented: Presented = {}) =>
  (await present(request, { person: [await presentSdJwt(request, presented)] })).status

test('the page shows the request as code, and moves on when a wallet has answered', async () => {
  const { pageUrl, authorizationRequest, request } = await asked({ did: await newVerifierDid({ tenant }) })
  expect(pageUrl).toMatch(`${proxy.url}/cloud-agent/oid4vp/requests/`)
  const { page, said, state } = await open(pageUrl)
  await state('waiting')
  expect(await page.locator('svg').count()).toBe(1)
  expect(await page.getByRole('link').getAttribute('href')).toBe(authorizationRequest)
  expect(await answer(request)).toBe(200)
  await state('verified')
  expect(await page.innerText('body')).not.toContain('Alice')
  // The stream is the only thing that the page asked for.
  expect(said.filter((text) => text !== pageUrl)).toEqual([])
  await page.reload()
  await state('verified')
})

test('the page of a challenge has a second code for wallets of OpenID4VP, and moves on when one has answered', async () => {
  await trustIssuer(tenant)
  const signer = await newVerifierDid({ tenant })
  const made = await newChallenge(tenant, { ...person, did: signer })
  const { page, streamed } = await open(made.shortUrl!)
  await streamed
  await page.getByText('Answer with a credential').click()
  await page.getByRole('img', { name: 'QR code of the request for a credential' }).waitFor()
  const { authorizationRequest } = made.openid4vp!
  expect(await page.getByRole('link').getAttribute('href')).toBe(authorizationRequest)
  expect(await answer(await readRequest(authorizationRequest))).toBe(200)
  await page.getByText('answered').first().waitFor()
  const json = await fetch(made.challenge.submissionEndpoint)
  expect(json.status).toBe(410)
})

test('the page says that a check failed, and not which', async () => {
  const { pageUrl, request } = await asked()
  const { page, state } = await open(pageUrl)
  expect(await answer(request, { claims: ['name', 'age'] })).toBe(400)
  await state('failed')
  expect(await page.innerText('body')).not.toContain('age is disclosed')
})

test('the page says that the wallet declined, and that the request has expired', async () => {
  const { pageUrl, request } = await asked()
  const { state } = await open(pageUrl)
  await respond(request, { error: 'access_denied', state: request.state })
  await state('declined')
  const short = await open((await asked({ expiresIn: 1 })).pageUrl)
  await short.state('expired')
})

test('the page moves on after its connection was lost meanwhile', async () => {
  const { pageUrl, request } = await asked()
  const { page, state, streamed } = await open(pageUrl)
  await state('waiting')
  await streamed
  proxy.leadTo(undefined)
  proxy.cut()
  const direct = { ...request, response_uri: request.response_uri.replace(proxy.url, agent.url) }
  expect(await answer(direct)).toBe(200)
  proxy.leadTo(agent.url)
  await state('verified')
  await page.close()
})

test('programs read the state, without claims', async () => {
  const { pageUrl, authorizationRequest, request } = await asked()
  const read = async () => (await fetch(pageUrl)).json()
  expect(await read()).toEqual({ state: 'waiting', expiresAt: expect.any(String), authorizationRequest })
  await answer(request)
  expect(await read()).toEqual({ state: 'verified', expiresAt: expect.any(String) })
  const { presentationId } = (
    await tenant.call('GET /present-proof/presentations', { query: { order: 'desc' } })
  ).contents[0]!
  await tenant.call('DELETE /present-proof/presentations/{presentationId}', { path: { presentationId } })
  expect((await fetch(pageUrl)).status).toBe(410)
  const unknown = await fetch(pageUrl.replace(/requests\/\w+/, 'requests/abc'), {
    headers: { accept: 'text/html' },
  })
  expect(unknown.status).toBe(404)
})
