/** What a person is told who offers, receives and presents driving licences by commands. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { untilEnd } from '../support/shared.ts'
import { connect } from '../support/tenants.ts'
import { startCommandedPair } from './_agents.ts'
import { fails } from './_cli.ts'

const pair = await untilEnd(startCommandedPair())
const [issuer, holder] = [pair.as(pair.issuer), pair.as(pair.holder)]
const inFolder = (name: string) => join(pair.user.folder, name)
const { example } = await issuer.json`template show mdl`

/** The link of an offer. */
async function offer(name: string): Promise<string> {
  writeFileSync(inFolder('claims.json'), JSON.stringify({ ...example, given_name: name }))
  const { credentialOffer } =
    await issuer.json`credential offer --oid4vci --template mdl --claims @${inFolder('claims.json')}`
  return credentialOffer as string
}

/** The lines of a list in a terminal of 80 columns. */
async function list(topic: string, { apiKey }: { apiKey: string }): Promise<string[]> {
  const env = { AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey }
  const { out } = await pair.user.runSized([topic, 'list'], { columns: 80, rows: 40 }, env)
  return out.split('\n')
}

test('a refused credential has used its offer, which the error and the record say', async () => {
  const { code, err } = await holder.run`accept ${await offer('Ann')} --yes`
  expect([code, err]).toEqual([
    5,
    expect.stringContaining('\n  The offer was used by this attempt; the issuer has to make a new one.'),
  ])
  const [{ recordId }] = (await holder.json`credential list`).contents
  expect((await holder.run`credential show ${recordId}`).out).toMatch(/^offer +used by this attempt; /m)
})

test('held credentials of one type differ in the table of a request, and the verifier is named', async () => {
  const [{ id }] = (await issuer.json`issuer-cert list`).contents
  writeFileSync(inFolder('root.pem'), (await issuer.run`issuer-cert show ${id} --root`).out)
  await holder.run`trust add ${inFolder('root.pem')}`
  const held: string[] = []
  for (const name of ['Ann', 'Bea'])
    held.push((await holder.json`accept ${await offer(name)} --yes`).recordId)
  const request = await issuer.run`proof request --oid4vp --trusted`
  expect(request.err).toMatch(/^expires +\S+Z, in \d+ min$/m)
  expect(request.err).toContain('The other side types: agent accept')
  const several = await holder.run`accept ${request.out} --yes`
  expect(several).toMatchObject(fails(2, '2 credentials answer the request'))
  const lines = several.err.split('\n')
  expect(lines.find((line) => line.includes('CREDENTIAL '))).toMatch(/TYPE +CLAIMS +ISSUER +ENDS +RECEIVED$/)
  for (const [index, name] of ['Ann', 'Bea'].entries())
    expect(lines.find((line) => line.includes(held[index]!))).toMatch(
      new RegExp(` {2}given_name=${name} .* \\d{4}-\\d\\d-\\d\\d .*(?:now|ago)$`),
    )
  // The verifier does not trust the authority of the certificate.
  const refused = await holder.run`accept ${request.out} --yes --credential ${held[0]!}`
  expect([refused.code, refused.err]).toEqual([
    5,
    expect.stringMatching(/Reason: the verifier 127\.0\.0\.1:\d+ says: .*no trust anchor of the verifier/),
  ])
  expect(refused.err).not.toContain('anchor of this wallet:')
  expect(refused.err).toMatch(/^ +expires +\S+Z, in \d+ min$/m)
  const asked = (await issuer.json`proof list`).contents[0]
  expect(asked.metaLastFailure.detail).toContain('of this wallet: agent trust add')
})

test('lists say state, who, what and when within 80 columns', async () => {
  await connect(pair.issuer, pair.holder)
  await issuer.run`connection invite --label ${'a label of many words '.repeat(4)}`
  const lists = {
    proof: /^ID +STATE +WITH +ASKED FOR +CREATED/,
    credential: /^ID +STATE +CLAIMS +WITH +CREATED/,
    connection: /^ID +STATE +LABEL +CREATED +EXPIRES/,
  }
  for (const tenant of [pair.issuer, pair.holder])
    for (const [topic, heads] of Object.entries(lists)) {
      const lines = await list(topic, tenant)
      if (topic !== 'connection' || tenant === pair.issuer) expect(lines[0]).toMatch(heads)
      expect(lines.filter((line) => line.length > 80)).toEqual([])
      expect(lines.slice(1).filter((line) => !/now|ago/.test(line))).toEqual([])
    }
  expect((await list('proof', pair.holder))[1]).toMatch(/mDL: \w/)
  expect((await holder.run`proof list`).out).toContain('ROLE')
})

test('the only DID that can issue is taken over DIDComm, and several are listed', async () => {
  const tenant = await pair.agent.newTenant('Acme')
  const acme = pair.as(tenant)
  const offered = ['credential', 'offer', '--invitation', '--claim', 'name=Ann']
  await acme.run`did create`
  expect(await acme.run(offered)).toMatchObject(fails(2, /No DID of this wallet can issue.*published/))
  const create = ['did', 'create', '--publish', '--wait', '--label']
  const { did } = await acme.json([...create, 'First'])
  const made = await acme.run(offered)
  expect(made.err).toMatch(new RegExp(`^Issued by the only DID that can: First \\(${did}\\)\n`))
  expect(made.err).toContain(`\nThe other side types: agent accept '${made.out}'`)
  const [{ issuingDID }] = (await acme.json`credential list`).contents
  expect(issuingDID).toBe(did)
  const second = (await acme.json([...create, 'Second'])).did
  const { code, err } = await acme.run(offered)
  expect([code, err]).toEqual([
    2,
    expect.stringContaining('The wallet has 2 DIDs that can issue: name one with --issuing-did.'),
  ])
  expect(err).toContain(`  ${did}  First`)
  expect(err).toContain(`  ${second}  Second`)
})

test('claims that do not fit a template name it, and the command with an example', async () => {
  const { did } = await issuer.json`did create --publish --wait`
  for (const way of ['--oid4vci', '--invitation']) {
    const { code, err } =
      await issuer.run`credential offer ${way} --issuing-did ${did} --template employee --claim name=Ann`
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/do not fit the template employee\.[^]*Try: agent template show employee/),
    ])
  }
})

test('invitations and requests say what the other side types', async () => {
  for (const line of ['connection invite', 'proof request --invitation --any-issuer', 'signin create']) {
    const { out, err } = await issuer.run(line.split(' '))
    const link = out.startsWith('http') ? out : expect.anything()
    expect(err, line).toMatch(/^The other side types: agent accept '?http/m)
    if (typeof link === 'string') expect(err).toContain(`agent accept '${link}'`)
  }
  const long = await issuer.run`connection invite --long`
  expect(long.err).toContain('agent accept <link>')
})
