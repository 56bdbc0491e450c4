/** The link of an offer: JSON for wallets, and a page for browsers, which follows it. */
import { expect, test } from 'vitest'
import { offer, redeemOffer, startIssuer } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

async function offered() {
  const { credentialOffer } = await offer(setup, { byReference: true })
  return { credentialOffer, url: new URL(credentialOffer).searchParams.get('credential_offer_uri')! }
}

test('a browser gets a page with the issuer, the claims, a button and the code', async () => {
  const { url, credentialOffer } = await offered()
  const { grants } = (await (await fetch(url)).json()) as { grants: Record<string, Record<string, string>> }
  const [code] = Object.values(Object.values(grants)[0]!)
  const page = await fetch(url, { headers: browser })
  const text = await page.text()
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page.headers.get('cache-control')).toBe('no-store')
  for (const part of [new URL(setup.agent.url).host, 'Person', 'You are offered a credential', '<svg'])
    expect(text).toContain(part)
  expect(text).toContain(`<a class="button" href="${credentialOffer}">Open the wallet on this device</a>`)
  expect(text.indexOf('class="button"')).toBeLessThan(text.indexOf('<svg'))
  expect(text).not.toContain(code)
  const german = await fetch(url, { headers: { ...browser, 'accept-language': 'de' } })
  expect(await german.text()).toContain('Die Wallet auf diesem Gerät öffnen')
})

test.each(['*/*', 'application/json', 'application/json, text/plain, */*'])(
  'a wallet that accepts %s gets JSON',
  async (accept) => {
    const { url } = await offered()
    const response = await fetch(url, { headers: { accept } })
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toMatchObject({ credential_issuer: setup.identifier })
  },
)

test('an open page is told that the offer was redeemed, and then shows that it has ended', async () => {
  const { url, credentialOffer } = await offered()
  const headers = { accept: 'text/event-stream' }
  const stream = await fetch(url, { headers })
  await redeemOffer(setup, credentialOffer)
  expect(await stream.text()).toContain('event: closed')
  expect(await (await fetch(url, { headers })).text()).toContain('event: closed')
  const page = await fetch(url, { headers: browser })
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect((await fetch(url)).status).toBe(404)
})
