/** Commands about OpenID4VCI issuers, and what wallets do with the offers that they print. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addIssuer, prove, readOffer, redeemOffer, request, type Setup } from '../oid4vci/_wallet.ts'
import { startCommandedPair } from './_agents.ts'
import { type Commands, hasScript, words } from './_cli.ts'
import { readPng } from './_inline-image.ts'
import { readQr } from './_qr.ts'

let pair: Awaited<ReturnType<typeof startCommandedPair>>
let setup: Setup
let issuer: Commands
let offering: string[]
beforeAll(async () => {
  pair = await startCommandedPair()
  setup = await addIssuer(pair.agent, pair.issuer)
  issuer = pair.as(pair.issuer)
  const { issuerId, issuingDID } = setup
  offering = words`
    credential offer --oid4vci ${issuerId} --configuration Person --issuing-did ${issuingDID} --claim name=Alice
  `
})
afterAll(() => pair[Symbol.asyncDispose]())

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
  const size = { columns: 120, rows: 60 }
  const { code, out } = await pair.user.runInTerminal(offering, size, env)
  expect(code).toBe(0)
  expect(out).toContain('\u001b[38;5;231')
  expect(out).toContain('This computer only.')
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

test.each([
  [['--auto'], '--auto'],
  [['--open'], '--open'],
  [['--connection', 'x'], '--connection'],
])('%j cannot be given with --oid4vci', async (more, named) => {
  const { code, err } = await issuer.run([...offering, ...more])
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(named) })
})
