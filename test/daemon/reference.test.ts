/** `/docs` and its files over HTTP. `reference-browser.slow.test.ts` uses the page. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { until } from '../support/tenants.ts'
import { untilEnd } from '../support/shared.ts'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const agent = await untilEnd(startAgent())

const get = (path: string, headers: Record<string, string> = { accept: browser }) =>
  agent.send('GET', path, { headers })

/** The links to files in a page, as paths. */
const linksOf = (page: string, path: string) =>
  [...page.matchAll(/<(?:link rel="stylesheet" href|script defer src)="([^"]+)"/g)].map(
    ([, link]) => new URL(link!, agent.url + path).pathname,
  )

/** The paths of the files that the page loads. */
const files = linksOf(await (await get('/docs')).text(), '/docs')

/** A response as sent: `fetch` would decompress it, and forbid caches to answer `If-None-Match`. */
function sent(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>(
    (resolve, reject) => {
      request(agent.url + path, { headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
        )
      })
        .on('error', reject)
        .end()
    },
  )
}

describe.each(['/docs', '/docs/', '/cloud-agent/docs', '/cloud-agent/docs/', '/docs?a=/b/'])('%s', (path) => {
  test('is a page whose links stay below the prefix', async () => {
    const page = await get(path)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const text = await page.text()
    const prefix = path.startsWith('/cloud-agent') ? '/cloud-agent' : ''
    expect(linksOf(text, path)).toEqual(files.map((file) => prefix + file))
    const root = /data-base="([^"]+)"/.exec(text)![1]!
    expect(new URL(root, agent.url + path).pathname).toBe(`${prefix}/`)
    expect(new URL(/<a href="([^"]+)"/.exec(text)![1]!, agent.url + path).pathname).toBe(
      `${prefix}/docs/openapi.json`,
    )
    for (const link of linksOf(text, path)) expect((await get(link)).status).toBe(200)
  })
})

test('the policy allows scripts, styles and calls of the agent, and nothing inline but the colours', async () => {
  const page = await get('/docs')
  const policy = page.headers.get('content-security-policy')!
  const text = await page.text()
  const style = /<style>([^]*?)<\/style>/.exec(text)![1]!
  const digest = createHash('sha256').update(style).digest('base64')
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `style-src 'sha256-${digest}' 'self'`,
    "script-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ])
  expect(text).not.toMatch(/<script>|\sstyle=|\son\w+=|https?:/i)
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
    vary: 'Accept, Accept-Language',
  })
})

test('files are sent with gzip and without, with the digest of their content in the name', async () => {
  expect(files.map((file) => file.replace(/\.[0-9a-f]{16}\./, '.'))).toEqual([
    '/docs/1-swagger-ui.css',
    '/docs/2-style.css',
    '/docs/1-swagger-ui.js',
    '/docs/2-start.js',
  ])
  for (const file of files) {
    const packed = await sent(file, { 'accept-encoding': 'br;q=1, gzip;q=0.8' })
    const plain = await sent(file, { 'accept-encoding': 'gzip;q=0' })
    const none = await sent(file, {})
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true)
    expect(none.bytes.equals(plain.bytes)).toBe(true)
    const digest = createHash('sha256').update(plain.bytes).digest('hex').slice(0, 16)
    expect(file).toContain(`.${digest}.`)
    const type = file.endsWith('.js') ? 'text/javascript' : 'text/css'
    expect(plain.bytes.toString()).not.toContain('sourceMappingURL')
    const shared = {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    }
    expect(packed.headers).toMatchObject({ ...shared, 'content-encoding': 'gzip', etag: `"${digest}-gzip"` })
    expect(plain.headers).toMatchObject({ ...shared, etag: `"${digest}-identity"` })
    expect(plain.headers).not.toHaveProperty('content-encoding')
  }
})

test('HEAD has the headers of GET, and a client that has the file gets 304', async () => {
  for (const path of ['/docs', ...files]) {
    const [head, whole] = [await agent.send('HEAD', path, { headers: { accept: browser } }), await get(path)]
    await whole.arrayBuffer()
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const name of ['content-type', 'etag', 'cache-control', 'vary', 'content-security-policy'])
      expect(head.headers.get(name)).toBe(whole.headers.get(name))
  }
  const etag = (await get(files[0]!)).headers.get('etag')!
  for (const [known, status] of [
    [etag, 304],
    [`W/${etag}, "x"`, 304],
    ['*', 304],
    ['"x"', 200],
    [etag.replace('gzip', 'identity'), 200],
  ] as const) {
    const answer = await sent(files[0]!, { 'if-none-match': known, 'accept-encoding': 'gzip' })
    expect([known, answer.status, answer.bytes.length > 0]).toEqual([known, status, status === 200])
    expect(answer.headers).toMatchObject({ etag, vary: 'Accept-Encoding' })
  }
})

test.skipIf(!existsSync('/proc/self/fd'))('responses without a body leave no file open', async () => {
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes('/dist/docs/')
      } catch {
        return false
      }
    })
  for (const encoding of ['gzip', 'identity']) {
    const headers = { 'accept-encoding': encoding }
    for (const file of files) await agent.send('HEAD', file, { headers })
    for (const file of files) await sent(file, { ...headers, 'if-none-match': '*' })
  }
  await until(
    'closing of files',
    () => Promise.resolve(openFiles()),
    (open) => open.length === 0,
  )
})

test('unknown files are 404 in the usual form, inside and outside the folder', async () => {
  const [name] = files.map((file) => file.slice('/docs/'.length))
  for (const path of [
    `/docs/${name!.replace('swagger', 'swaggers')}`,
    `/docs/${name}.gz`,
    '/docs/LEGAL.txt',
    '/docs/..%2fdaemon%2fagent.cjs',
    '/docs/%2e%2e%2f%2e%2e%2fpackage.json',
    '/docs/..%5c..%5cpackage.json',
    '/docs/%00',
    '/docs/constructor',
    `/docs/${'x'.repeat(2_000)}`,
    `/docs/x/${name}`,
  ]) {
    const answer = await get(path)
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 404, 'application/json'])
    expect(await answer.json()).toMatchObject({
      status: 404,
      type: expect.any(String),
      detail: expect.any(String),
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
  }
  expect((await agent.send('POST', files[0]!)).status).toBe(404)
})
