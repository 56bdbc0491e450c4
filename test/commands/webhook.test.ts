/** `agent webhook` against a real agent and real receivers. */
import { Webhook } from 'standardwebhooks'
import { afterAll, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { until } from '../support/tenants.ts'
import { openReceiver } from '../support/receiver.ts'
import { fails, type Line, newUser, prints, words } from './_cli.ts'
import { untilEnd } from '../support/shared.ts'

const noId = '00000000-0000-4000-8000-000000000000'

const agent = await untilEnd(startAgent())
const user = newUser()
const receiver = await untilEnd(openReceiver())
const refusing = await untilEnd(openReceiver((response) => response.writeHead(503).end()))
afterAll(async () => {
  user.remove()
})

const run = (...line: Line) =>
  user.as({ AGENT_URL: agent.url, AGENT_API_KEY: agent.agent.defaultApiKey!.reveal() })
    .run`webhook ${words(...line)}`
const json = async (...line: Line) => JSON.parse((await run([...words(...line), '--json'])).out)

test('a webhook is signed, tested and gets a new secret; secrets are printed once', async () => {
  const added = await run`add ${receiver.url} --signed --headers ${'{"authorization":"Bearer canary"}'}`
  expect(added).toMatchObject({
    code: 0,
    out: expect.stringContaining('whsec_'),
    err: expect.stringContaining('agent webhook test'),
  })
  // Header values are mostly secrets, and were typed into the command.
  expect(added.err).toContain('--headers @headers.json')
  const [[id], [secret]] = [/[0-9a-f-]{36}/.exec(added.out)!, /whsec_\S+/.exec(added.out)!]
  expect((await run`list`).out).not.toMatch(/whsec_|canary/)
  expect(await run`test ${id}`).toMatchObject({ code: 0, out: expect.stringMatching(/accepted +yes/) })
  const renewed = await json`secret ${id}`
  expect(renewed).toEqual({
    id,
    secret: expect.stringMatching(/^whsec_/),
    previousUntil: expect.any(String),
  })
  expect(await json`test ${id} --type PresentationUpdated`).toMatchObject({ status: 200 })
  const verify = (n: number, known: string) =>
    new Webhook(known).verify(receiver.bodies[n]!, receiver.requests[n]!.headers as Record<string, string>)
  expect(verify(0, secret)).toMatchObject({ data: { test: true } })
  expect([verify(1, secret), verify(1, renewed.secret)]).toMatchObject([
    { type: 'PresentationUpdated' },
    { type: 'PresentationUpdated' },
  ])
  expect((await run`secret ${id} --remove`).code).toBe(2)
  expect(await json`secret ${id} --remove --yes`).toEqual({ id, signed: false })
  expect((await run`remove ${id} --yes`).code).toBe(0)
})

test('a webhook can be for some types of events; an unknown one is refused with one like it', async () => {
  const added = await run`add ${receiver.url} --type PresentationUpdated --type ConnectionUpdated`
  expect(added).toMatchObject(prints(0, /^events +PresentationUpdated, ConnectionUpdated$/m))
  const id = /[0-9a-f-]{36}/.exec(added.out)![0]
  expect((await run`show ${id}`).out).toMatch(/^events +ConnectionUpdated, PresentationUpdated$/m)
  expect((await run`list`).out).toMatch(/EVENTS.*\n.*ConnectionUpdated PresentationUpdated/)
  expect(await run`add ${receiver.url} --type connection`).toMatchObject(
    fails(2, /--type is "connection"; it must be .*DIDStatusUpdated.* Did you mean ConnectionUpdated\?/),
  )
  await run`remove ${id} --yes`
})

test('a rejecting receiver fails the test (1), and its attempts are listed', async () => {
  const id = (await run`add ${refusing.url} -q`).out
  expect(await run`test ${id}`).toMatchObject(prints(1, 'The receiver answered 503.'))
  const listed = await run`deliveries ${id}`
  expect(listed).toMatchObject(prints(0, /failed +The receiver answered 503\./))
  expect((await json`deliveries ${id} --outcome failed`).contents).toMatchObject([
    { kind: 'test', status: 503 },
  ])
  expect(await run`deliveries ${id} --outcome delivered`).toMatchObject({ code: 0, out: '' })
  await run`remove ${id} --yes`
})

test('events are redelivered: one, all since a time, or those abandoned', async () => {
  const id = (await run`add ${receiver.url} -q`).out
  const before = receiver.bodies.length
  await agent.tenant('POST /connections', { body: {} })
  const { contents } = await until(
    'the delivery',
    () => json`deliveries ${id}`,
    (page) => page.contents.length === 1,
  )
  const eventId: string = contents[0].eventId
  expect(await run`replay ${id} --event ${eventId}`).toMatchObject(prints(0, '1 event'))
  await until(
    'the replay',
    () => Promise.resolve(receiver.bodies.length),
    (count) => count === before + 2,
  )
  expect(await json`replay ${id} --since 1h`).toEqual({ id, count: 1 })
  expect(await json`replay ${id} --since 2100-01-01T00:00:00Z`).toEqual({ id, count: 0 })
  expect(await json`replay ${id} --failed`).toEqual({ id, count: 0 })
  await until(
    'the second replay',
    async () => (await run`deliveries ${id} -q`).out,
    (out) => out === [eventId, eventId, eventId].join('\n'),
  )
  await run`remove ${id} --yes`
})

test.each([
  [2, ['replay', noId]],
  [2, ['replay', noId, '--failed', '--since', '1h']],
  [2, ['replay', noId, '--since', 'yesterday']],
  [2, ['secret', noId, '--yes']],
  [3, ['replay', noId, '--failed']],
  [3, ['deliveries', noId]],
  [3, ['test', noId]],
])('exits with %d: %j', async (code, args) => {
  expect((await run(args)).code).toBe(code)
})
