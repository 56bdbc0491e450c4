/** Requests of proofs from wallets of OpenID4VP by commands. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  newVerifierDid,
  personQuery,
  present,
  presentSdJwt,
  readRequest,
} from '../exchange/oid4vp/_wallet.ts'
import { startCommandedPair } from './_agents.ts'
import { words } from './_cli.ts'
import { readPng } from './_picture.ts'
import { readQr, readWithJsQr } from './_qr.ts'
import { drawScreen, visibleLines } from './_screen.ts'
import { untilEnd } from '../support/shared.ts'

const pair = await untilEnd(startCommandedPair())
const verifier = pair.as(pair.issuer)
const file = join(pair.user.folder, 'query.json')
writeFileSync(file, JSON.stringify(personQuery))
const asking = words`proof request --oid4vp --any-issuer --dcql ${file}`

test('a request is a URL with a QR code, and its record shows the claims', async () => {
  const did = await newVerifierDid({ tenant: pair.issuer })
  const file = join(pair.user.folder, 'request.png')
  const { code, out, err } = await verifier.run`${asking} --signing-did ${did} --encrypt --qr-file ${file}`
  expect([code, err]).toEqual([0, expect.stringContaining('QR code: ')])
  expect(out).toMatch(
    /^openid4vp:\/\/\?client_id=decentralized_identifier:did:jwk:\S+&request_uri=http:\S+\/r\/[\w-]{16}&request_uri_method=post$/,
  )
  expect(readQr(readPng(readFileSync(file))).qr).toBe(out)
  expect((await readRequest(out)).response_mode).toBe('direct_post.jwt')
})

test('an open request is shown and drawn again, an answered one is not', async () => {
  const { presentationId: id, openid4vp } = await verifier.json`${asking}`
  const file = join(pair.user.folder, 'again.png')
  const again = await verifier.run`proof show ${id} --qr-file ${file}`
  expect([again.code, again.out]).toEqual([
    0,
    expect.stringContaining(`\n\n${openid4vp.authorizationRequest}`),
  ])
  expect(readQr(readPng(readFileSync(file))).qr).toBe(openid4vp.authorizationRequest)
  const request = await readRequest(openid4vp.authorizationRequest)
  await present(request, { person: [await presentSdJwt(request)] })
  const answered = await verifier.run`proof show ${id} --qr small`
  expect(answered.err).toContain('No QR code: it can no longer be answered.')
  expect(answered.out).not.toContain('openid4vp://')
})

test('--json has the record, and the proof is shown when it is answered', async () => {
  const { out } = await verifier.run`${asking} --json`
  const { presentationId, openid4vp } = JSON.parse(out)
  const request = await readRequest(openid4vp.authorizationRequest)
  expect((await present(request, { person: [await presentSdJwt(request)] })).status).toBe(200)
  const shown = await verifier.run`proof show ${presentationId}`
  expect(shown.out).toMatch(/shown name\s+Alice/)
  expect(shown.out).toContain('PresentationVerified')
})

test('a query that is not acceptable is refused by its member', async () => {
  const file = join(pair.user.folder, 'bad.json')
  writeFileSync(file, JSON.stringify({ credentials: [{ id: 'a', format: 'ldp_vc', meta: {} }] }))
  const { code, err } = await verifier.run`proof request --oid4vp --any-issuer --dcql ${file}`
  expect(code).not.toBe(0)
  expect(err).toContain('dcqlQuery.credentials.0.format')
})

test.each([
  [80, 24, 'page'],
  [100, 30, 'page'],
  [160, 60, 'request'],
] as const)(
  'a terminal of %i×%i draws the code of the %s, and the link below it',
  async (columns, rows, what) => {
    const did = await newVerifierDid({ tenant: pair.issuer })
    const env = {
      AGENT_URL: pair.agent.url,
      AGENT_API_KEY: pair.issuer.apiKey,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      LC_ALL: '',
      CI: 'true',
    }
    const { code, out } = await pair.user.runSized([...asking, '--signing-did', did], { columns, rows }, env)
    expect(code).toBe(0)
    const request = out
      .split('\n')
      .find((line) => line.startsWith('openid4vp:'))!
      .trim()
    const page = out.trimEnd().split('\n').at(-1)!.trim()
    expect(page).toMatch(/^http:\S+\/oid4vp\/requests\/[\w-]{16}\/page$/)
    const lines = await visibleLines(out, { columns, rows })
    expect(readWithJsQr(drawScreen(lines, 'dark', 4))).toBe(what === 'page' ? page : request)
  },
)
