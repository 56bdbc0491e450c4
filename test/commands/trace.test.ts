/** `agent trace`, with a daemon. */
import { expect, test } from 'vitest'
import { openReceiver } from '../support/receiver.ts'
import { fails, printed, prints } from './_cli.ts'
import { serveTwoTenants } from './_agents.ts'

const { user, other: holder, call } = serveTwoTenants('holder')

const isEnded = (id: string) => async () =>
  (await call('GET /traces/{id}', { path: { id } })).pending.length === 0

test('a thread is traced by its record, as text, as a diagram and as JSON; another tenant finds nothing', async () => {
  await using receiver = await openReceiver((response, count) =>
    response.writeHead(count === 1 ? 500 : 200).end(),
  )
  const webhook = (await user.run`webhook add ${receiver.url} -q`).out
  const issuer = (await user.json`did create`).longFormDid
  const subject = (await holder.json`did create`).longFormDid
  const offered =
    await user.run`credential offer --invitation --issuing-did ${issuer} --claim name=Alice --json`
  const { recordId, thid, invitation } = JSON.parse(offered.out)

  const open = await user.run`trace ${recordId}`
  expect(open).toMatchObject(prints(0, `Thread ${thid}\ncredential ${recordId}, Issuer: InvitationGenerated`))
  expect(open.out).toMatch(
    /\nWaiting\n {2}the other side has not answered for \d+[^\n]*waiting for an answer to the invitation/,
  )

  const follower = user.spawn`trace ${thid} --follow --json`
  const followed = printed(follower.stdout, '"to":"CredentialSent"')
  const held = (await holder.run`credential accept-invitation ${invitation.invitationUrl} -q`).out
  const decision = await holder.run`trace ${held}`
  expect(decision.out).toMatch(
    /\n {2}waiting for you for [^\n]*: credential OfferReceived \(waiting for your answer\)$/,
  )
  expect(decision.err).toContain(`Next:\n  agent credential accept ${held}`)
  await holder.run`credential accept ${held} --subject ${subject}`
  await expect
    .poll(async () => (await user.run`credential show ${recordId}`).out)
    .toContain('RequestReceived')
  await user.run`credential issue ${recordId}`
  await followed
  follower.kill('SIGINT')
  const { exitCode, stdout } = await follower
  const keys = stdout
    .split('\n')
    .map((line) => JSON.parse(line))
    .flatMap((step) => (step.kind === 'state' ? [step.to] : step.kind === 'message' ? [step.id] : []))
  expect([exitCode, new Set(keys).size]).toEqual([130, keys.length])
  expect(keys).toEqual(expect.arrayContaining(['InvitationGenerated', 'RequestReceived', 'CredentialSent']))

  await expect.poll(isEnded(thid)).toBe(true)
  const { out, err } = await user.run`trace ${thid.slice(0, 10)}`
  expect(err).toBe('')
  expect(out).toMatch(/ {2}← received request-credential +peer:\w{6} → peer:\w{6}\n/)
  expect(out).toMatch(/ {2}→ sent issue-credential +taken in \d+ ms, peer:\w{6} → peer:\w{6}\n/)
  expect(out).toMatch(/ {2}credential CredentialSent +was CredentialGenerated\n/)
  expect(out).toMatch(
    new RegExp(`⇢ webhook ${webhook.slice(-8)} +CredentialSent: delivered \\(200\\) in \\d+ ms`),
  )
  expect(out).not.toContain('Waiting')
  expect((await user.run`trace ${recordId} -q`).out).toBe(thid)
  const diagram = (await user.run`trace ${recordId} --mermaid`).out
  expect(diagram).toMatch(/^sequenceDiagram\n[^]*\n {2}them->>us: \+[\d.]+ m?s request-credential: /)
  expect(diagram).toMatch(
    /\n {2}Note over us: \+[\d.]+ m?s credential CredentialGenerated → CredentialSent(?:\n|$)/,
  )
  const json = await holder.json`trace ${held}`
  expect(json).toMatchObject({
    thid,
    pending: [],
    isCut: false,
    records: [{ topic: 'credential', id: held, role: 'Holder' }],
  })

  const unknown = await holder.run`trace ${recordId}`
  expect(unknown).toMatchObject(fails(3, /There is no thread[^]*Try: agent event list/))
  expect(JSON.parse((await user.run`trace nothing-of-the-kind --json`).err)).toMatchObject({
    code: 'NotFound',
    exitCode: 3,
  })
  expect((await user.run`trace ${thid} --mermaid --follow`).code).toBe(2)
})
