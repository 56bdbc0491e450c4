/** Offers and requests for wallets in one command each, from an empty wallet, and templates. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { templateNames } from '../../src/definitions/templates/index.ts'
import { startCommandedPair } from './_agents.ts'
import { fails, hasScript, says, words } from './_cli.ts'
import { untilEnd } from '../support/shared.ts'

const pair = await untilEnd(startCommandedPair())
const issuer = pair.as(pair.issuer)
const holder = pair.as(pair.holder)
const empty = pair.as(await pair.agent.newTenant('empty'))

test('an offer and a request take one command each, and so do their answers', async () => {
  const { out: offer, err } =
    await issuer.run`credential offer --oid4vci --type Person --claim name=Alice --claim age:=42`
  expect(offer).toMatch(/^openid-credential-offer:\/\//)
  expect(err).toMatch(
    /^Made, because it was missing:\n {2}DID +did:jwk:\S+\n {2}issuer +\S+ {2}\w+\n {2}schema +\S+ {2}Person\n {2}configuration {2}Person {2}Person\n/,
  )
  expect(err).toMatch(/agent issuer update \S+ --name <name>/)
  const [offerFile, requestFile] = [
    join(pair.user.folder, 'offer.txt'),
    join(pair.user.folder, 'request.txt'),
  ]
  writeFileSync(offerFile, offer)
  expect(await holder.run`oid4vc receive ${offer} --yes`).toMatchObject({ code: 0 })
  const request = await issuer.run`proof request --oid4vp --type person --claim name`
  expect(request.err).toMatch(
    /^Asks for [^\n]+\nTrusts its own issuer of Person: did:jwk:\S+\nSigned by did:jwk:\S+\n/,
  )
  writeFileSync(requestFile, request.out)
  expect(await holder.run`oid4vc present ${request.out} --yes`).toMatchObject({ code: 0 })
  const [proof] = (await issuer.json`proof list --role verifier`).contents
  expect(proof).toMatchObject({ status: 'PresentationVerified' })
  expect((await issuer.run`issuer list`).out).toContain('NAME')
})

test('flags about the link go with --oid4vci without an id', async () => {
  const file = join(pair.user.folder, 'offer.png')
  const offer = words`credential offer --oid4vci --type Person --claim name=Ann --claim age:=3`
  const { err } = await issuer.run([...offer, '--expires-in', '14d', '--qr-file', file])
  expect(err).toMatch(/expires +\S+Z, in 14 d\n[^]*QR code: .*offer\.png$/)
})

const coded = await pair.agent.newTenant('coded')

test.skipIf(!hasScript()).each([
  [
    'below the code, with the link',
    { columns: 80, rows: 26 },
    /█[^]*\nhttp:\S+\/o\/[\w-]{16} {3}transaction code \d{6}$/,
  ],
  [
    'below the code, where the link does not fit',
    { columns: 60, rows: 26 },
    /█[^]*\ntransaction code \d{6}$/,
  ],
  [
    'above a code that does not fit',
    { columns: 40, rows: 26 },
    /transaction code +\d{6}[^]*No QR code:[^]*Its\s+page\s+has\s+one:\s+http:\S+\/o\//,
  ],
])('a transaction code is %s', async (_, size, shown) => {
  const line = words`credential offer --oid4vci --type Coded --claim name=Ann --tx-code`
  const env = { AGENT_URL: pair.agent.url, AGENT_API_KEY: coded.apiKey, TERM: 'xterm', LANG: 'C.UTF-8' }
  const { code, out } = await pair.user.runInTerminal(line, size, env)
  expect([code, out]).toEqual([0, expect.stringMatching(shown)])
})

test('the same command again uses what is there; the only type is taken', async () => {
  const { err } = await issuer.run`credential offer --oid4vci --claim name=Bob --claim age:=7`
  expect(err).not.toContain('Made')
  expect((await issuer.run`proof request --oid4vp`).err).toContain('Trusts its own issuer of Person')
})

test('refusals name what is possible', async () => {
  expect(await issuer.run`credential offer --oid4vci --claim nom=Bob`).toMatchObject(
    fails(2, /\$\.nom: is not defined in the schema.*name another type/),
  )
  expect(await issuer.run`proof request --oid4vp --type Person --claim nom`).toMatchObject(
    fails(2, /Person has no claim nom\. It has name, age\./),
  )
  expect(await issuer.run`proof request --oid4vp --type Nothing`).toMatchObject(
    fails(2, /There are: Person \(Person\)\./),
  )
  expect(await empty.run`proof request --oid4vp`).toMatchObject(
    fails(2, /issues and holds no credential yet/),
  )
  expect(await holder.run`proof request --oid4vp --type Person`).toMatchObject(
    fails(2, /--trust-issuer did:jwk:\S+, --trusted, or --any-issuer/),
  )
  expect(await holder.run`proof request --oid4vp --type Person --any-issuer`).toMatchObject({ code: 0 })
  expect(await issuer.run`credential offer --oid4vci --template unknown --claim a=b`).toMatchObject({
    code: 2,
  })
  await issuer.run`credential offer --oid4vci --type Badge --claim number:=7`
  expect(await issuer.run`credential offer --oid4vci --claim number:=7`).toMatchObject(
    fails(2, /Name one: Person, Badge\./),
  )
  expect(await issuer.run`proof request --oid4vp`).toMatchObject(fails(2, /--type: Person, Badge/))
})

test('an issuer and a credential have names', async () => {
  const { id } = await empty.json`issuer create --name Acme --logo https://acme.example/logo.png`
  expect((await empty.run`issuer list`).out).toMatch(new RegExp(`${id} +Acme +this agent`))
  const { display } = await empty.json`issuer update ${id} --name ${['Acme Ltd']}`
  expect(display).toEqual([{ name: 'Acme Ltd' }])
  expect(await empty.run`issuer create --logo https://acme.example/logo.png`).toMatchObject({ code: 2 })
})

test('an offer of a template without claims names the command that lists them', async () => {
  expect(await empty.run`credential offer --oid4vci --template mdl`).toMatchObject(
    fails(2, /There are no claims[^]*Try: agent template show mdl/),
  )
})

test('a request for a document of an own certificate says whom it trusts', async () => {
  const licences = pair.as(await pair.agent.newTenant('licences'))
  const { example } = await licences.json`template show mdl`
  await licences.run`credential offer --oid4vci --template mdl --claims ${[JSON.stringify(example)]}`
  // Verifiers compare the country and the jurisdiction with those of the certificate.
  expect((await licences.json`issuer-cert list`).contents).toMatchObject([
    { subject: expect.stringMatching(/C=UT.*ST=UT-U|ST=UT-U.*C=UT/) },
  ])
  expect((await licences.run`proof request --oid4vp --type mdl --claim family_name`).err).toMatch(
    /^Trusts the authorities of `agent trust list`; .*agent trust add root\.pem$/m,
  )
  expect((await licences.run`proof request --oid4vp --type mdl --any-issuer`).err).not.toContain('Trusts')
})

test('an offer without an issuing DID says how to get one', async () => {
  const without = pair.as(await pair.agent.newTenant('without'))
  const offer = words`credential offer --invitation --claim name=Alice`
  expect(await without.run(offer)).toMatchObject(fails(2, /Try: agent did create --publish --wait/))
  await without.run`did create --method jwk`
  expect(await without.run(offer)).toMatchObject(says('Issued by the only DID that can: did:jwk:'))
})

test.each(templateNames)('agent template show %s prints an offer that works', async (name) => {
  expect((await empty.run`template list`).out).toContain(name)
  const { example } = await empty.json`template show ${name}`
  const { err } = await empty.run`template show ${name}`
  expect(err).toContain(`agent credential offer --oid4vci --template ${name} --claim `)
  const { made } = await empty.json`
    credential offer --oid4vci --template ${name} --claims ${[JSON.stringify(example)]}
  `
  expect(made).toContainEqual(expect.objectContaining({ kind: 'configuration' }))
})

test('a template of an offer over DIDComm is published once', async () => {
  const did = (await empty.run`did create --method jwk -q`).out
  const offered = [
    '--invitation',
    '--issuing-did',
    did,
    '--template',
    'age-over-18',
    '--claim',
    'ageOver18:=true',
  ]
  const first = await empty.run(['credential', 'offer', ...offered])
  expect([first.code, first.err]).toEqual([0, expect.stringMatching(/schema {2}\S+ {2}Age over 18/)])
  expect((await empty.run(['credential', 'offer', ...offered])).err).not.toContain('Made')
})
