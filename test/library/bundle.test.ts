/** The bundle of the client: nothing of Node.js, small, and at work in Chromium. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { transformSync } from 'esbuild'
import { expect, test } from 'vitest'
import { launch } from '../support/chromium.ts'
import { dist, library } from './_library.ts'

const bundle = readFileSync(`${dist}client.js`, 'utf8')

test('the client imports nothing, and needs nothing of Node.js', () => {
  const code = transformSync(bundle, { minifyWhitespace: true, legalComments: 'none' }).code
  expect(code).not.toMatch(/\bimport\b|\brequire\b|\bprocess\.|\bBuffer\b|["'`]node:/)
  expect(code).not.toContain('zod')
})

test('the client is small: less than 31 KB when it is minified', () => {
  expect(transformSync(bundle, { minify: true, legalComments: 'none' }).code.length).toBeLessThan(31_000)
})

test('a page of another origin connects, waits and reads events', async () => {
  const pages = createServer(({ url }, response) => {
    const isScript = url === '/client.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? bundle : '<!doctype html><title>A page</title>')
  }).listen(0, '127.0.0.1')
  await once(pages, 'listening')
  const origin = `http://127.0.0.1:${(pages.address() as { port: number }).port}`
  const agent = await library.createAgent({ settings: { AGENT_CORS_ORIGINS: origin } })
  const other = await agent.newTenant('other')
  const browser = await launch()
  try {
    const page = await browser.newPage()
    await page.goto(origin)
    // A text, because this project has no types of browsers.
    const result = await page.evaluate(`(async () => {
        const { createClient, events, waitFor, verifyWebhook } = await import('/client.js')
        const [inviter, invitee] = ${JSON.stringify([agent.apiKey, other.apiKey])}
          .map((apiKey) => createClient(${JSON.stringify(agent.url)}, { apiKey }))
        const stream = events(inviter, { type: 'ConnectionUpdated' })
        await stream.open()
        const made = await inviter('POST /connections', { body: { label: 'from a page' } })
        const invitation = new URL(made.invitation.invitationUrl).searchParams.get('_oob')
        const accepted = await invitee('POST /connection-invitations', { body: { invitation } })
        const { state } = await waitFor(invitee, accepted, 'ConnectionResponseReceived')
        const states = []
        for await (const { data } of stream) {
          states.push(data.state)
          if (data.state === 'ConnectionResponseSent') break
        }
        const fault = await verifyWebhook(new Headers(), '{}', 'whsec_' + btoa('x'.repeat(32))).catch(({ fault }) => fault)
        const unknown = await inviter('GET /connections/{connectionId}', { path: { connectionId: crypto.randomUUID() } })
          .catch(({ name, problem }) => [name, problem.status])
        const away = await createClient('http://127.0.0.1:9')('GET /connections').catch(({ name }) => name)
        return { state, states, fault, unknown, away }
      })()`)
    expect(result).toEqual({
      state: 'ConnectionResponseReceived',
      states: [
        'InvitationGenerated',
        'ConnectionRequestReceived',
        'ConnectionResponsePending',
        'ConnectionResponseSent',
      ],
      fault: 'headers',
      unknown: ['ProblemError', 404],
      away: 'UnreachableError',
    })
  } finally {
    await browser.close()
    await agent.close()
    pages.closeAllConnections()
    pages.close()
  }
})
