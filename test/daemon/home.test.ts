/** `/`, `/docs`, `/favicon.ico` and `/client.js`: the entry points for browsers and programs. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type * as Client from '../../library/client/index.ts'
import { sharedAgent, startAgent } from '../support/agent.ts'
import { untilEnd } from '../support/shared.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

const agent = await untilEnd(startAgent())

const get = (path: string, accept?: string) =>
  agent.send('GET', path, accept === undefined ? {} : { headers: { accept } })
const bases = ['', '/cloud-agent', '/prism-agent']
const paths = bases.flatMap((base) => [...(base ? [base] : []), `${base}/`, `${base}/?utm_source=a/b`])
const docs = bases.flatMap((base) => [`${base}/docs`, `${base}/docs/`])

describe.each(paths)('%s', (path) => {
  test('is a page that links to the API reference, the API document and the health endpoint under the same base path', async () => {
    const page = await get(path, browser)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const text = await page.text()
    expect(text).toContain('<h1>identity-agent</h1>')
    const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(
      ([, href]) => new URL(href!, agent.url + path).pathname,
    )
    const base = bases.toReversed().find((each) => path.startsWith(each))!
    expect(links).toEqual([`${base}/docs`, `${base}/docs/openapi.json`, `${base}/_system/health`])
    for (const link of links) expect((await get(link)).status).toBe(200)
  })
})

describe.each([...paths, ...docs])('%s', (path) => {
  test.each([undefined, 'application/json', '*/*'])(
    'is JSON for a program that accepts %s',
    async (accept) => {
      const answer = await get(path, accept)
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
        200,
        'application/json',
        'Accept, Accept-Language',
      ])
      expect(await answer.json()).toEqual({
        name: 'identity-agent',
        description: expect.stringContaining('Hyperledger Identus Cloud Agent'),
        apiDocument: `${agent.url}/docs/openapi.json`,
        health: `${agent.url}/_system/health`,
      })
    },
  )
})

test('the page has the headers of other pages, and reveals less than the health endpoint', async () => {
  const page = await get('/', browser)
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; form-action 'none'/,
  )
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    vary: 'Accept, Accept-Language',
  })
  const text = await page.text()
  expect(text).not.toMatch(/<script|<form|\sstyle=/i)
  const { version } = (await (await get('/_system/health')).json()) as { version: string }
  expect(text).not.toContain(version)
  expect(text).not.toContain(agent.dataDir)
})

test('the JSON names the public address', async () => {
  const open = await sharedAgent({ REST_SERVICE_URL: 'https://agent.acme.com/base/' })
  expect(await (await open.send('GET', '/')).json()).toMatchObject({
    apiDocument: 'https://agent.acme.com/base/docs/openapi.json',
  })
})

test.each(['/favicon.ico', '/cloud-agent/favicon.ico'])('%s is the icon, cached for a day', async (path) => {
  const icon = await get(path, 'image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8')
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect(icon.headers.get('cache-control')).toBe('public, max-age=86400')
  expect(await icon.text()).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>$/)
})

test('other paths are still 404', async () => {
  for (const path of ['/cloud-agents', '/docs/x', '/index.html'])
    expect((await get(path, browser)).status, path).toBe(404)
  expect((await agent.send('POST', '/')).status).toBe(404)
})

test('the client that is read from the agent runs as a file of its own, and calls the agent', async () => {
  const answer = await get('/client.js')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'agent-client.mjs')
  writeFileSync(file, await answer.text())
  const { createClient } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as typeof Client
  const { apiKey } = await agent.newTenant()
  expect(await createClient(agent.url, { apiKey })('GET /connections')).toMatchObject({ contents: [] })
})
