/** `agent login` and `agent logout` at a real provider: by a device code, and by a browser on this machine. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { launch } from '../../support/chromium.ts'
import { until } from '../../support/tenants.ts'
import { fails, newUser, type User } from '../../commands/_cli.ts'
import { audience, bearer } from './_issuer.ts'
import { loginClient, startRealProvider } from './_provider.ts'
import { untilEnd } from '../../support/shared.ts'

const users: User[] = []
const provider = await untilEnd(startRealProvider())
const agent = await untilEnd(
  startAgent({
    OIDC_ISSUER: provider.url,
    OIDC_AUDIENCE: audience,
    OIDC_LOGIN_CLIENT_ID: loginClient,
    OIDC_KEYS_REFRESH: '0',
  }),
)
const browser = await launch()
afterAll(async () => {
  for (const user of users) user.remove()
  await browser.close()
})

/** A user whose commands call the agent, without keys. */
async function newPerson(): Promise<User> {
  const user = newUser()
  users.push(user)
  await user.json(['profile', 'add', 'work', '--url', agent.url, '--use'])
  return user
}

const fileOf = (user: User) => join(user.folder, 'config/logins/work.json')
const loginOf = (user: User) => JSON.parse(readFileSync(fileOf(user), 'utf8')) as Record<string, string>

/** The address, and the code if there is one, that a running command prints. */
async function printed(command: ReturnType<User['spawn']>): Promise<{ address: string; code?: string }> {
  let text = ''
  const find = () => {
    const [, address, code] = /Sign in at (\S+)(?: with the code (\S+))?\n/.exec(text) ?? []
    return address === undefined ? undefined : { address, ...(code !== undefined && { code }) }
  }
  command.stderr.on('data', (chunk) => (text += String(chunk)))
  return (await until(
    'an address',
    async () => find(),
    (found) => found !== undefined,
  ))!
}

/** Signs in on the pages of the provider, and consents. */
async function signIn(page: Page, account: string): Promise<void> {
  await page.fill('input[name=login]', account)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.waitForSelector('input[name=login]', { state: 'detached' })
  await page.click('button[type=submit]')
}

/** Runs `agent login --no-browser`, and signs in with Chromium. */
async function loginByBrowser(user: User, account: string) {
  const command = user.spawn(['login', '--no-browser'])
  const { address } = await printed(command)
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(address)
  await signIn(page, account)
  await page.waitForSelector('text=You are signed in.')
  const { exitCode, stdout } = await command
  await context.close()
  expect(exitCode).toBe(0)
  return stdout
}

test('by browser: a tenant creates a wallet and works in it, and signs out', async () => {
  const user = await newPerson()
  expect(await user.run(['connection', 'list'])).toMatchObject(fails(4, 'Try: agent login'))
  expect(await loginByBrowser(user, 'alice')).toContain(provider.url)
  expect(statSync(fileOf(user)).mode & 0o777).toBe(0o600)
  expect((await user.run(['profile', 'show'])).out).toMatch(
    /^keys +token of agent login\nsigned in at +http\S+\nas +alice\nuntil +agent logout: the token is renewed/m,
  )
  expect(await user.run(['connection', 'list'])).toMatchObject(fails(4, 'Try: agent wallet create <name>'))
  const created = await user.run(['wallet', 'create', 'mine'])
  expect(created).toMatchObject({ code: 0, err: expect.stringContaining('Next:\n  agent did create') })
  const [, id] = /^wallet +(\S+)$/m.exec(created.out)!
  expect(await user.json(['wallet', 'list'])).toMatchObject({ contents: [{ id }] })
  expect(await user.json(['connection', 'list'])).toMatchObject({ contents: [] })
  expect((await user.run(['tenant', 'list'])).code).toBe(4)

  const { accessToken } = loginOf(user)
  expect(await user.json(['logout'])).toEqual({ profile: 'work', issuer: provider.url, revoked: true })
  expect(provider.counts.revocations).toBe(1)
  expect((await user.run(['connection', 'list'])).code).toBe(4)
  expect((await user.run(['logout'])).code).toBe(3)
  // A JWT is valid until it expires.
  expect((await ask(agent, 'GET /connections', { headers: bearer(accessToken!) })).status).toBe(200)
})

test('by device code: the administrator signs in on another machine', async () => {
  const user = await newPerson()
  const command = user.spawn(['login', '--device'])
  const { address, code } = await printed(command)
  expect(code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(address)
  await page.click('button[type=submit]')
  await signIn(page, 'root')
  await page.waitForSelector('text=Sign-in Success')
  const { exitCode } = await command
  await context.close()
  expect(exitCode).toBe(0)
  const { contents } = await user.json(['tenant', 'list'])
  expect(contents).toContainEqual(expect.objectContaining({ name: 'default' }))
  const { id: walletId } = await user.json(['wallet', 'create', 'shared'])
  const granted = await user.json(['wallet', 'grant', walletId, 'dave'])
  expect(granted).toEqual({ walletId, subject: 'dave', granted: true })
  const revoked = await user.json(['wallet', 'revoke', walletId, 'dave', '--yes'])
  expect(revoked).toEqual({ walletId, subject: 'dave', revoked: true })
  expect((await user.run(['wallet', 'revoke', walletId, 'dave', '--yes'])).code).not.toBe(0)
  expect((await user.run(['connection', 'list'])).code).toBe(4)
})

test('an expired token is renewed once, also by commands at the same time, and after a rotation of keys', async () => {
  const user = await newPerson()
  await loginByBrowser(user, 'bob')
  await user.json(['wallet', 'create', 'bobs'])
  const before = loginOf(user)
  writeFileSync(fileOf(user), JSON.stringify({ ...before, expiresAt: 1 }))
  await provider.rotate()
  const requests = provider.counts.refreshes
  const runs = await Promise.all(Array.from({ length: 3 }, () => user.run(['connection', 'list'])))
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(provider.counts.refreshes).toBe(requests + 1)
  const after = loginOf(user)
  expect(after['refreshToken']).not.toBe(before['refreshToken'])

  // The provider does not know the token any more.
  writeFileSync(fileOf(user), JSON.stringify({ ...after, expiresAt: 1, refreshToken: 'revoked' }))
  const ended = await user.run(['connection', 'list'])
  expect(ended.code).toBe(4)
  expect(ended.err).toContain('agent login')
})

test('the tokens go to the daemon of the login only', async () => {
  const user = await newPerson()
  await loginByBrowser(user, 'carol')
  const other = await sharedAgent()
  const { code, err } = await user.run(['connection', 'list', '--url', other.url])
  expect([code, err]).toEqual([4, expect.stringContaining('ApiKey key is not provided')])
  const refused = await user.run(['login', '--url', other.url])
  expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('accepts no tokens') })
})

test('a redirect with another state, or a refusal of the person, signs nobody in', async () => {
  const user = await newPerson()
  const command = user.spawn(['login', '--no-browser'])
  const { address } = await printed(command)
  const redirect = new URL(new URL(address).searchParams.get('redirect_uri')!)
  const status = async (query: string) => (await fetch(`${redirect.href}?${query}`)).status
  expect(await status('code=stolen&state=other')).toBe(404)
  expect(await status('')).toBe(404)
  const state = new URL(address).searchParams.get('state')!
  expect(await status(`error=access_denied&state=${state}&iss=${provider.url}`)).toBe(200)
  const { exitCode, stderr } = await command
  expect(exitCode).toBe(4)
  expect(stderr).toContain('declined')
  expect((await user.run(['logout'])).code).toBe(3)
})
