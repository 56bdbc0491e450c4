/** The API reference at `/docs` in Chromium, which reaches the agent only. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminToken, startAgent, type TestAgent } from '../support/agent.ts'
import type { Tenant } from '../support/api.ts'
import { launch } from '../support/chromium.ts'
import { openProxy } from '../support/proxy.ts'

const looks = [
  { colorScheme: 'light', width: 1_280, ground: 'rgb(243, 245, 248)' },
  { colorScheme: 'dark', width: 1_280, ground: 'rgb(14, 17, 22)' },
  { colorScheme: 'light', width: 375, ground: 'rgb(243, 245, 248)' },
  { colorScheme: 'dark', width: 375, ground: 'rgb(14, 17, 22)' },
] as const

describe('the API reference in Chromium', () => {
  let agent: TestAgent
  let acme: Tenant
  let browser: Browser

  beforeAll(async () => {
    agent = await startAgent()
    acme = await agent.newTenant('acme')
    browser = await launch()
  })
  afterAll(async () => {
    await browser.close()
    await agent[Symbol.asyncDispose]()
  })

  /**
   * Opens a page. `said`: what the console shows, violations of the policy, and requests to other hosts,
   * which fail.
   */
  async function open(
    url: string,
    options: Parameters<Browser['newContext']>[0],
  ): Promise<{ context: BrowserContext; page: Page; said: string[] }> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    await context.route(
      (asked) => asked.origin !== new URL(url).origin,
      (route) => {
        said.push(`asked for ${route.request().url()}`)
        return route.abort()
      },
    )
    await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
      console.log('violation of ' + event.violatedDirective + ' by ' + event.blockedURI))`)
    await page.goto(url)
    await page.locator('.opblock-tag').first().waitFor()
    return { context, page, said }
  }

  /** Enters a key for a header into the dialog. */
  async function authorize(page: Page, header: string, key: string): Promise<void> {
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    const box = page.locator('.auth-container', { hasText: `Name: ${header}` })
    await box.getByRole('textbox').fill(key)
    await box.getByRole('button', { name: 'Apply credentials' }).click()
    await box.getByRole('button', { name: 'Close' }).click()
  }

  /** Opens an operation, executes it and returns the status and the body that the page shows. */
  async function execute(page: Page, tag: string, operationId: string) {
    const operation = page.locator(`[id="operations-${tag}-${operationId}"]`)
    if (!(await operation.isVisible()))
      await page.locator(`[id="operations-tag-${tag}"] .expand-operation`).click()
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Execute' }).click()
    const live = operation.locator('.live-responses-table tbody')
    await live.waitFor()
    return {
      status: Number(await live.locator('td.response-col_status').first().innerText()),
      body: JSON.parse(await live.locator('.highlight-code code').first().innerText()) as Record<
        string,
        unknown
      >,
    }
  }

  test('a tenant authorizes, lists and creates; the page fits every window and colour scheme', async () => {
    const { context, page, said } = await open(`${agent.url}/docs`, { colorScheme: 'dark' })
    expect(await page.title()).toBe('API reference – identity-agent')
    await authorize(page, 'apikey', acme.apiKey)
    const listed = await execute(page, 'connections', 'getConnections')
    expect(listed).toMatchObject({ status: 200, body: { kind: 'Collection', contents: [] } })
    // The page fills in the example of the document.
    const made = await execute(page, 'connections', 'createConnection')
    expect(made).toMatchObject({
      status: 201,
      body: { label: 'Alice', goal: 'To receive your membership card' },
    })
    expect((await acme.call('GET /connections')).contents).toMatchObject([{ label: 'Alice' }])
    // The key is in no storage of the browser.
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')
    expect(stored).not.toContain(acme.apiKey)

    for (const { colorScheme, width, ground } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(ground)
      // Swagger UI follows the scheme too.
      await page.locator(`html${colorScheme === 'dark' ? '.dark-mode' : ':not(.dark-mode)'}`).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
    expect(said).toEqual([])
    await context.close()
  })

  test('the administrator calls through a proxy with a prefix, from the page that the proxy serves', async () => {
    await using proxy = await openProxy()
    proxy.leadTo(agent.url)
    const { context, page, said } = await open(`${proxy.url}/cloud-agent/docs/`, {})
    await authorize(page, 'x-admin-api-key', adminToken)
    const self = '/cloud-agent/wallets'
    expect(await execute(page, 'wallets', 'getWallets')).toMatchObject({ status: 200, body: { self } })
    expect(said).toEqual([])
    await context.close()
  })
})
