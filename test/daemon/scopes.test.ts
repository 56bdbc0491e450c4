/** Keys with scopes may call the endpoints that the contracts list, and no others. */
import { expect, test } from 'vitest'
import { scopesOf, splitKey, type Route } from '../../daemon/http/route.ts'
import { routes } from '../../daemon/routes/index.ts'
import { allScopes, type Scope } from '../../src/wallet/model.ts'
import { startAgent } from '../support/agent.ts'
import { untilEnd } from '../support/shared.ts'

const unknownId = 'f1b2c3d4-0000-4000-8000-00000000dead'

const keys = new Map<Scope | 'two', string>()
const agent = await untilEnd(startAgent())
const { entityId } = await agent.newTenant()
const make = async (scopes: Scope[]) =>
  (await agent.admin('POST /iam/entities/{id}/api-keys', { path: { id: entityId }, body: { scopes } })).apiKey
for (const scope of allScopes) keys.set(scope, await make([scope]))
keys.set('two', await make(['issuer', 'holder']))

/** Returns whether a request passes the scope check. Its resource does not exist, or its body is missing. */
async function isRefused(apikey: string, key: Route['key']): Promise<boolean> {
  const [method, path] = splitKey(key)
  const controller = new AbortController()
  const response = await fetch(
    agent.url + path.replace('{author}', 'did:web:example.com').replaceAll(/\{\w+\}/g, unknownId),
    {
      method,
      headers: { apikey },
      signal: controller.signal,
    },
  )
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const { type, title } = isStream
    ? {}
    : ((await response.json().catch(() => ({}))) as { type?: string; title?: string })
  controller.abort()
  if (response.status !== 403) return false
  // The enterprise suite has its own problem types.
  expect([type, title]).toContainEqual(
    expect.stringMatching(/InsufficientScope$|^\/errors\/common\/forbidden$/),
  )
  return true
}

test('for each endpoint and each scope, a key is accepted exactly where the contract lists its scope', async () => {
  for (const { key, contract } of routes as readonly Route[]) {
    const scopes = scopesOf(contract)
    if (!scopes) continue
    const through: string[] = []
    for (const scope of allScopes) if (!(await isRefused(keys.get(scope)!, key))) through.push(scope)
    expect(through, key).toEqual(allScopes.filter((scope) => scopes.includes(scope)))
  }
})

test('a key with the scope to read may call endpoints that read, and checks that change nothing', () => {
  const changing = (routes as readonly Route[]).filter(({ key }) => !key.startsWith('GET '))
  expect(
    changing
      .filter(({ contract }) => scopesOf(contract)?.includes('read'))
      .map(({ key }) => key)
      .toSorted(),
  ).toEqual([
    'POST /didcomm/unpack',
    'POST /presentation-exchange/presentation-definitions/{id}/evaluations',
    'POST /verification/credential',
    'POST /verification/schema',
  ])
})

test('one of the scopes is enough, and a refusal names the required scope', async () => {
  expect(await isRefused(keys.get('two')!, 'POST /issue-credentials/credential-offers')).toBe(false)
  expect(await isRefused(keys.get('two')!, 'POST /onboard/answers')).toBe(false)
  const response = await agent.send('POST', '/verification/policies', {
    headers: { apikey: keys.get('two')! },
    body: '{}',
  })
  expect(await response.json()).toMatchObject({
    status: 403,
    type: 'error:AuthenticationError:InsufficientScope',
    title: 'Insufficient Scope',
    detail: expect.stringMatching(
      /are issuer, holder.*POST \/verification\/policies requires a key with the scope verifier/,
    ),
  })
})

test('webhooks, which get all events, need a key without scopes', async () => {
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/hook' })
  for (const apikey of keys.values())
    expect((await agent.send('POST', '/events/webhooks', { headers: { apikey }, body })).status).toBe(403)
  const { apiKey } = await agent.newTenant()
  expect((await agent.send('POST', '/events/webhooks', { headers: { apikey: apiKey }, body })).status).toBe(
    200,
  )
})
