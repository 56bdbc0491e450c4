/**
 * The page of a presentation request: in Chromium behind a reverse proxy with a path, and its stream over
 * HTTP.
 */
import { afterAll, expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { launch } from '../../support/chromium.ts'
import { newChallenge, person, trustIssuer } from '../enterprise/_openid4vp.ts'
import { openProxy } from '../../support/proxy.ts'
import { answerTo, askedDigitally, encryptTo } from './_digital.ts'
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
import { untilEnd } from '../../support/shared.ts'

const proxy = await untilEnd(openProxy())
const agent = await untilEnd(startAgent({ REST_SERVICE_URL: `${proxy.url}/cloud-agent` }))
proxy.leadTo(agent.url)
const tenant = await agent.newTenant('verifier')
const browser = await launch()
afterAll(async () => {
  await browser.close()
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
  expect(await page.locator('svg >> visible=true').count()).toBe(1)
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
  expect(await read()).toEqual({
    state: 'waiting',
    asked: [{ credential: 'person', claims: ['name'] }],
    expiresAt: expect.any(String),
    authorizationRequest,
  })
  await answer(request)
  expect(await read()).toEqual({
    state: 'verified',
    issuersChecked: false,
    expiresAt: expect.any(String),
  })
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

const digitally = (options: RequestOptions = {}) =>
  askedDigitally({ tenant }, { origins: [proxy.url], ...options })

/** Replaces the wallet of the platform by one of the test, which gets what the page asks for, and its origin. */
async function openWithWallet(url: string, wallet: (asked: any, origin: string) => Promise<object>) {
  const context = await browser.newContext()
  await context.exposeFunction('askWallet', wallet)
  await context.addInitScript(
    'navigator.credentials.get = ({ digital }) => askWallet(digital, location.origin)',
  )
  const page = await context.newPage()
  await page.goto(url)
  return { page, state: (name: string) => page.waitForSelector(`[data-state=${name}]`) }
}

test('the page asks the browser for a wallet, and sends its answer', async () => {
  for (const options of [{}, { did: await newVerifierDid({ tenant }) }]) {
    const { pageUrl, openid4vp, request, protocol } = await digitally(options)
    const asked: unknown[] = []
    const { page, state } = await openWithWallet(pageUrl, async (digital, origin) => {
      asked.push([digital, origin])
      return { protocol, data: await answerTo(request, origin) }
    })
    await state('waiting')
    expect(await page.locator('svg >> visible=true').count()).toBe(1)
    await page.getByRole('button').click()
    await state('verified')
    expect(asked).toEqual([[{ requests: [openid4vp.digitalRequest] }, proxy.url]])
    await page.context().close()
  }
})

test('an encrypted answer goes the same way, and the browser continues at the verifier', async () => {
  const redirectUri = `${proxy.url}/cloud-agent/_system/health`
  const { pageUrl, request, protocol, presentationId } = await digitally({
    responseMode: 'dc_api.jwt',
    redirectUri,
  })
  const { page } = await openWithWallet(pageUrl, async (_, origin) => ({
    protocol,
    data: { response: await encryptTo(request, await answerTo(request, origin)) },
  }))
  await page.getByRole('button').click()
  await page.waitForURL(`${redirectUri}?response_code=*`)
  const responseCode = new URL(page.url()).searchParams.get('response_code')!
  const path = { presentationId }
  const route = 'POST /present-proof/presentations/{presentationId}/response-code'
  expect((await tenant.call(route, { path, body: { responseCode } })).status).toBe('PresentationVerified')
  await page.context().close()
})

test('the page says that the verifier refused the answer, and the person can try again', async () => {
  const { pageUrl, request, protocol } = await digitally()
  let data: object = {}
  const { page, state } = await openWithWallet(pageUrl, async () => ({ protocol, data }))
  await page.getByRole('button').click()
  await page.locator('[data-outcome=refused]').waitFor()
  expect(await page.locator('[data-reason]').innerText()).toContain('vp_token is missing')
  data = await answerTo(request, 'https://thief.example')
  await page.getByRole('button').click()
  await state('failed')
  expect(await page.innerText('body')).not.toContain('audience')
  await page.context().close()
})

test('the page moves on if the verifier has the answer, and its reply is lost', async () => {
  const { pageUrl, request, protocol } = await digitally()
  const { page, state } = await openWithWallet(pageUrl, async (_, origin) => ({
    protocol,
    data: await answerTo(request, origin),
  }))
  const statuses: number[] = []
  await page.route('**/digital-credential', async (route) => {
    statuses.push((await route.fetch()).status())
    await route.abort()
  })
  await page.getByRole('button').click()
  await state('verified')
  expect(statuses).toEqual([200])
  await page.context().close()
})

test('without a wallet, Chromium refuses, and the page shows the reason and the code', async () => {
  const { pageUrl } = await digitally()
  const { page } = await open(pageUrl)
  await page.getByRole('button').click()
  await page.locator('[data-outcome=aborted]').waitFor()
  expect(await page.locator('[data-reason]').innerText()).toMatch(/^\w+Error: ./)
  expect(await page.locator('svg >> visible=true').count()).toBe(1)
})

test('with the API of Chromium itself, whose wallet for tests is replaced by a real one on the way', async () => {
  await using fake = await launchWithFakeWallet()
  for (const options of [{}, { did: await newVerifierDid({ tenant }) }]) {
    const { pageUrl, request, protocol } = await digitally(options)
    const page = await (await fake.browser.newContext()).newPage()
    await page.route('**/digital-credential', async (route) => {
      const { headers, body } = {
        headers: await route.request().allHeaders(),
        body: route.request().postDataJSON(),
      }
      expect(headers['origin']).toBe(proxy.url)
      expect(body).toEqual({ protocol, data: { token: 'fake_test_token' } })
      await route.continue({ postData: { protocol, data: await answerTo(request, proxy.url) } })
    })
    await page.goto(pageUrl)
    await page.getByRole('button').click()
    await page.waitForSelector('[data-state=verified]')
  }
})

async function launchWithFakeWallet() {
  const own = await launch('--use-fake-ui-for-digital-identity')
  return { browser: own, [Symbol.asyncDispose]: () => own.close() }
}

test('a browser without the Digital Credentials API shows the code, and says so', async () => {
  const { pageUrl } = await digitally()
  const context = await browser.newContext()
  await context.addInitScript(() => void delete (globalThis as any).DigitalCredential)
  const page = await context.newPage()
  await page.goto(pageUrl)
  await page.locator('[data-outcome=unsupported]').waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
  expect(await page.locator('svg >> visible=true').count()).toBe(1)
  await context.close()
})

test('with directPost false, the page has the button alone; for other origins, the code alone', async () => {
  const digital = await open((await digitally({ directPost: false })).pageUrl)
  expect(await digital.page.getByRole('button').count()).toBe(1)
  expect(await digital.page.locator('svg >> visible=true').count()).toBe(0)
  const foreign = await open((await digitally({ origins: ['https://shop.example'] })).pageUrl)
  expect(await foreign.page.getByRole('button').count()).toBe(0)
  expect(await foreign.page.locator('svg >> visible=true').count()).toBe(1)
})
