/**
 * Commands offer AnonCreds credentials by definition, request attributes and predicates, and disclose or hide
 * attributes.
 */
import { expect, test } from 'vitest'
import { publishDefinition } from '../credentials/anoncreds/_definition.ts'
import { connect, credentialIn, newDid, presentationIn } from '../support/tenants.ts'
import { fails, words } from './_cli.ts'
import { startCommandedPair } from './_agents.ts'

test('an AnonCreds credential goes from definition to proof, described in words on each side', async () => {
  await using pair = await startCommandedPair()
  const { issuer, holder, agent, as } = pair
  const { inviterConnectionId: connection } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod')
  const { guid, credDefId, schemaId } = await publishDefinition(agent, issuer, did)
  const claims = ['--claim', 'Given Name=Alice', '--claim', 'age=30', '--claim', 'country=SE']
  const offer = ['credential', 'offer', '--connection', connection, '--auto', ...claims]
  const wrong = [
    [['--format', 'anoncreds', '--issuing-did', did], /--format anoncreds needs --definition/],
    [['--format', 'jwt', '--definition', guid], /--definition issues AnonCreds, not jwt/],
    [['--issuing-did', did, '--definition', guid], /Give --definition or --issuing-did, not both/],
  ] as const
  for (const [flags, reason] of wrong)
    expect(await as(issuer).run`${offer} ${flags}`).toMatchObject(fails(2, reason))
  const numbers = words`credential offer --connection ${connection} --definition ${guid} --claim age:=30`
  expect(await as(issuer).run(numbers)).toMatchObject(fails(2, /\$\.age.*Given Name|Given Name.*\$\.age/s))

  const { thid } = (await as(issuer).json`${offer} --definition ${guid}`) as {
    thid: string
  }
  const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
  const accepted = await as(holder).run`credential accept ${recordId}`
  expect(accepted.out).toMatch(
    /^format +AnonCreds \(attributes and predicates are proved\), bound to the wallet of its holder$/m,
  )
  await credentialIn(holder.call, thid, 'CredentialReceived')
  const shown = (await as(holder).run`credential show ${recordId}`).out
  for (const line of [
    /^claim age +30$/m,
    new RegExp(`^issuer +${did}$`, 'm'),
    new RegExp(`^definition +${credDefId}$`, 'm'),
    new RegExp(`^schemas +${schemaId}$`, 'm'),
  ])
    expect(shown).toMatch(line)
  const exported = (await as(holder).run`credential export ${recordId}`).out
  expect(JSON.parse(exported)).toMatchObject({ cred_def_id: credDefId, values: { age: { raw: '30' } } })
  expect(await as(holder).run`credential verify ${exported}`).toMatchObject(
    fails(2, /cannot be verified alone/),
  )

  const ask = ['proof', 'request', '--connection', connection]
  const wanted = ['--reveal', 'Given Name', '--reveal', 'country', '--predicate', 'age >= 18']
  const refused = [
    [[...wanted], /needs --format anoncreds|format/],
    [[...wanted, '--format', 'jwt'], /--reveal is for --format anoncreds/],
    [['--format', 'anoncreds', '--any-issuer'], /Nothing is requested/],
    [['--format', 'anoncreds', '--any-issuer', '--predicate', 'age=18'], /not in the form 'age>=18'/],
  ] as const
  for (const [flags, reason] of refused)
    expect(await as(issuer).run`${ask} ${flags}`).toMatchObject(fails(2, reason))
  const made = await as(issuer)
    .run`${ask} ${wanted} --format anoncreds --definition ${guid} --trust-issuer ${did} --json`
  const request = JSON.parse(made.out) as { thid: string; presentationId: string; requestData: string[] }
  const restrictions = [{ cred_def_id: credDefId, issuer_did: did }]
  expect(JSON.parse(request.requestData[0]!)).toMatchObject({
    requested_attributes: {
      'Given Name': { name: 'Given Name', restrictions },
      country: { name: 'country', restrictions },
    },
    requested_predicates: { 'age >= 18': { name: 'age', p_type: '>=', p_value: 18, restrictions } },
  })
  const { presentationId } = await presentationIn(holder.call, request.thid, 'RequestReceived')
  const present = ['proof', 'present', presentationId, '--hide']
  expect(await as(holder).run`${present} email`).toMatchObject(fails(2, /asks for Given Name, country/))
  expect((await as(holder).run`${present} country`).code).toBe(0)
  await presentationIn(issuer.call, request.thid, 'PresentationVerified')
  const seen = (await as(issuer).run`proof show ${request.presentationId}`).out
  expect(seen).toMatch(/^shown Given Name +Alice$/m)
  expect(seen).not.toMatch(/^shown country/m)
})
