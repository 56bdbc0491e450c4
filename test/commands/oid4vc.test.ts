/** `agent oid4vc receive`: a holder takes offers of OpenID4VCI issuers with commands only. */
import { expect, test } from 'vitest'
import { answer, sealedIn, open } from '../exchange/oid4vci/_authorization.ts'
import { startFakeIssuer } from '../exchange/oid4vci/holder/_issuer.ts'
import { addLicence, licence } from '../exchange/oid4vci/holder/_holder.ts'
import { addIssuer, offer, recordOf } from '../exchange/oid4vci/_wallet.ts'
import { publishSchema, until } from '../support/tenants.ts'
import { startCommandedPair } from './_agents.ts'
import { hasScript } from './_cli.ts'
import { untilEnd } from '../support/shared.ts'

const pair = await untilEnd(startCommandedPair())
const setup = await addIssuer(pair.agent, pair.issuer)
await addLicence(setup)
const holder = pair.as(pair.holder)

const declined = async (recordId: string) =>
  (await pair.holder.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })).protocolState

test('an offer is received, its requests are shown without secrets, and the credential is in the wallet', async () => {
  const { credentialOffer } = await offer(setup, { ...licence, txCode: false })
  const { code, out, err } = await holder.run`oid4vc receive ${credentialOffer} --yes --explain`
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(err).toContain(`issuer            ${setup.identifier}`)
  expect(err).toContain('is not authenticated (http)')
  expect(err).toContain('Full name, number')
  expect(err).toMatch(/POST \S+\/token {2}200/)
  expect(err).toMatch(/POST \S+\/credentials {2}200/)
  expect(err).not.toContain('eyJ')
  expect(out).toContain('CredentialReceived')
  expect(out).toContain('Alice')
  const id = /credential +(\S+)/.exec(out)![1]!
  const shown = await holder.json`credential show ${id}`
  expect(shown.content).toMatchObject({ claims: licence.claims, bound: true })
})

test('a transaction code is required and can be given by a flag', async () => {
  const { credentialOffer, txCode } = await offer(setup, { txCode: true })
  const without = await holder.run`oid4vc receive ${credentialOffer} --yes`
  expect([without.code, without.err]).toEqual([2, expect.stringContaining('--tx-code')])
  const received = await holder.json`oid4vc receive ${credentialOffer} --yes --tx-code ${txCode!}`
  expect(received.protocolState).toBe('CredentialReceived')
})

test('without a terminal and --yes, nothing is received, and another kind is named first', async () => {
  const { credentialOffer } = await offer(setup, { txCode: false })
  const { code, err } = await holder.run`oid4vc receive ${credentialOffer}`
  expect([code, err]).toEqual([2, expect.stringContaining('add --yes')])
  const { invitation } = await holder.json`connection invite`
  const other = await holder.run`oid4vc receive ${invitation.shortUrl}`
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('This is an invitation to connect')])
})

test('an offer on standard input', async () => {
  const { credentialOffer } = await offer(setup, { txCode: false })
  const { code, out } = await holder.run(['oid4vc', 'receive', '-', '--yes', '--quiet'], {
    input: credentialOffer,
  })
  expect([code, await declined(out.trim())]).toEqual([0, 'CredentialReceived'])
})

test('the consent in a browser comes back to the command', async () => {
  const { credentialOffer, txCode, recordId } = await offer(setup, {
    ...licence,
    grant: 'authorization_code',
  })
  const { apiKey } = pair.holder
  const commands = pair.user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey })
  const running = commands.run`oid4vc receive ${credentialOffer} --yes`
  const url = await authorizationOf(setup.identifier, licence.credentialConfigurationId)
  const request = sealedIn(await open(setup, url.search.slice(1)))
  const { location } = await answer(setup, { request, decision: 'accept', tx_code: txCode })
  // What any page of the browser could send does not end the wait.
  for (const forged of ['?state=x&error=access_denied', '?state=', '', '?code=x'])
    expect((await fetch(new URL(`/callback${forged}`, location))).status).toBe(404)
  expect((await fetch(`${location!.origin}//`)).status).toBe(404)
  expect((await fetch(location!, { method: 'POST' })).status).toBe(404)
  expect((await fetch(location!)).status).toBe(200)
  const { code, out, err } = await running
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(out).toContain('CredentialReceived')
  expect(err).toContain(url.href)
  expect((await recordOf(setup, recordId)).protocolState).toBe('CredentialSent')
})

/** The page that a command of the holder waits for. */
async function authorizationOf(identifier: string, configurationId: string): Promise<URL> {
  const read = async () => {
    const { contents } = await pair.holder.call('GET /issue-credentials/records', { query: { limit: 1_000 } })
    const fits = ({ openid4vci }: (typeof contents)[number]) =>
      openid4vci?.authorizationUrl !== undefined &&
      openid4vci.credentialIssuer === identifier &&
      openid4vci.credentialConfigurationId === configurationId
    return contents.find(fits)?.openid4vci!.authorizationUrl
  }
  return new URL((await until('the authorization', read, (url) => url !== undefined))!)
}

test('the URL of an issuer stands for an offer, if it issues the credential without one', async () => {
  const path = { issuerId: setup.issuerId }
  const { issuingDID } = setup
  const schemaId = await publishSchema(pair.issuer, issuingDID, { name: 'voucher', required: [] })
  for (const [configurationId, begin] of [
    ['Voucher', 'open'],
    ['Ticket', 'offer'],
  ] as const)
    await pair.issuer.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path,
      body: { configurationId, format: 'dc+sd-jwt', schemaId, issuingDID, begin },
    })
  const running = holder.run`oid4vc receive ${setup.identifier} --configuration Voucher --yes`
  const url = await authorizationOf(setup.identifier, 'Voucher')
  const request = sealedIn(await open(setup, url.search.slice(1)))
  const { location } = await answer(setup, { request, decision: 'accept' })
  expect((await fetch(location!)).status).toBe(200)
  const { code, out, err } = await running
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(out).toContain('CredentialReceived')

  const needed = await holder.run`oid4vc receive ${setup.identifier} --configuration Ticket --yes`
  expect([needed.code, needed.err]).toEqual([
    2,
    expect.stringContaining('without an offer, this issuer issues Voucher'),
  ])
  const unknown = await holder.run`oid4vc receive ${setup.identifier} --configuration Nothing --yes`
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('no configuration Nothing')])
})

test('the URL of an issuer is not asked for an offer, and that of an offer can be said to be one', async () => {
  await using issuer = await startFakeIssuer()
  const running = holder.run`oid4vc receive ${issuer.identifier} --configuration Licence --yes --timeout 1s`
  await authorizationOf(issuer.identifier, 'Licence')
  expect(issuer.seen.map(({ path }) => path)).not.toContain('/acme')
  expect((await running).code).toBe(6)
  issuer.on('card', () => ({ body: issuer.offer() }))
  const offer = issuer.identifier.replace('/acme', '/acme/card')
  const { code, err } = await holder.run`oid4vc receive ${offer} --configuration Licence --yes`
  const [, hint] = /Try: agent oid4vc receive '([^']+)' --configuration Licence/.exec(err)!
  expect([code, hint]).toEqual([2, expect.stringContaining('credential_offer_uri')])
  const received = await holder.json`oid4vc receive ${hint!} --configuration Licence --yes`
  expect(received.protocolState).toBe('CredentialReceived')
})

test.skipIf(!hasScript())('a person at the terminal consents, or declines', async () => {
  const { apiKey } = pair.holder
  const env = { AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey, TERM: 'xterm-256color', LANG: 'C.UTF-8' }
  const answered = async (key: string) => {
    const { credentialOffer } = await offer(setup, { txCode: false })
    const line = ['oid4vc', 'receive', credentialOffer]
    const { out, code } = await pair.user.runInTerminal(line, { columns: 120, rows: 40 }, env, `${key}\r`)
    const { contents } = await pair.holder.call('GET /issue-credentials/records', {
      query: { order: 'desc' },
    })
    return { out, code, state: contents.find(({ role }) => role === 'Holder')!.protocolState }
  }
  const consented = await answered('y')
  expect(consented).toMatchObject({ code: 0, state: 'CredentialReceived' })
  expect(consented.out).toMatch(/issuer +http.*claims +.*access by .*Receive this credential\? \[y\/N\]/s)
  expect(await answered('n')).toMatchObject({ code: 1, state: 'OfferRejected' })
})
