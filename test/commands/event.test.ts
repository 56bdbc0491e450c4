/** `agent event …` and `--wait`, with a daemon. */
import { expect, test } from 'vitest'
import { openReceiver } from '../support/receiver.ts'
import { fails, type Line, printed, prints, words } from './_cli.ts'
import { serveTwoTenants } from './_agents.ts'

const nilId = '00000000-0000-0000-0000-000000000000'

const { user, other } = serveTwoTenants('other', { inProcess: false })
const trigger = async (type = 'PresentationUpdated') => (await user.run`event trigger ${type} -q`).out

/** A running command and its output so far. */
function spawn(...line: Line) {
  const command = user.spawn(words(...line))
  let out = ''
  command.stdout.on('data', (chunk) => (out += chunk))
  return { command, lines: () => out.split('\n').filter((line) => line !== '') }
}

test('a test event is created, listed and printed', async () => {
  const made = await user.json`event trigger DIDStatusUpdated`
  expect(made).toMatchObject({ type: 'DIDStatusUpdated', data: { test: true } })
  const list = await user.run`event list --type DIDStatusUpdated`
  expect(list.out.split('\n')[1]).toMatch(
    new RegExp(`${made.ts}  DIDStatusUpdated .*\\(test\\) +${made.id}$`),
  )
  expect((await user.run`event show ${made.id}`).out).toMatch(/DIDStatusUpdated[^]*"test": true/)
  expect((await user.run`event show ${made.id.slice(-6)} -q`).out).toBe(made.id)
  const next = await trigger('DIDStatusUpdated')
  const after = await user.run`event list --after ${made.id} --json`
  expect(JSON.parse(after.out).contents).toMatchObject([{ id: next }])
  const newest = await user.run`event list --limit 1 --type DIDStatusUpdated`
  expect(newest.out).toContain(next)
  expect(newest.err).toContain('agent event list --limit 1 --type DIDStatusUpdated --offset 1')
  expect((await user.run`event list -q --type DIDStatusUpdated`).out).toBe(`${next}\n${made.id}`)
  const later = await trigger('DIDStatusUpdated')
  const page = await user.run`event list --after …${made.id.slice(-6)} --limit 1 --type DIDStatusUpdated`
  expect(page.out).toContain(next)
  expect(page.err).toContain(`Next:\n  agent event list --after ${next} --type DIDStatusUpdated`)
  expect((await user.run`event list -q --after ${made.id}`).out).toBe(`${next}\n${later}`)
  expect((await user.run`event list --after 11111111-1111-4111-8111-111111111111`).code).toBe(2)
  expect((await user.run`event trigger Nonsense`).code).toBe(2)
})

test('event tail prints each event once, even across a daemon restart, until Ctrl-C (130)', async () => {
  const { command, lines } = spawn`event tail --type PresentationUpdated`
  await printed(command.stderr, 'Waiting for events')
  const made = [await trigger()]
  await trigger('ConnectionUpdated')
  await expect.poll(lines).toHaveLength(1)
  const isAway = printed(command.stderr, 'The daemon has stopped')
  const isBack = printed(command.stderr, 'The daemon has restarted')
  await user.run`daemon stop`
  await isAway
  // The new port is in the profile.
  expect((await user.run`daemon start`).code).toBe(0)
  made.push(await trigger())
  await isBack
  made.push(await trigger())
  await expect.poll(lines).toHaveLength(3)
  expect(lines().map((line) => line.split(/ +/).at(-1))).toEqual(made)
  command.kill('SIGINT')
  expect(await command).toMatchObject({ exitCode: 130 })

  const json = spawn`event tail --json --after ${nilId} --type PresentationUpdated`
  await expect.poll(json.lines).toHaveLength(3)
  expect(json.lines().map((line) => JSON.parse(line).id)).toEqual(made)
  json.command.kill('SIGTERM')
  expect(await json.command).toMatchObject({ exitCode: 0 })
})

test('event listen registers a webhook, verifies signatures, forwards events and removes the webhook', async () => {
  await using target = await openReceiver((response, count) =>
    response.writeHead(count === 1 ? 500 : 204).end(),
  )
  const { command, lines } = spawn`event listen --forward-to ${target.url}`
  let err = ''
  command.stderr.on('data', (chunk) => (err += chunk))
  await printed(command.stderr, 'Listening')
  const [, url, webhook] = /Listening at (\S+) as webhook (\S+)\./.exec(err)!
  expect((await user.run`webhook list -q`).out).toBe(webhook)
  const event = await trigger()
  await expect.poll(lines).toHaveLength(2)
  expect(lines().map((line) => [line.split(' ')[0], line.split(/ +/).at(-1)])).toEqual([
    ['502', event],
    ['200', event],
  ])
  expect(err).toContain(`${event} was refused: ${target.url} answered 500`)
  expect(target.bodies.map((body) => JSON.parse(body).id)).toEqual([event, event])

  // What any page of a browser could send is neither forwarded nor printed as an event.
  const forged = {
    method: 'POST',
    headers: { 'webhook-id': event, 'webhook-timestamp': `${Math.floor(Date.now() / 1_000)}` },
    body: target.bodies[0]!,
  }
  expect((await fetch(url!, forged)).status).toBe(401)
  expect(
    (await fetch(url!, { ...forged, headers: { ...forged.headers, 'webhook-signature': 'v1,AAAA' } })).status,
  ).toBe(401)
  expect(target.bodies).toHaveLength(2)
  expect(lines()).toHaveLength(2)
  await expect.poll(() => err).toContain('401: a request was refused: its signature is wrong')

  const replayed = await user.run`event replay --to ${webhook!} --event ${event}`
  expect(replayed).toMatchObject({ code: 0, out: expect.stringMatching(/sends again +1 event$/) })
  await expect.poll(() => target.bodies).toHaveLength(3)
  expect(JSON.parse(target.bodies[2]!).id).toBe(event)

  command.kill('SIGTERM')
  expect(await command).toMatchObject({ exitCode: 0 })
  expect((await user.run`webhook list -q`).out).toBe('')
})

test('the local receiver can fail deliberately, and Ctrl-C removes its webhook', async () => {
  const { command, lines } = spawn`event listen --fail 1 --print json`
  await printed(command.stderr, 'Listening')
  const isRefused = printed(command.stderr, 'was refused: on purpose')
  const event = await trigger()
  await isRefused
  expect(JSON.parse(lines()[0]!)).toMatchObject({ id: event, data: { test: true } })
  command.kill('SIGINT')
  expect(await command).toMatchObject({ exitCode: 130 })
  expect((await user.run`webhook list -q`).out).toBe('')
  expect((await user.run`event listen --fail 2`).code).toBe(2)
})

test('a wait ends when its record fails (5)', async () => {
  const issuer = (await user.json`did create`).longFormDid
  const { command, lines } =
    spawn`credential offer --invitation --qr none --issuing-did ${issuer} --claim a=b --wait`
  await expect.poll(lines).toHaveLength(1)
  const held = (await other.run`credential accept-invitation ${lines()[0]!} -q`).out
  expect(await other.run`credential reject ${held} --wait`).toMatchObject(prints(0, 'ProblemReportSent'))
  expect(await command).toMatchObject({
    exitCode: 5,
    stdout: expect.stringContaining('ProblemReportReceived'),
    stderr: expect.stringMatching(
      /is in ProblemReportReceived .* and cannot reach RequestReceived\.\n  Reason: .+\n  Try: agent credential show /,
    ),
  })
})

test('commands wait for record states on the event stream', async () => {
  const { command, lines } = spawn`connection invite --qr none --wait`
  await expect.poll(lines).toHaveLength(1)
  const [url] = lines()
  const accepted =
    await other.run`connection accept ${url!} --wait=connectionRESPONSEReceived --timeout 1m --json`
  expect(accepted.code).toBe(0)
  expect(JSON.parse(accepted.out)).toMatchObject({ state: 'ConnectionResponseReceived', role: 'Invitee' })
  expect(await command).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('ConnectionResponseSent (connected)'),
  })
})

test('a timeout (6) prints the record, its state and the command that shows it', async () => {
  const invited = await user.run`connection invite --wait --timeout 1s --json`
  const [, made, late] = /^(\{[^]*?^\})\n(\{[^]*^\})$/m
    .exec(invited.out)!
    .map((text, index) => (index === 0 ? undefined : JSON.parse(text)))
  expect(late).toMatchObject({ connectionId: made.connectionId, state: 'InvitationGenerated' })
  expect(invited.code).toBe(6)
  expect(JSON.parse(invited.err)).toMatchObject({
    exitCode: 6,
    title: expect.stringContaining(
      'is in InvitationGenerated (waiting for an answer to the invitation) after 1 s',
    ),
    hint: `agent connection show ${made.connectionId}`,
  })
  expect(await user.run`connection invite --wait=Nonsense`).toMatchObject(fails(2, 'is not a state'))
  expect(await user.run`connection invite --timeout 1s`).toMatchObject({ code: 2 })
})
