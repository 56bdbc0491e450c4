/** Resources are found by id, partial id or name. */
import { expect, test } from 'vitest'
import { readCommands } from '../../build/docs/manifest.ts'
import { fails, words } from './_cli.ts'
import { kindOf } from '../../cli/input/kinds.ts'
import { startServer } from '../support/server.ts'
import { startCommandedPair } from './_agents.ts'
import { connect } from '../support/tenants.ts'

test('a connection is found by its id, either end of the id, or its label', async () => {
  await using pair = await startCommandedPair()
  const { issuer, as } = pair
  const invite = async (label: string) =>
    (await as(issuer).json`connection invite --label ${label}`).connectionId as string
  const [id, other] = [await invite('Alice'), await invite('Bob')]
  const beginning = id.slice(0, [...id].findIndex((character, index) => character !== other[index]) + 1)
  for (const text of [id, id.toUpperCase(), id.slice(-8), `…${id.slice(-8)}`, beginning, 'Alice', 'alice'])
    expect(await as(issuer).run`connection show ${text} -q`, text).toMatchObject({ code: 0, out: id })

  // Version 7 UUIDs start with a timestamp.
  const several = await as(issuer).run`connection show ${id.slice(0, 6)}`
  expect(several.code).toBe(2)
  expect(several.err).toContain(`Several connections match "${id.slice(0, 6)}":`)
  for (const line of [`${id}  Alice, InvitationGenerated`, `${other}  Bob, InvitationGenerated`])
    expect(several.err).toContain(line)

  const none = await as(issuer).run`connection show Carol`
  expect(none).toMatchObject({ code: 3, out: '' })
  expect(none.err).toMatch(
    /There is no connection "Carol"\. Name it by its id, such as 01\S+, its label, or at least 4 characters of the end/,
  )
  expect(none.err).toContain('Try: agent connection list')
  expect(none.err).not.toMatch(/GET|openapi/)
  expect(await as(issuer).run`connection show Carol --json`).toMatchObject({ code: 3 })
  await as(issuer).run`connection remove Bob --yes`
  expect((await as(issuer).run`connection list -q`).out).toBe(id)
})

test('a label refers to the established connection before invitations with the same label', async () => {
  await using pair = await startCommandedPair()
  const { issuer, holder, as } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  await issuer.call('PATCH /connections/{connectionId}', {
    path: { connectionId: inviterConnectionId },
    body: { label: 'Alice' },
  })
  expect((await as(issuer).run`connection invite --label Alice`).code).toBe(0)
  const asked = await as(issuer).run`proof request --connection Alice --any-issuer --json`
  expect(JSON.parse(asked.out)).toMatchObject({ connectionId: inviterConnectionId })
  expect((await as(issuer).run`message send hello --connection alice`).code).toBe(0)
  expect((await as(issuer).run`didcomm ping Alice`).code).toBe(0)
  // Credentials and proofs have no names.
  const proofId = JSON.parse(asked.out).presentationId
  expect((await as(issuer).run`proof show ${proofId.slice(-6)} -q`).out).toBe(proofId)
  expect(await as(issuer).run`proof show mine`).toMatchObject(
    fails(2, '"mine" is not an id of a presentation record.'),
  )
  expect(await as(issuer).run`proof show ffffffff-ffff`).toMatchObject({ code: 3 })
})

test('policies, webhooks, tenants, wallets and DIDs are found by partial id or name', async () => {
  await using pair = await startCommandedPair()
  const { issuer, agent, user, as } = pair
  const policy = (await as(issuer).run`policy create --name Adults -q`).out
  const policyNamed = await as(issuer).run`policy show adults -q`
  expect(policyNamed.out).toBe(policy)
  const hook = (await as(issuer).run`webhook add http://127.0.0.1:9/ -q`).out.split('\n')[0]!
  expect((await as(issuer).run`webhook show ${hook.slice(-7)} -q`).out).toBe(hook)
  const did = (await as(issuer).json`did create`).longFormDid.split(':', 3).join(':')
  expect((await as(issuer).run`did show ${did.slice(-8)} -q`).out).toBe(did)
  expect((await as(issuer).run`did show ${`${did.slice(0, 15)}…${did.slice(-8)}`} -q`).out).toBe(did)
  expect((await as(issuer).run`did show did:prism:…ffff`).code).toBe(3)
  expect((await as(issuer).run`did show Nobody-has-this`).code).toBe(3)
  const admin = user.as({ AGENT_URL: agent.url, AGENT_ADMIN_KEY: 'the-administrator-of-the-tests' })
  const named = await agent.newTenant('Solitary')
  const tenant = await admin.run`tenant show solitary --json`
  expect(JSON.parse(tenant.out)).toMatchObject({ id: named.entityId })
  const keys = JSON.parse((await admin.run`tenant key list solitary --json`).out).contents
  expect(await admin.run`tenant key revoke solitary ${keys[0].id.slice(-8)} --yes -q`).toMatchObject({
    code: 0,
    out: keys[0].id,
  })
})

test('an end of several ids is refused with the candidates', async () => {
  await using pair = await startCommandedPair()
  const { agent, user } = pair
  const admin = user.as({ AGENT_URL: agent.url, AGENT_ADMIN_KEY: 'the-administrator-of-the-tests' })
  const ids = ['1', '2'].map((digit) => `01a20000-0000-7000-8000-00000${digit}9a6a43`)
  for (const id of ids)
    expect((await admin.run`wallet create name-${id[28]!} --id ${id}`).err).not.toContain('Error')
  const several = await admin.run`wallet show …9a6a43`
  expect(several).toMatchObject(fails(2, 'Several wallets match "…9a6a43":'))
  for (const id of ids) expect(several.err).toContain(id)
  expect((await admin.run`wallet show 19a6a43 -q`).out).toBe(ids[0])
})

test('an id of another kind is named, with the command that shows it', async () => {
  await using pair = await startCommandedPair()
  const { issuer, agent, as } = pair
  const { run, json } = as(issuer)
  const connection = (await json`connection invite`).connectionId as string
  const proof = (await json`proof request --invitation --any-issuer`).presentationId as string
  const policy = (await json`policy create --name Adults`).id as string
  const wrong = [
    [
      words`credential show ${proof}`,
      'a presentation record, not of a credential record',
      `proof show ${proof}`,
    ],
    [
      words`credential accept ${proof}`,
      'a presentation record, not of a credential record',
      `proof show ${proof}`,
    ],
    [
      words`proof show ${connection}`,
      'a connection, not of a presentation record',
      `connection show ${connection}`,
    ],
    [words`connection show ${policy}`, 'a policy, not of a connection', `policy show ${policy}`],
    [words`schema show ${connection}`, 'a connection, not of a schema', `connection show ${connection}`],
    [words`connection show ${policy.slice(-8)}`, 'a policy, not of a connection', `policy show ${policy}`],
  ] as const
  for (const [line, kind, command] of wrong) {
    const { code, err } = await run(line)
    expect([code, err]).toEqual([3, expect.stringMatching(`the id of ${kind}\\.\\n +Try: agent ${command}$`)])
  }
  // What the daemon has said stays in the report of a program.
  const { err } = await run`credential show ${proof} --json`
  expect(JSON.parse(err)).toMatchObject({ status: 404, hint: `agent proof show ${proof}` })
  // The other tenant has no such id, and learns nothing about it.
  const other = await as(await agent.newTenant('other')).run`credential show ${proof}`
  expect([other.code, other.err]).toEqual([3, expect.not.stringContaining('presentation')])
})

test('a complete id needs no additional requests', async () => {
  await using pair = await startCommandedPair()
  const requests: string[] = []
  await using server = await startServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response
      .writeHead(401, { 'content-type': 'application/json' })
      .end('{"status":401,"type":"Unauthorized","title":"Unauthorized"}')
  })
  const id = '01a20725-6f2b-7d4e-8c15-b0f3a2917c3d'
  const { code } = await pair.user.run`connection show ${id} --url ${server.url}`
  expect({ code, requests }).toEqual({ code: 4, requests: [`GET /connections/${id}`] })
})

test('every id argument accepts partial ids', () => {
  // Ids that the daemon does not list: events, which are a log, and threads.
  const others = ['event:show id', 'trace id', 'credential:status-list list']
  const ids = readCommands().flatMap(({ id, args }) =>
    Object.values(args)
      .filter(({ description = '' }) => /^(?:id|guid|a DID) of\b|^the connection: /.test(description))
      .map(({ name }) => ({ id, name })),
  )
  expect(ids.length).toBeGreaterThan(40)
  const unknown = ids.filter(({ id, name }) => kindOf({ command: { id }, kind: 'arg', name }) === undefined)
  expect(unknown.map(({ id, name }) => `${id} ${name}`).filter((each) => !others.includes(each))).toEqual([])
})
