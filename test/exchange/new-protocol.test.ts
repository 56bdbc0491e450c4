/** A new protocol needs its states, its flow, and one line in each of the two lists of protocols. */
import { resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { built } from '../support/built.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { connect, refusal, until, type Tenant } from '../support/tenants.ts'
import { openReceiver } from '../support/receiver.ts'
import { loadWith, type Overlay } from '../support/overlay.ts'

/** The two lists with the protocol in `toy/`. */
const overlay: Overlay = {
  'src/definitions/protocols.ts': (text) =>
    `import { toyStates } from '${resolve('test/exchange/toy/states.ts')}'\n` +
    text.replace('presentationStates]', 'presentationStates, toyStates]'),
  'src/exchange/all-protocols.ts': (text) =>
    `import { toyFlow } from '${resolve('test/exchange/toy/flow.ts')}'\n` +
    text.replace('presentationFlow]', 'presentationFlow, toyFlow]'),
}

/** An agent and functions of the command line that know the protocol. */
const entry = `
  export * from './daemon/bundle.ts'
  export * from './test/exchange/toy/flow.ts'
  export { removeRecord } from './src/exchange/engine/remove.ts'
  export { eventTypes, toRecordQuery } from './cli/input/filters.ts'
  export { expectedStates, explain, nextCommand } from './cli/format/states.ts'
`
type Parts = typeof built &
  typeof import('./toy/flow.ts') &
  Pick<typeof import('../../src/exchange/engine/remove.ts'), 'removeRecord'> &
  Pick<typeof import('../../cli/format/states.ts'), 'expectedStates'> &
  Pick<typeof import('../../cli/input/filters.ts'), 'eventTypes'> & {
    explain: (topic: string, state: string) => string
    nextCommand: (topic: string, state: string, id: string) => string | undefined
    toRecordQuery: (topic: string, flags: object) => object
  }

const program = await loadWith(entry, overlay)
const parts = program.parts as Parts
afterAll(() => program.dispose())

const use = <T>(
  { agent }: TestAgent,
  { walletId }: Tenant,
  work: Parameters<typeof agent.wallets.use<T>>[1],
) => agent.wallets.use(walletId, work)

/** Two connected tenants, and a received request of the first one. */
async function startAsked() {
  const agent = await startAgent({}, { parts })
  const [asker, answerer] = [await agent.newTenant('asker'), await agent.newTenant('answerer')]
  const { inviterConnectionId } = await connect(asker, answerer)
  const { id, thid } = await use(agent, asker, (wallet) => parts.ask(wallet, inviterConnectionId))
  await until(
    'the request',
    () => statesOf(answerer, thid),
    (states) => states.length === 1,
  )
  return { agent, asker, answerer, id, thid, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() }
}

/** The states of the thread, by the events of a wallet. */
async function statesOf({ call }: Tenant, thid: string) {
  const { contents } = await call('GET /events', { query: { type: 'ToyUpdated' as never, thid } })
  return contents.map(({ data }) => data['state'])
}

test('a request is answered: with events, webhooks and a trace', async () => {
  await using flow = await startAsked()
  const { agent, asker, answerer, id, thid } = flow
  await using receiver = await openReceiver()
  await asker.call('POST /events/webhooks', { body: { url: receiver.url } })
  const waiting = await answerer.call('GET /traces/{id}', { path: { id: thid } })
  expect(waiting.pending).toMatchObject([{ what: 'decision', topic: 'toy', state: 'Requested' }])

  await use(agent, answerer, (wallet) => parts.answer(wallet, thid, false))
  await until(
    'the webhook',
    () => Promise.resolve(receiver.bodies),
    ({ length }) => length === 1,
  )
  expect(JSON.parse(receiver.bodies[0]!)).toMatchObject({
    type: 'ToyUpdated',
    data: { toyId: id, thid, role: 'Asker', state: 'Done' },
  })
  expect(await statesOf(asker, thid)).toEqual(['Requested', 'Done'])
  const trace = await asker.call('GET /traces/{id}', { path: { id } })
  expect(trace.records).toEqual([{ topic: 'toy', id, role: 'Asker', state: 'Done' }])
  expect(trace.steps.filter(({ kind }) => kind === 'state')).toMatchObject([
    { topic: 'toy', recordId: id, to: 'Requested' },
    { topic: 'toy', recordId: id, from: 'Requested', to: 'Done' },
  ])
})

test('a problem report ends the flow, and a record can be removed', async () => {
  await using flow = await startAsked()
  const { agent, asker, answerer, id, thid } = flow
  await use(agent, answerer, (wallet) => parts.answer(wallet, thid, true))
  await until(
    'the report',
    () => statesOf(asker, thid),
    (states) => states.includes('Refused'),
  )
  const { records } = await asker.call('GET /traces/{id}', { path: { id } })
  expect(records).toMatchObject([{ topic: 'toy', state: 'Refused', failure: 'Problem report' }])

  await use(agent, asker, (wallet) => parts.removeRecord(wallet, parts.toy, id))
  expect(
    await use(agent, asker, ({ db }) => db.selectFrom('record').select('id').where('id', '=', id).execute()),
  ).toEqual([])
  expect(
    await refusal(
      use(agent, asker, (wallet) => parts.removeRecord(wallet, parts.toy, id)).catch((problem) =>
        Promise.reject({ problem }),
      ),
    ),
  ).toMatchObject({ type: 'NotFound' })
})

test('the command line knows states, roles, commands and events', () => {
  expect(parts.explain('toy', 'Requested')).toBe('Requested (waiting for your answer)')
  expect(parts.nextCommand('toy', 'Requested', '1')).toBe('agent toy answer 1')
  expect(parts.expectedStates('toy answer')).toEqual(['Requested'])
  expect(parts.eventTypes).toContain('ToyUpdated')
  const flags = { limit: 1, offset: 0, role: 'asker', state: 'done' }
  expect(parts.toRecordQuery('toy', flags)).toMatchObject({ role: 'Asker', state: 'Done' })
})
