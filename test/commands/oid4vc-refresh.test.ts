/** `agent oid4vc refresh`: a holder renews credentials with commands only. */
import { beforeEach, expect, test } from 'vitest'
import { acceptOffer } from '../exchange/oid4vci/holder/_holder.ts'
import { startFakeIssuer } from '../exchange/oid4vci/holder/_issuer.ts'
import { givesRefreshTokens } from '../exchange/oid4vci/holder/_refresh.ts'
import { untilEnd } from '../support/shared.ts'
import { until } from '../support/tenants.ts'
import { startCommandedPair } from './_agents.ts'

const [pair, issuer] = await Promise.all([untilEnd(startCommandedPair()), untilEnd(startFakeIssuer())])
const holder = pair.as(pair.holder)
beforeEach(() => issuer.reset())

const byConsent = { grants: { authorization_code: { issuer_state: 'state' } } }

test('a credential is renewed with copies, and its changes are shown', async () => {
  givesRefreshTokens(issuer, { changes: (n) => ({ name: n === 0 ? 'Alice' : 'Alice Miller' }) })
  const { recordId } = await acceptOffer(pair.holder, issuer.offer())
  const before = await holder.run`credential show ${recordId} --changes`
  expect(before.out).toContain('the credential was not renewed yet')
  const { code, out } = await holder.run`oid4vc refresh ${recordId} --copies 3`
  expect([code, out]).toEqual([0, expect.stringContaining('Alice Miller')])
  const shown = await holder.run`credential show ${recordId} --changes`
  expect(shown.out).toMatch(/changed +name: "Alice" → "Alice Miller"/)
  expect(shown.out).toMatch(/renewal +possible, by itself/)
  expect((await holder.json`credential show ${recordId}`).openid4vci.copies).toBe(3)
})

test('a failed renewal says why, and the credential stays', async () => {
  givesRefreshTokens(issuer, { changes: (n) => (n === 0 ? {} : { vct: 'https://other.example' }) })
  const { recordId } = await acceptOffer(pair.holder, issuer.offer())
  const { code, err } = await holder.run`oid4vc refresh ${recordId}`
  expect([code, err]).toEqual([5, expect.stringContaining('The credential is not accepted')])
})

test('without a refresh token, an offer with a code needs a new offer', async () => {
  const { recordId } = await acceptOffer(pair.holder, issuer.offer())
  const { code, err } = await holder.run`oid4vc refresh ${recordId}`
  expect([code, err]).toEqual([5, expect.stringContaining('ask for a new offer')])
})

test('a refused refresh token leads to the page of the issuer, and to one credential', async () => {
  const state = givesRefreshTokens(issuer)
  const { call } = pair.holder
  const offered = await call('POST /issue-credentials/records/openid4vci', {
    body: { credentialOffer: issuer.offer('Licence', byConsent) },
  })
  const path = { recordId: offered.recordId }
  const begun = await call('POST /issue-credentials/records/{recordId}/begin-authorization', {
    path,
    body: { redirectUri: 'http://127.0.0.1:1/callback' },
  })
  const body = { state: begun.openid4vci!.authorizationState!, code: 'code', iss: issuer.identifier }
  await call('POST /issue-credentials/records/{recordId}/complete-authorization', { path, body })
  const read = () => call('GET /issue-credentials/records/{recordId}', { path })
  await until('the credential', read, ({ protocolState }) => protocolState === 'CredentialReceived')

  state.isRevoked = true
  const running = holder.run`oid4vc refresh ${offered.recordId}`
  const records = () => call('GET /issue-credentials/records', { query: { limit: 1_000 } })
  const { contents } = await until('the authorization', records, (all) =>
    all.contents.some(({ protocolState }) => protocolState === 'AuthorizationPending'),
  )
  const next = contents.find(({ protocolState }) => protocolState === 'AuthorizationPending')!
  const asked = new URL(next.openid4vci!.authorizationUrl!).searchParams
  const redirect = new URL(asked.get('redirect_uri')!)
  redirect.search = String(
    new URLSearchParams({ code: 'code', state: asked.get('state')!, iss: issuer.identifier }),
  )
  expect((await fetch(redirect)).status).toBe(200)
  const { code, out, err } = await running
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('invalid_grant') })
  expect(out).toContain('CredentialReceived')
  const left = (await records()).contents.map(({ recordId }) => recordId)
  expect(left).toContain(next.recordId)
  expect(left).not.toContain(offered.recordId)
})
