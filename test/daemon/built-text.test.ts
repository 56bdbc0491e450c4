/** Non-ASCII text of the built program, byte by byte: its pages and the output of its commands. */
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { Daemon } from '../support/daemon.ts'
import { untilEnd } from '../support/shared.ts'

const bin = fileURLToPath(new URL('../../bin/agent.cjs', import.meta.url))
const name = 'Ácme “Größe” 株式会社 🎓'

const post = async (path: string, body: unknown) =>
  (await daemon.call(`POST ${path}`, { body, apiKey: tenant.apiKey })).body

const daemon = await untilEnd(
  Daemon.start({ DEFAULT_WALLET_ENABLED: 'false', API_KEY_AUTO_PROVISIONING: 'true' }),
)
const tenant = await daemon.newTenant(name)

/** Returns the body of a page. @throws when its bytes are not UTF-8 */
async function page(url: string): Promise<string> {
  const response = await fetch(url, { headers: { accept: 'text/html' } })
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  return new TextDecoder('utf-8', { fatal: true }).decode(await response.arrayBuffer())
}

/** Matches UTF-8 that was decoded as Latin-1 and encoded again: a lead byte and then a control character. */
const twice = /[\u00c2-\u00f4][\u0080-\u00bf]/

test('every page is UTF-8 and quotes the name', async () => {
  const { didRequest } = await post('/onboard/did-requests', { from: name })
  const { challenge } = await post('/did-authentication/challenges', { from: name })
  const { invitation } = await post('/connections', { goal: name })
  const invitationUrl = `${daemon.url}/invitation${new URL(invitation.invitationUrl).search}`
  for (const url of [didRequest.onboardEndpoint, challenge.submissionEndpoint, invitationUrl]) {
    const text = await page(url)
    expect(text).toContain(`<bdi>“${name}”</bdi>`)
    expect(text).not.toMatch(twice)
  }
  const missing = await page(`${daemon.url}/onboard/none`)
  expect(missing).toContain('404 · ')
  expect(missing).not.toMatch(twice)
})

test.each<[what: string, from: string, shown?: string]>([
  ['Chinese', '株式会社 山田太郎'],
  // Isolated by <bdi>, so that it does not turn the text around it.
  ['Arabic and Hebrew', 'شركة المثال עברית 12'],
  ['emoji of several characters', '👩‍🚀🏳️‍🌈👍🏽 🎓'],
  ['combining characters', 'e\u0301a\u0308 q\u0323\u0307 ก็'],
  ['outside the basic plane', '𠮷野家 𝔊'],
  ['entities', '<b>&amp;"’</b>', '&lt;b&gt;&amp;amp;&quot;’&lt;/b&gt;'],
  ['control characters', 'A\u0000B\u0007\u001b[31mC\u0085\u202eD\u{e0041}\ufeff', 'AB[31mCD'],
])('the bytes of a name: %s', async (_, from, shown = from) => {
  const bytes = async (url: string, language: string) =>
    Buffer.from(
      await (
        await fetch(url, { headers: { accept: 'text/html', 'accept-language': language } })
      ).arrayBuffer(),
    )
  const { didRequest } = await post('/onboard/did-requests', { from })
  const { challenge } = await post('/did-authentication/challenges', { from })
  const { invitation } = await post('/connections', { goal: from })
  const invitationUrl = `${daemon.url}/invitation${new URL(invitation.invitationUrl).search}`
  const expected = [
    [didRequest.onboardEndpoint, 'en', `<title>${shown} asks for your DID – identity-agent</title>`],
    [didRequest.onboardEndpoint, 'en', `<h1 class="from"><bdi>“${shown}”</bdi> asks for your DID</h1>`],
    [challenge.submissionEndpoint, 'en', `<h1 class="from"><bdi>“${shown}”</bdi> asks you to sign in</h1>`],
    [challenge.submissionEndpoint, 'de', `<bdi>„${shown}“</bdi> bittet um Ihre Anmeldung`],
    [invitationUrl, 'en', `<blockquote><bdi>“${shown}”</bdi></blockquote>`],
    [invitationUrl, 'de', `<blockquote><bdi>„${shown}“</bdi></blockquote>`],
  ] as const
  for (const [url, language, text] of expected)
    expect((await bytes(url, language)).includes(Buffer.from(text, 'utf8')), text).toBe(true)
})

test('commands print UTF-8', async () => {
  const run = (...args: string[]) =>
    execa(process.execPath, [bin, ...args], {
      env: {
        AGENT_CONFIG_DIR: daemon.env['AGENT_CONFIG_DIR']!,
        AGENT_URL: daemon.url,
        AGENT_API_KEY: tenant.apiKey,
        NODE_ENV: 'production',
      },
      encoding: 'buffer',
    })
  const text = async (...args: string[]) =>
    new TextDecoder('utf-8', { fatal: true }).decode((await run(...args)).stdout)
  await post('/connections', { label: name })
  expect(await text('connection', 'list')).toContain(name)
  const explained = await text('explain', 'error:AuthenticationError:ApiKeyAuthenticationError')
  expect(explained).toContain('tenant’s')
  expect(explained).not.toMatch(twice)
})
