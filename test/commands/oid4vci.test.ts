/** Commands about OpenID4VCI issuers, and what wallets do with the offers that they print. */
import { decodeJwtVc } from '../credentials/codecs/_verify.ts'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { takeCredentials } from '../exchange/oid4vci/_foreign-wallet.ts'
import {
  addIssuer,
  fetchDeferred,
  prove,
  readOffer,
  redeemOffer,
  request,
} from '../exchange/oid4vci/_wallet.ts'
import { until } from '../support/tenants.ts'
import { startCommandedPair } from './_agents.ts'
import { fails, hasScript, words } from './_cli.ts'
import { readPng } from './_picture.ts'
import { readQr } from './_qr.ts'
import { untilEnd } from '../support/shared.ts'

const pair = await untilEnd(startCommandedPair())
const setup = await addIssuer(pair.agent, pair.issuer)
const issuer = pair.as(pair.issuer)
const { issuerId, issuingDID } = setup
const offering = words`
  credential offer --oid4vci ${issuerId} --configuration Person --issuing-did ${issuingDID} --claim name=Alice
`

test('an offer is a short URL, with a QR code on request', async () => {
  const file = join(pair.user.folder, 'offer.png')
  const { code, out, err } = await issuer.run`${offering} --qr-file ${file}`
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('QR code: ') })
  expect(out).toMatch(/^openid-credential-offer:\/\/\?credential_offer_uri=\S+$/)
  expect(readQr(readPng(readFileSync(file))).qr).toBe(out)
  expect(await readOffer(out)).toMatchObject({ credential_configuration_ids: ['Person'] })
  const long = await issuer.run`${offering} --long`
  expect(long.out).toMatch(/^openid-credential-offer:\/\/\?credential_offer=\S+$/)
})

test.skipIf(!hasScript())('a terminal shows the QR code', async () => {
  const { apiKey } = pair.issuer
  const env = { AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey, TERM: 'xterm-256color', LANG: 'C.UTF-8' }
  const { code, out } = await pair.user.runInTerminal(offering, { columns: 80, rows: 24 }, env)
  expect(code).toBe(0)
  expect(out).toContain('\u001b[38;5;231')
  expect(out).toContain('This computer only.')
})

test.skipIf(!hasScript())('a small terminal names a picture of the whole offer instead', async () => {
  const { apiKey } = pair.issuer
  const env = { AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey, TERM: 'xterm-256color', LANG: 'C.UTF-8' }
  const { code, out } = await pair.user.runInTerminal([...offering, '--long'], { columns: 80, rows: 24 }, env)
  expect(code).toBe(0)
  expect(out).toMatch(
    /No QR code: it needs \d+×\d+ characters, and there are 80×24\.\s+--qr\s+png\s+writes\s+a\s+picture\./,
  )
})

test('--grant selects how the wallet gets access', async () => {
  const { credentialOffer } = await issuer.json`${offering} --grant authorization_code`
  expect((await readOffer(credentialOffer)).grants).toEqual({
    authorization_code: { issuer_state: expect.any(String) },
  })
  const { code, err } = await issuer.run`${offering} --grant implicit`
  expect([code, err]).toEqual([2, expect.stringContaining('pre-authorized_code')])
})

test('a transaction code is printed, and the wallet needs it', async () => {
  const { credentialOffer, recordId, txCode } = await issuer.json`${offering} --tx-code`
  expect((await redeemOffer(setup, credentialOffer)).status).toBe(400)
  expect((await redeemOffer(setup, credentialOffer, txCode)).status).toBe(200)
  expect((await issuer.run`credential show ${recordId}`).out).toContain('OfferRedeemed')
  const { out, err } = await issuer.run`${offering} --tx-code`
  const [, printedCode] = /^transaction code {2}(\d{6}) /m.exec(err)!
  expect((await redeemOffer(setup, out, printedCode)).status).toBe(200)
  expect((await issuer.run`${offering} --tx-code --quiet`).out).toMatch(/^[0-9a-f-]{36}\n\d{6}$/)
})

test('--wait ends when the wallet has the credential', async () => {
  const keyFile = join(pair.user.folder, 'issuer.key')
  writeFileSync(keyFile, pair.issuer.apiKey)
  const waiting = pair.user
    .spawn`${offering} --wait --timeout 1m --url ${pair.agent.url} --api-key-file ${keyFile}`
  const [line] = (await once(waiting.stdout, 'data')) as [Buffer]
  const { body } = await redeemOffer(setup, line.toString().trim())
  const reply = await request(setup, { token: body.access_token, jwt: await prove(setup) })
  expect(reply.status).toBe(200)
  const { exitCode, stdout } = await waiting
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('CredentialSent') })
})

test('a wallet takes a credential of an issuer that commands set up', async () => {
  const { issuingDID } = setup
  const schema = JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string' } },
  })
  const { guid } = await issuer.json`schema publish --name person --author ${issuingDID} --schema ${[schema]}`
  const { id } = await issuer.json`issuer create`
  await issuer.json`issuer configuration add ${id} --id Member --schema ${guid}`
  // An issuer can be named by the end of its id.
  const { credentialOffer, recordId, txCode } = await issuer.json`
    credential offer --oid4vci ${id.slice(-12)} --configuration Member --issuing-did ${issuingDID}
    --claim name=Alice --tx-code
  `
  const [credential] = await takeCredentials({ credentialOffer, txCode }, ['ES256'])
  expect(decodeJwtVc(credential!)).toMatchObject({ issuerDid: issuingDID, claims: { name: 'Alice' } })
  expect((await issuer.run`credential show ${recordId}`).out).toContain('CredentialSent')
})

test('a wallet waits for a deferred SD-JWT VC until the issuer approves it', async () => {
  const { issuingDID, issuerId, agent } = setup
  const schema = JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string' }, number: { type: 'string' } },
  })
  const { guid } =
    await issuer.json`schema publish --name licence --author ${issuingDID} --schema ${[schema]}`
  const { out } = await issuer.run`
    issuer configuration add ${issuerId} --id Licence --schema ${guid} --format sdjwt --vct urn:licence:1
    --always-disclosed number
  `
  expect(out).toMatch(/format +dc\+sd-jwt\n/)
  expect(out).toMatch(/type +urn:licence:1\nalways disclosed +number\n/)
  const { credentialOffer, recordId } = await issuer.json`
    credential offer --oid4vci ${issuerId} --configuration Licence --issuing-did ${issuingDID}
    --claim name=Alice --claim number=7 --defer
  `
  const token = (await redeemOffer(setup, credentialOffer)).body.access_token
  const body = { credential_configuration_id: 'Licence', proofs: { jwt: [await prove(setup)] } }
  expect((await request(setup, { token, body })).status).toBe(202)
  expect((await issuer.run`credential show ${recordId}`).out).toContain('RequestDeferred')
  const waiting = issuer.json`credential issue ${recordId} --wait --timeout 60`
  await until(
    'approval',
    () => issuer.json`credential show ${recordId}`,
    (record) => record.protocolState === 'RequestApproved',
  )
  const { credentials } = (await fetchDeferred({ agent, issuerId, identifier: '' }, token, recordId)).body
  expect(decodeSdJwt(credentials[0].credential)).toMatchObject({ vct: 'urn:licence:1' })
  expect(await waiting).toMatchObject({ protocolState: 'CredentialSent' })
  const anoncreds =
    await issuer.run`issuer configuration add ${issuerId} --id A --schema ${guid} --format anoncreds`
  expect(anoncreds).toMatchObject(fails(2, /OpenID4VCI has no AnonCreds/))
})

test('an issuer is listed, shown, changed and removed', async () => {
  const id = (await issuer.run`issuer create -q`).out
  expect((await issuer.run`issuer list -q`).out.split('\n')).toContain(id)
  expect((await issuer.run`issuer list`).out).toMatch(new RegExp(`${id} +this agent`))
  expect((await issuer.run`issuer show ${id}`).out).toMatch(
    new RegExp(`server +this agent\\nidentifier +http.*/oid4vci/issuers/${id}`),
  )
  expect(await issuer.run`issuer update ${id}`).toMatchObject({ code: 2 })
  const other = pair.as(pair.holder)
  expect(await other.run`issuer show ${id}`).toMatchObject({ code: 3, out: '' })
  expect(await other.run`issuer remove ${id} --yes`).toMatchObject({ code: 3 })
  expect(await issuer.run`issuer remove ${id}`).toMatchObject({ code: 2 })
  expect(await issuer.run`issuer remove ${id} --yes`).toMatchObject({ code: 0 })
  expect((await issuer.run`issuer list -q`).out.split('\n')).not.toContain(id)
})

test('the log-in of an issuer is set, changed and removed, and its client is not that of an external server', async () => {
  const secret = join(pair.user.folder, 'idp.secret')
  writeFileSync(secret, 'secret', { mode: 0o600 })
  const client = `--client-id issuer --client-secret-file ${secret}`.split(' ')
  const idp = 'https://idp.example/realms/staff'
  const made = await issuer.json`issuer create --log-in ${idp} ${client} --log-in-scope ${['openid profile']}`
  expect(made.logIn).toMatchObject({ issuer: idp, clientId: 'issuer', scope: 'openid profile' })
  const { out } = await issuer.run`issuer show ${made.id}`
  expect(out).toMatch(
    /server +this agent\nlog-in +https:\/\/idp.example\/realms\/staff\nclient +issuer\nredirect URI +http.*\/log-in\n/,
  )
  const changed = await issuer.json`
    issuer update ${made.id} --client-id other --log-in-max-age 10m --log-in-acr urn:high --log-in-claims userinfo
  `
  expect(changed.logIn).toMatchObject({ clientId: 'other', maxAge: 600, acrValues: ['urn:high'] })
  expect(await issuer.json`issuer update ${made.id} --client-id third`).toMatchObject({
    logIn: { clientId: 'third', claimsFrom: 'userinfo' },
  })
  expect(await issuer.run`issuer update ${made.id} --no-log-in --log-in ${idp}`).toMatchObject({ code: 2 })
  expect(await issuer.json`issuer update ${made.id} --no-log-in`).not.toHaveProperty('logIn')
  const ofPerson = words`credential offer --oid4vci ${issuerId} --configuration Person --issuing-did ${issuingDID}`
  const noLogIn = await issuer.run`${ofPerson} --expect email=alice@example.org`
  expect(noLogIn).toMatchObject(fails(2, /no OpenID provider where people log in.*--log-in/s))
  expect(await issuer.run`${ofPerson} --expect alice`).toMatchObject(
    fails(2, /--expect "alice" is not in the form/),
  )
  await issuer.json`issuer update ${issuerId} --log-in ${idp} ${client}`
  const offer = await issuer.json`${ofPerson} --expect sub=alice --expect email=alice@example.org`
  expect(offer).not.toHaveProperty('txCode')
  const several = words`--configuration Person --expect sub=alice`
  expect((await issuer.json`${ofPerson} ${several}`).records).toHaveLength(2)
  await issuer.json`issuer update ${issuerId} --no-log-in`
  expect(await issuer.run`issuer create --log-in ${idp}`).toMatchObject(
    fails(2, /A log-in needs --log-in, --client-id/),
  )
  const both = await issuer.run`issuer create --log-in ${idp} --authorization-server ${idp} ${client}`
  expect(both).toMatchObject({ code: 2 })
})

test('errors name the issuer, the configuration or the schema, and the command that lists them', async () => {
  const { issuerId, issuingDID } = setup
  const noId = '00000000-0000-4000-8000-000000000000'
  expect(await issuer.run`issuer create --id ${issuerId}`).toMatchObject(
    fails(5, /There is a credential issuer/),
  )
  expect(await issuer.run`issuer show xyz`).toMatchObject(fails(2, /"xyz" is not an id of an issuer/))
  const elsewhere = await issuer.run`
    credential offer --oid4vci ${noId} --configuration Person --issuing-did ${issuingDID} --claim name=Alice
  `
  expect(elsewhere).toMatchObject(fails(3, /Try: agent issuer list$/))
  const unknown = await issuer.run`issuer configuration show ${issuerId} Nothing`
  expect(unknown).toMatchObject(fails(3, /Try: agent issuer configuration list <issuer id>$/))
  const noSchema = await issuer.run`issuer configuration add ${issuerId} --id Other --schema ${noId}`
  expect(noSchema).toMatchObject(fails(2, new RegExp(`schemaId: .* no schema with the guid ${noId}`)))
})

test('an external authorization server needs all its values', async () => {
  const partial = await issuer.run`issuer create --authorization-server https://login.example`
  expect(partial).toMatchObject({ code: 2, err: expect.stringContaining('--client-secret-file') })
})

test.each([
  [['--auto'], '--auto'],
  [['--open'], '--open'],
  [['--connection', 'x'], '--connection'],
])('%j cannot be given with --oid4vci', async (more, named) => {
  const { code, err } = await issuer.run([...offering, ...more])
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(named) })
})

test('a configuration with an issuer certificate needs no DID in offers', async () => {
  const { id } = await issuer.json`issuer-cert init --name Acme --uri https://issuer.example/acme`
  const { issuerId } = setup
  const { schemaId } = await issuer.json`issuer configuration show ${issuerId} Person`
  const add = words`issuer configuration add ${issuerId} --id Signed --schema ${schemaId} --format sdjwt`
  const { out, err } = await issuer.run`${add} --certificate ${id.slice(-6)}`
  expect(out).toMatch(new RegExp(`^certificate +${id}$`, 'm'))
  expect(err).toContain(
    `agent credential offer --oid4vci ${issuerId} --configuration Signed --claim name=value`,
  )
  const offer = words`credential offer --oid4vci ${issuerId} --configuration Signed --claim name=Alice`
  const { credentialOffer } = await issuer.json`${offer}`
  const { body } = await redeemOffer(setup, credentialOffer)
  const wanted = { credential_configuration_id: 'Signed', proofs: { jwt: [await prove(setup)] } }
  const issued = await request(setup, { token: body.access_token, body: wanted })
  expect(decodeSdJwt(issued.body.credentials[0].credential)).toMatchObject({
    issuerDid: 'https://issuer.example/acme',
    claims: { name: 'Alice' },
  })
  const both = await issuer.run`${offer} --issuing-did ${setup.issuingDID}`
  expect([both.code, both.err]).toEqual([expect.any(Number), expect.stringContaining('Leave it out.')])
})
