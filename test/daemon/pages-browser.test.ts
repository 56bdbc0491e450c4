/** The pages in Chromium, mostly without JavaScript. */
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { launch } from '../support/chromium.ts'
import { oobOf } from '../support/tenants.ts'

const jsQR = createRequire(import.meta.url)('jsqr') as typeof import('jsqr').default

describe('pages in Chromium', () => {
  let agent: TestAgent
  let browser: Browser
  let reader: Page
  let links: Record<string, { url: string; code: string; title: string }>

  beforeAll(async () => {
    agent = await startAgent()
    browser = await launch()
    reader = await (await browser.newContext()).newPage()
    const from = 'Acme <b>Ltd</b>'
    const { didRequest } = await agent.tenant('POST /onboard/did-requests', { body: { from } })
    const { challenge } = await agent.tenant('POST /did-authentication/challenges', { body: { from } })
    const made = await agent.tenant('POST /connections', { body: { goal: from } })
    const url = `${agent.url}/invitation?_oob=${oobOf(made)}`
    const short = made.invitation.shortUrl!
    links = {
      request: {
        url: didRequest.onboardEndpoint,
        code: JSON.stringify(didRequest),
        title: '“Acme <b>Ltd</b>” asks for your DID',
      },
      challenge: {
        url: challenge.submissionEndpoint,
        code: JSON.stringify(challenge),
        title: '“Acme <b>Ltd</b>” asks you to sign in',
      },
      invitation: { url, code: url, title: 'You are invited to connect' },
      short: { url: short, code: short, title: 'You are invited to connect' },
    }
  })
  afterAll(async () => {
    await browser.close()
    await agent[Symbol.asyncDispose]()
  })

  /** Decodes a QR code from a screenshot, with every pixel as black or white. */
  async function scan(png: Buffer): Promise<string | undefined> {
    const { width, dots }: { width: number; dots: string } = await reader.evaluate(`(async () => {
      const picture = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob())
      const { width, height } = picture
      const context = new OffscreenCanvas(width, height).getContext('2d')
      context.drawImage(picture, 0, 0)
      const { data } = context.getImageData(0, 0, width, height)
      let dots = ''
      for (let at = 0; at < data.length; at += 4) dots += data[at] + data[at + 1] + data[at + 2] < 384 ? '1' : '0'
      return { width, dots }
    })()`)
    const pixels = Uint8ClampedArray.from({ length: dots.length * 4 }, (_, at) =>
      at % 4 < 3 && dots[at >> 2] === '1' ? 0 : 255,
    )
    return jsQR(pixels, width, dots.length / width, { inversionAttempts: 'dontInvert' })?.data
  }

  /** Opens pages in a new window and records console errors. */
  async function open(
    options: Parameters<Browser['newContext']>[0],
  ): Promise<{ context: BrowserContext; page: Page; said: string[] }> {
    const context = await browser.newContext({ javaScriptEnabled: false, ...options })
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('request', (request) => {
      if (!request.isNavigationRequest() && !request.url().startsWith('data:'))
        said.push(`asked for ${request.url()}`)
    })
    return { context, page, said }
  }

  const looks = [
    { colorScheme: 'light', width: 1_280, forcedColors: 'none', ground: 'rgb(243, 245, 248)' },
    { colorScheme: 'dark', width: 375, forcedColors: 'none', ground: 'rgb(14, 17, 22)' },
    // A system with a colour scheme of its own. Scanners still need black on white.
    { colorScheme: 'dark', width: 375, forcedColors: 'active', ground: 'rgb(0, 0, 0)' },
  ] as const

  test.each(looks)(
    '$colorScheme, $width pixels, forced colours $forcedColors: the QR code can be scanned, and the page fits',
    async ({ colorScheme, width, forcedColors, ground }) => {
      const { context, page, said } = await open({
        colorScheme,
        forcedColors,
        viewport: { width, height: 800 },
        deviceScaleFactor: 2,
      })
      for (const { url, code, title } of Object.values(links)) {
        await page.goto(url)
        expect(await page.locator('h1').innerText()).toBe(title)
        expect(await page.locator('b').count()).toBe(0)
        expect(await page.getByText('“Acme <b>Ltd</b>”').count()).toBe(1)
        // The style sheet passes the policy, and the colour scheme is applied.
        expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(ground)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        // From the whole window, or on a small one from the position of the code.
        const figure = page.getByRole('img', { name: /^QR code/ })
        await figure.scrollIntoViewIfNeeded()
        // Reading large codes takes long, and colours are those of all codes.
        if (width === 1_280 || url === links['short']!.url)
          expect(await scan(await figure.screenshot())).toBe(code)
      }
      expect(said).toEqual([])
      await context.close()
    },
  )

  test('collapsed details open without JavaScript, and can be copied', async () => {
    const { context, page, said } = await open({
      viewport: { width: 375, height: 667 },
      deviceScaleFactor: 2,
    })
    for (const { url, code } of Object.values(links)) {
      await page.goto(url)
      const field = page.locator('textarea').first()
      expect(await field.isVisible()).toBe(false)
      await page.getByText('Your wallet is on this device').click()
      expect(await field.isVisible()).toBe(true)
      expect(await field.inputValue()).toBe(code)
      expect(await page.getByLabel(/^Copy this/).isEditable()).toBe(false)
    }
    // The page of a short link also has the code of the whole invitation.
    await page.goto(links['short']!.url)
    await page.getByText('Your wallet does not read the code?').click()
    const code = page.getByRole('img', { name: /^QR code/ }).nth(1)
    expect(await scan(await code.screenshot())).toBe(links['invitation']!.code)
    expect(said).toEqual([])
    await context.close()
  })

  test('a page with a script is blocked, with JavaScript enabled too', async () => {
    const { context, page, said } = await open({ javaScriptEnabled: true })
    await page.goto(links['request']!.url)
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<p style="color: red" onclick="document.title = 1">x</p>')`,
    )
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('img'), { src: '${agent.url}/x.png' }))`,
    )
    await page.getByText('x', { exact: true }).click()
    expect(await page.title()).toBe('Acme <b>Ltd</b> asks for your DID – identity-agent')
    // The error here proves that the absence of errors above is meaningful.
    expect(said.filter((text) => text.includes('Content Security Policy'))).toHaveLength(3)
    await context.close()
  })

  test('an open page follows its link, and says without JavaScript that it does not', async () => {
    const [live, plain] = [await open({ javaScriptEnabled: true }), await open({})]
    const { didRequest } = await agent.tenant('POST /onboard/did-requests', { body: {} })
    const streams: string[] = []
    live.page.on('response', (response) => streams.push(response.headers()['content-type'] ?? ''))
    await live.page.goto(didRequest.onboardEndpoint)
    await plain.page.goto(didRequest.onboardEndpoint)
    const note = 'To see whether this link is still open, reload the page.'
    expect(await live.page.locator('noscript p').count()).toBe(0)
    expect(await plain.page.locator('noscript p').innerText()).toBe(note)
    await expect.poll(() => streams).toContain('text/event-stream')
    await fetch(didRequest.onboardEndpoint, { method: 'POST', body: '{"did":"did:example:alice"}' })
    await live.page.getByRole('heading', { name: 'This link is closed' }).waitFor()
    expect(await plain.page.locator('h1').innerText()).toBe('Request for your DID')
    await Promise.all([live.context.close(), plain.context.close()])
  })

  test('an expired link is explained in words', async () => {
    const { context, page } = await open({})
    const made = await agent.tenant('POST /onboard/did-requests', { body: {} })
    await agent.tenant('DELETE /onboard/did-requests/{didRequestId}', { path: { didRequestId: made.id } })
    const response = await page.goto(made.didRequest.onboardEndpoint)
    expect([response!.status(), await page.locator('h1').innerText()]).toEqual([410, 'This link is closed'])
    await context.close()
  })
})
