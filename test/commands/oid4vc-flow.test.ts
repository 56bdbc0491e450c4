/** OpenID4VC between two daemons by commands only: offer, receive, request, present, verify, revoke, reject. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { type CommandResult, newUser, words } from './_cli.ts'

const ledger = mkdtempSync(join(tmpdir(), 'identity-agent-'))
const env = { VDR_URL: `sqlite:${join(ledger, 'vdr.db')}` }
const types = { jwt: 'Person', sdjwt: 'PersonSd' } as const

const [issuer, holder] = [newUser(), newUser()]
for (const user of [issuer, holder]) expect((await user.as(env).run`daemon start`).code).toBe(0)
const did = await printedBy(issuer.run`did create --publish --wait --quiet`)
const properties = { name: { type: 'string' }, age: { type: 'integer' } }
const $schema = 'https://json-schema.org/draft/2020-12/schema'
const schema = JSON.stringify({ $schema, type: 'object', properties, required: ['name'] })
const guid = await printedBy(
  issuer.run`schema publish --name person --author ${did} --schema ${schema} --quiet`,
)
const vci = await printedBy(issuer.run`issuer create --quiet`)
for (const [format, id] of Object.entries(types))
  await printedBy(
    issuer.run`issuer configuration add ${vci} --id ${id} --schema ${guid} --format ${format} --quiet`,
  )
afterAll(async () => {
  for (const user of [issuer, holder]) {
    await user.run`daemon stop`
    user.remove()
  }
  rmSync(ledger, { recursive: true, force: true })
})

/** The output of a command that succeeds. */
async function printedBy(running: Promise<CommandResult>): Promise<string> {
  const { code, out, err } = await running
  expect([code, code === 0 ? '' : err]).toEqual([0, ''])
  return out.trim()
}

/** The record of an offer, with the URL for the wallet. */
const offer = (format: keyof typeof types, ...more: string[]) =>
  issuer.json`credential offer --oid4vci ${vci} --configuration ${types[format]} --issuing-did ${did} --claim name=Alice --claim age:=42 ${more}`

/** Makes a query for the name in a credential of the holder. Returns its file. */
async function queryFor(recordId: string): Promise<string> {
  const file = join(issuer.folder, `${recordId}.json`)
  writeFileSync(file, await printedBy(holder.run`dcql from ${recordId} --claim name`))
  return file
}

const request = (file: string) => issuer.json`proof request --oid4vp --trust-issuer ${did} --dcql ${file}`

describe.each(['jwt', 'sdjwt'] as const)('a credential as %s', (format) => {
  test('is offered, received, requested, presented, verified, revoked and refused', async () => {
    const { credentialOffer, txCode, recordId: issued } = await offer(format, '--tx-code')
    const wrong = await holder.run`oid4vc receive ${credentialOffer} --yes --tx-code ${other(txCode)}`
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('The transaction code is wrong') })
    expect(wrong.err).toMatch(/Try: agent credential accept \S+ --tx-code <code>/)
    const received = await holder.json`oid4vc receive ${credentialOffer} --yes --tx-code ${txCode}`
    expect(received.protocolState).toBe('CredentialReceived')
    expect((await issuer.json`credential show ${issued}`).protocolState).toBe('CredentialSent')

    const query = await queryFor(received.recordId)
    const first = await request(query)
    const url = first.openid4vp.authorizationRequest
    const presented = await holder.run`oid4vc present ${url} --yes`
    expect(presented.code).toBe(0)
    expect(presented.err).toContain(`discloses  ${format === 'jwt' ? 'all claims' : 'name'} of`)
    const verified = await printedBy(issuer.run`proof show ${first.presentationId}`)
    expect(verified).toContain('PresentationVerified (the presentation is valid)')
    expect(verified).toMatch(/shown name +Alice/)
    expect(verified).toMatch(/passed +form, audience, nonce, .*holder-binding, signature, status, answer/)
    await printedBy(issuer.run`proof accept ${first.presentationId}`)

    await printedBy(issuer.run`credential revoke ${issued} --yes`)
    const listed = async () =>
      (await holder.run`credential list`).out.split('\n').find((line) => line.includes(received.recordId))
    expect(await listed()).not.toContain('revoked')
    const second = await request(query)
    const again = words`oid4vc present ${second.openid4vp.authorizationRequest} --yes`
    const left = await holder.run(again)
    expect([left.code, left.err]).toEqual([3, expect.stringContaining('The issuer has revoked it')])
    // No notification came: the wallet has read the list of the issuer.
    expect(await listed()).toMatch(/CredentialReceived, revoked \(checked (now|\d+ s ago)\)/)
    const refused = await holder.run`${again} --credential ${received.recordId}`
    expect(refused.code).toBe(5)
    expect(refused.err).toContain('Warning: the credential')
    expect(refused.err).toContain('the credential is revoked')
    const failed = await issuer.run`proof show ${second.presentationId}`
    expect(failed).toMatchObject({ code: 8, out: expect.stringContaining('PresentationVerificationFailed') })
    expect(failed.out).toMatch(/failed +status: .*the credential is revoked/)
  })
})

test('a valid credential is presented beside a revoked one; of several, one is named', async () => {
  const receive = async () => {
    const { credentialOffer, recordId } = await offer('jwt')
    const { recordId: held } = await holder.json`oid4vc receive ${credentialOffer} --yes`
    return { issued: recordId as string, held: held as string }
  }
  const [valid, revoked] = [await receive(), await receive()]
  const query = await queryFor(valid.held)
  const present = async (...flags: string[]) => {
    const { openid4vp } = await request(query)
    return holder.run`oid4vc present ${openid4vp.authorizationRequest} --yes ${flags}`
  }
  await printedBy(issuer.run`credential revoke ${revoked.issued} --yes`)
  const { code, err } = await present('--explain')
  expect([code, err]).toEqual([
    0,
    expect.stringContaining(`not offered: ${revoked.held}: The issuer has revoked it`),
  ])
  expect(err).toContain(`of the credential ${valid.held}`)

  const newer = await receive()
  const several = await present()
  expect([several.code, several.err]).toEqual([
    2,
    expect.stringContaining('2 credentials answer the request; name one for each query with --credential'),
  ])
  expect(several.err.indexOf(newer.held)).toBeLessThan(several.err.indexOf(valid.held))
  expect(several.err).not.toContain(revoked.held)
  expect((await present('--credential', newer.held)).code).toBe(0)
})

test('an offer and a request are rejected, and the verifier is told', async () => {
  const { credentialOffer } = await offer('sdjwt')
  expect((await holder.run`oid4vc receive ${credentialOffer}`).code).toBe(2)
  const taken = await holder.json`oid4vc receive ${credentialOffer} --yes`
  const { credentialOffer: unwanted } = await offer('sdjwt', '--tx-code')
  expect((await holder.run`oid4vc receive ${unwanted} --yes`).code).toBe(2)
  const [waiting] = (await printedBy(holder.run`credential list --state OfferReceived --quiet`)).split('\n')
  await printedBy(holder.run`credential reject ${waiting!}`)
  expect((await holder.json`credential show ${waiting!}`).protocolState).toBe('OfferRejected')

  const asked = await request(await queryFor(taken.recordId))
  expect((await holder.run`oid4vc present ${asked.openid4vp.authorizationRequest}`).code).toBe(2)
  const [proof] = (await printedBy(holder.run`proof list --state RequestReceived --quiet`)).split('\n')
  await printedBy(holder.run`proof reject ${proof!}`)
  const told = await issuer.run`proof show ${asked.presentationId}`
  expect(told.out).toContain('The holder has declined the request.')
})

test('a link of the other kind names the command for it', async () => {
  const { credentialOffer } = await offer('jwt')
  const file = join(issuer.folder, 'any.json')
  writeFileSync(
    file,
    JSON.stringify({ credentials: [{ id: 'any', format: 'dc+sd-jwt', meta: { vct_values: ['urn:x'] } }] }),
  )
  const { openid4vp } = await request(file)
  const presented = await holder.run`oid4vc present ${credentialOffer} --yes`
  const refused = (reason: string) => ({ code: 2, err: expect.stringContaining(reason) })
  expect(presented).toMatchObject(refused(`Try: agent accept '${credentialOffer}'`))
  const received = await holder.run`oid4vc receive ${openid4vp.authorizationRequest} --yes`
  expect(received).toMatchObject(refused('Try: agent accept '))
})

test('a request without a query names the types that it can ask for', async () => {
  const { code, err } = await issuer.run`proof request --oid4vp`
  expect([code, err]).toEqual([2, expect.stringContaining('--type: Person')])
})

test('a credential of a DID that the wallet cannot resolve names the reason with the error', async () => {
  const stranger = newUser()
  try {
    expect((await stranger.run`daemon start`).code).toBe(0)
    const { credentialOffer } = await offer('jwt')
    const { code, err } = await stranger.run`oid4vc receive ${credentialOffer} --yes`
    expect(code).toBe(5)
    expect(err).toMatch(
      /cannot reach CredentialReceived\.\n +Reason: The credential is not accepted: The DID of/,
    )
  } finally {
    await stranger.run`daemon stop`
    stranger.remove()
  }
})

function other(code: string): string {
  return code.replace(/^./, (digit) => String((Number(digit) + 1) % 10))
}

/** The link of an offer that a command prints, while it waits. */
function linkIn(stream: Readable): Promise<RegExpExecArray> {
  let text = ''
  return new Promise((found) => {
    stream.on('data', (chunk) => {
      const link = /openid-credential-offer:\S+(?=\s)/.exec((text += chunk))
      if (link) found(link)
    })
  })
}

test('one offer has several credentials, and one consent receives all', async () => {
  const all = JSON.stringify({
    Person: { name: 'Alice' },
    PersonSd: [
      { name: 'Alice', age: 41 },
      { name: 'Alice', age: 42 },
    ],
  })
  const both = words`--configuration Person --configuration PersonSd`
  const offered = words`credential offer --oid4vci ${vci} ${both} --issuing-did ${did}`
  const { credentialOffer, records } = await issuer.json`${offered} --claims ${all}`
  expect(records).toHaveLength(3)
  const received = await holder.json`oid4vc receive ${credentialOffer} --yes`
  expect(received.map(({ claims }: { claims: { age?: number } }) => claims.age)).toEqual([undefined, 41, 42])
  const only = (await issuer.json`${offered} --claims ${all}`).credentialOffer
  const one = await holder.json`oid4vc receive ${only} --configuration Person --yes`
  expect(one.claims).toMatchObject({ name: 'Alice' })
  expect(await issuer.run`${offered} --claims ${'{"Person": {"name": "Alice"}}'}`).toMatchObject({
    code: 2,
    err: expect.stringContaining('--claims has no object "PersonSd"'),
  })
  const waiting = issuer.spawn`${offered} --claims ${all} --wait --timeout 1m`
  const [link] = await linkIn(waiting.stdout)
  expect((await holder.run`oid4vc receive ${link} --yes`).code).toBe(0)
  const { exitCode, stdout } = await waiting
  expect([exitCode, stdout.match(/CredentialSent/g)]).toEqual([0, Array(3).fill('CredentialSent')])
})
