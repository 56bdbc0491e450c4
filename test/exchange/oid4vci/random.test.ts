/**
 * Random requests and answers of strangers, tenants and claims sources, the same in each run: none is
 * answered with 500 or by silence.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { publishSchema } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'
import { newPkce, push, redirectUri } from './_authorization.ts'
import { openSource } from './_claims-source.ts'
import { startLyingProvider } from './log-in/_lying-provider.ts'
import { begin, useProvider, visit } from './log-in/_browser.ts'
import { addIssuer, offer, prove, redeemOffer, request, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer({ OID4VCI_REQUESTS_PER_MINUTE: '100000' }))
const { tenant, agent, issuerId, issuingDID, identifier } = setup
const path = { issuerId }
const staff = await addIssuer(agent, tenant)
const provider = await untilEnd(startLyingProvider())
await useProvider(staff, provider.url)
const properties = { name: { type: 'string' }, age: { type: 'integer' } }
const schemaId = await publishSchema(tenant, issuingDID, { name: 'member', properties })
const add = (configurationId: string, more: object) =>
  tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path,
    body: { configurationId, format: 'dc+sd-jwt', schemaId, issuingDID, ...more } as never,
  })
await add('Voucher', { begin: 'open' })
await add('Card', {})
const source = await untilEnd(openSource({ status: 200, body: {} }))
await tenant.call('POST /oid4vci/issuers/{issuerId}/secret', { path })
await add('Sourced', { claimsSource: { url: source.url } })

const run = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number, check: (value: T) => Promise<void>) =>
  fc.assert(fc.asyncProperty(arbitrary, check), { seed: 1, numRuns, endOnFailure: true })

const text = fc.string({ unit: 'binary', maxLength: 40 })
const json = fc.jsonValue({ maxDepth: 3 })
/** A right value, and sometimes any other. */
const mostly = (...right: unknown[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: json })

/** Members, each of which may be missing. */
const some = (model: Record<string, fc.Arbitrary<unknown>>) => fc.record(model, { requiredKeys: [] })

const detail = some({
  type: mostly('openid_credential'),
  credential_configuration_id: mostly('Voucher', 'Card', '__proto__', ''),
  locations: mostly([identifier], [], ['https://other.example']),
  claims: json,
  credential_identifiers: json,
})

test('authorization_details', async () => {
  const details = fc.oneof(
    fc
      .array(fc.oneof({ weight: 5, arbitrary: detail }, json), { maxLength: 12 })
      .map((all) => JSON.stringify(all)),
    json.map((value) => JSON.stringify(value)),
    text,
    fc.constantFrom('['.repeat(50_000), '[{"type":'.repeat(5_000), `[${'{},'.repeat(5_000)}{}]`),
  )
  const right = fc
    .constantFrom('Voucher', 'Card')
    .map((credential_configuration_id) =>
      JSON.stringify([{ type: 'openid_credential', credential_configuration_id, unknown: [] }]),
    )
  const seen = new Set<number>()
  await run(fc.oneof({ weight: 5, arbitrary: details }, right), 100, async (authorization_details) => {
    const reply = await push(setup, {
      response_type: 'code',
      client_id: 'wallet',
      redirect_uri: redirectUri,
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
      authorization_details,
    })
    seen.add(reply.status)
    expect([201, 400, 413], JSON.stringify(reply.body)).toContain(reply.status)
    if (reply.status === 400)
      expect(reply.body.error).toMatch(/^invalid_(authorization_details|request|scope)$/)
  })
  expect(seen).toContain(201)
})

test('the state of a return from the log-in', async () => {
  const parameters = {
    response_type: 'code',
    client_id: 'wallet',
    redirect_uri: redirectUri,
    code_challenge: newPkce().challenge,
    code_challenge_method: 'S256',
    scope: 'Badge',
  }
  const badge = await publishSchema(tenant, issuingDID, { name: 'badge' })
  await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId: staff.issuerId },
    body: { configurationId: 'Badge', format: 'dc+sd-jwt', schemaId: badge, issuingDID, begin: 'log-in' },
  })
  const { redirect, cookie } = await begin(staff, parameters)
  const right = await visit(staff, redirect)
  const state = right.searchParams.get('state')!
  const at = fc.nat(state.length - 1)
  const states = fc.oneof(
    fc
      .tuple(at, fc.string({ minLength: 1, maxLength: 3 }))
      .map(([index, by]) => state.slice(0, index) + by + state.slice(index + 1)),
    at.map((index) => state.slice(0, index)),
    text,
    text.map((more) => state + more),
    fc.base64String({ maxLength: 4_000 }),
  )
  const come = async (value: string, headers: Record<string, string>, more: Record<string, string> = {}) => {
    const url = new URL(right)
    for (const [name, each] of Object.entries({ ...more, state: value })) url.searchParams.set(name, each)
    return fetch(url, { redirect: 'manual', headers })
  }
  const other = some({ code: text, iss: text, error: text, error_description: text })
  await run(fc.tuple(states, fc.boolean(), other), 100, async ([value, isOwn, more]) => {
    const reply = await come(value, isOwn ? { cookie } : {}, more as Record<string, string>)
    const isRight = value === state && isOwn
    expect(reply.status, value).toBe(isRight ? reply.status : 400)
    expect(reply.status).toBeLessThan(500)
    await reply.arrayBuffer()
  })
  expect((await come(state, { cookie })).status).toBe(200)
})

const svgParts = fc.constantFrom(
  '<svg xmlns="http://www.w3.org/2000/svg">',
  '</svg>',
  '<g>',
  '</g>',
  '<text>',
  '</text>',
  '{{name}}',
  '{{',
  '}}',
  '<script>',
  '<image href="',
  'data:image/png;base64,',
  '"/>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<!DOCTYPE svg [',
  '<!ENTITY a "b">',
  ']>',
  '&a;',
  '&#0;',
  '&#x110000;',
  '&lt;',
  '<?xml version="1.0"?>',
  ' style="fill:url(#a)"',
  '\0',
  '<path d="',
  'M0 0',
  '"',
  "'",
  '>',
  '<',
  '/',
  '=',
  'onload=',
  '<use href="#a"/>',
  '<a:b xmlns:a="urn:x">',
  '\ufeff',
)
const svg = fc
  .array(fc.oneof({ weight: 6, arbitrary: svgParts }, text), { maxLength: 30 })
  .map((parts) => parts.join(''))
const whole = svg.map((inner) => `<svg xmlns="http://www.w3.org/2000/svg"><text>${inner}</text></svg>`)

test('pictures', async () => {
  const deep = (tag: string) => `<svg xmlns="http://www.w3.org/2000/svg">${`<${tag}>`.repeat(20_000)}`
  const pictures = fc.oneof(
    svg,
    whole,
    fc
      .constantFrom('<g>x</g>', '<text>x</text>', '')
      .map((inner) => `<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`),
    fc.constantFrom(
      deep('g'),
      deep('a '),
      `<svg ${'a="b" '.repeat(30_000)}>`,
      '<'.repeat(200_000),
      '&'.repeat(200_000),
    ),
  )
  const seen = new Set<number>()
  await run(pictures, 100, async (content) => {
    const headers = { apikey: tenant.apiKey, 'content-type': 'application/octet-stream' }
    const reply = await fetch(`${identifier}/media`, { method: 'POST', headers, body: content })
    seen.add(reply.status)
    expect([201, 400, 409, 413, 429], await reply.text()).toContain(reply.status)
  })
  expect([...seen]).toEqual(expect.arrayContaining([201, 400]))
})

test('display, claims and templates of a configuration', async () => {
  const display = some({
    name: mostly('Ausweis', '\u202e', 'A'.repeat(300)),
    locale: mostly('de', 'en', 'DE-de', 'x-a', 'de-'),
    description: json,
    logo: fc.oneof(
      some({
        uri: mostly('https://a.example/a.png', 'data:image/png;base64,iVBORw0KGgo=', 'data:,'),
        altText: json,
      }),
      json,
    ),
    backgroundColor: mostly('#003366', '#0033', 'red'),
    textColor: mostly('#ffffff'),
    backgroundImage: json,
  })
  const claim = some({
    path: mostly(['name'], ['age'], ['name', null], ['__proto__'], []),
    svgId: mostly('name', '__proto__', ''),
    labels: mostly({ de: 'Name' }, { '?': 'Name' }, { __proto__: 'Name' }),
    from: mostly('source', 'log-in', 'offer', 'presentation'),
    as: json,
    value: json,
  })
  const change = some({
    display: fc.oneof(fc.array(display, { maxLength: 4 }), display, json),
    claims: fc.oneof(fc.array(claim, { maxLength: 4 }), json),
    svgTemplates: fc.oneof(
      fc.array(some({ uri: mostly('https://a.example/a.svg'), contrast: mostly('high') }), { maxLength: 3 }),
      json,
    ),
    extends: mostly('https://127.0.0.1:1/type'),
    newVersion: json,
    integrity: json,
  })
  const right = fc.constantFrom(
    { display: [{ locale: 'de', name: 'Ausweis' }] },
    { claims: [{ path: ['name'] }] },
  )
  const seen = new Set<number>()
  await run(fc.oneof({ weight: 3, arbitrary: change }, right), 60, async (body) => {
    const reply = await fetch(`${identifier}/credential-configurations/Card`, {
      method: 'PATCH',
      headers: { apikey: tenant.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    seen.add(reply.status)
    const detail = await reply.text()
    expect([200, 400, 409, 422], `${JSON.stringify(body)} ${detail}`).toContain(reply.status)
    const metadata = await fetch(`${identifier}/.well-known/openid-credential-issuer`)
    expect(metadata.status).toBe(200)
  })
  expect([...seen]).toEqual(expect.arrayContaining([200, 400]))
})

test('answers of a claims source', async () => {
  const body = fc.oneof(
    some({
      claims: fc.oneof(
        some({ name: mostly('Alice'), age: mostly(7, '7', 1e300), ['__proto__']: json }),
        json,
      ),
      validitySeconds: mostly(60, -1, 0, 1e12),
      retryAfter: mostly(1, -1, 1e12),
      reason: mostly('no', 'x'.repeat(5_000)),
      more: json,
    }),
    json,
    text,
    fc.constantFrom(
      '',
      '{',
      '[]',
      'null',
      '['.repeat(20_000),
      `"${'x'.repeat(300_000)}"`,
      '{"claims":{"name":"a","name":"b"}}',
    ),
  )
  const answer = fc.record({
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(200, 200, 202, 403, 404) },
      fc.integer({ min: 200, max: 599 }),
    ),
    body: fc.oneof(
      { weight: 2, arbitrary: body },
      fc.constantFrom({ claims: { name: 'Alice' } }, { retryAfter: 60 }),
    ),
  })
  const seen = new Set<number>()
  await run(answer, 40, async (scripted) => {
    source.answers(scripted, scripted)
    const options = { credentialConfigurationId: 'Sourced', claims: {}, txCode: false }
    const { credentialOffer } = await offer(setup, options)
    const { body: token } = await redeemOffer(setup, credentialOffer)
    const asked = { credential_configuration_id: 'Sourced', proofs: { jwt: [await prove(setup)] } }
    const reply = await request(setup, { token: token.access_token, body: asked })
    seen.add(reply.status)
    expect([200, 202, 400, 503], JSON.stringify([scripted, reply.body])).toContain(reply.status)
  })
  expect([...seen]).toEqual(expect.arrayContaining([200, 202, 400]))
})
