/**
 * A printed offer, with commands only, two daemons and `oidc-provider`: three people scan it, log in, and
 * each gets the credential with own claims, of the log-in and of the claims source. Nobody has prepared an
 * offer.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answer, sealedIn } from '../exchange/oid4vci/_authorization.ts'
import { issuerClient } from '../exchange/oid4vci/_provider.ts'
import { browse } from '../exchange/oid4vci/log-in/_browser.ts'
import { startIdentityProvider } from '../exchange/oid4vci/log-in/_real-provider.ts'
import { openReceiver } from '../support/receiver.ts'
import { untilEnd } from '../support/shared.ts'
import { startDaemonPair, until } from '../support/tenants.ts'
import { useUser } from './_cli.ts'

const [pair, user] = [await untilEnd(startDaemonPair()), useUser()]
const issuer = user.as({ AGENT_URL: pair.acme.url, AGENT_API_KEY: pair.issuer.apiKey })
const departments: Record<string, string> = { alice: 'Sales', bob: 'Tests', carol: 'Law' }
const source = await untilEnd(
  openReceiver((response, count) => {
    const { identity } = JSON.parse(source.bodies[count - 1]!)
    const body = JSON.stringify({ claims: { department: departments[identity.sub] } })
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }),
)

test('three people get the credential of one code, each with own claims', async () => {
  const { did } = await issuer.json`did create --publish --wait --key issue-1:assertionMethod`
  const { id } = await issuer.json`issuer create --name Acme`
  const identifier = `${pair.acme.url}/oid4vci/issuers/${id}`
  await using provider = await startIdentityProvider({ redirectUris: [`${identifier}/log-in`] })
  const files = Object.fromEntries(['idp.secret', 'card.json'].map((name) => [name, join(user.folder, name)]))
  writeFileSync(files['idp.secret']!, issuerClient.clientSecret, { mode: 0o600 })
  const properties = { name: { type: 'string' }, department: { type: 'string' } }
  const $schema = 'https://json-schema.org/draft/2020-12/schema'
  const card = { $schema, type: 'object', properties, required: ['name', 'department'] }
  writeFileSync(files['card.json']!, JSON.stringify(card))
  await issuer.json`
    issuer update ${id} --log-in ${provider.url} --client-id ${issuerClient.clientId}
    --client-secret-file ${files['idp.secret']!} --log-in-scope ${'openid profile'}`
  await issuer.json`issuer secret ${id}`
  const schema =
    await issuer.json`schema publish --name card --author ${did} --schema @${files['card.json']!}`
  await issuer.json`
    issuer configuration add ${id} --id Card --format sdjwt --schema ${schema.guid} --issuing-did ${did}
    --begin log-in --claims-source ${source.url}`
  const { credentialOffer } = await issuer.json`issuer offer ${id} --configuration Card`

  for (const account of Object.keys(departments)) {
    const { apiKey } = await pair.alice.newTenant(account)
    const person = user.as({ AGENT_URL: pair.alice.url, AGENT_API_KEY: apiKey })
    const receiving = person.run`oid4vc receive ${credentialOffer} --yes`
    const list = async () => (await person.json`credential list`).contents
    const records = await until('the authorization', list, ([record]) => record?.openid4vci?.authorizationUrl)
    provider.state.account = account
    const { searchParams } = new URL(records[0].openid4vci.authorizationUrl)
    const page = await browse(
      { agent: pair.acme, issuerId: id, identifier },
      Object.fromEntries(searchParams),
    )
    const setup = { agent: pair.acme, issuerId: id, identifier }
    const { location } = await answer(setup, { request: sealedIn(page), decision: 'accept' })
    expect((await fetch(location!)).status).toBe(200)
    expect(await receiving).toMatchObject({ code: 0, out: expect.stringContaining('CredentialReceived') })
    const [held] = await list()
    const name = { alice: 'Alice Adams', bob: 'Bob Brown' }[account] ?? `Person ${account}`
    expect(held.claims).toEqual({ name, department: departments[account] })
  }
  const { contents } = await issuer.json`credential list --role issuer`
  expect(contents.map(({ protocolState }: any) => protocolState)).toEqual(Array(3).fill('CredentialSent'))
  expect(source.bodies).toHaveLength(3)
})
