/** The points of the fault tests: their order, and the effect of faults before and after a step. */
import { afterEach, expect, test } from 'vitest'
import type { Probe } from '../../src/foundation/probe.ts'
import { startAgent } from '../support/agent.ts'
import { connect, connectionIn, oobOf, refusal, startPair } from '../support/tenants.ts'
import { openReceiver } from '../support/receiver.ts'

const place = Symbol.for('identity-agent.probe')
const setProbe = (probe: Probe) => Object.assign(globalThis, { [place]: probe })

afterEach(() => void Reflect.deleteProperty(globalThis, place))

/** Throws at the first pass of a point. */
function failOnceAt(wanted: string): void {
  let isDone = false
  setProbe((point) => {
    if (point !== wanted || isDone) return
    isDone = true
    throw new Error(`a fault at ${point}`)
  })
}

test('every crossing reaches its two points, one after the other, and waits for what the function returns', async () => {
  await using pair = await startPair({}, startAgent)
  await using receiver = await openReceiver()
  await pair.issuer.call('POST /events/webhooks', { body: { url: receiver.url } })
  const points: string[] = []
  const waited: string[] = []
  setProbe(async (point) => {
    points.push(point)
    await new Promise((resolve) => setImmediate(resolve))
    waited.push(point)
  })
  await connect(pair.issuer, pair.holder)
  await pair.agent.agent.env
    .getSchema(`${pair.agent.url}/schema-registry/schemas/none`)
    .catch(() => undefined)
  expect(new Set(points)).toEqual(
    new Set([
      'commit:before',
      'commit:after',
      'message:before',
      'message:after',
      'webhook:before',
      'webhook:after',
      'schema:before',
    ]),
  )
  expect(waited.length).toBeGreaterThan(0)
})

test('a fault before a commit stores nothing, one after it stores everything', async () => {
  await using agent = await startAgent()
  const { call } = await agent.newTenant()
  const invite = () => call('POST /connections', { body: { label: 'peer' } })
  const count = async () => (await call('GET /connections')).contents.length
  failOnceAt('commit:before')
  expect((await refusal(invite())).status).toBe(500)
  expect(await count()).toBe(0)
  failOnceAt('commit:after')
  expect((await refusal(invite())).status).toBe(500)
  expect(await count()).toBe(1)
})

test('a message that was sent although its sender saw an error is processed once', async () => {
  await using pair = await startPair({}, startAgent)
  const { issuer, holder } = pair
  failOnceAt('message:after')
  const made = await issuer.call('POST /connections', { body: {} })
  await holder.call('POST /connection-invitations', { body: { invitation: oobOf(made) } })
  await connectionIn(holder.call, made.thid, 'ConnectionResponseReceived')
  // Its sender retries, possibly not yet.
  await connectionIn(issuer.call, made.thid, 'ConnectionResponseSent')
  expect((await issuer.call('GET /connections')).contents).toHaveLength(1)
})
