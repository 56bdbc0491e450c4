/** The doctor's checks one by one, with what cannot be had by waiting. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import type { DidState } from '../../src/did/prism/state.ts'
import { checkApiUrl, checkDidcommUrl } from '../../src/doctor/address.ts'
import { lasting, run } from '../../src/doctor/check.ts'
import { checkDataFolder, judgeRoom } from '../../src/doctor/data-folder.ts'
import { checkLedger } from '../../src/doctor/ledger.ts'
import { surveyWallets, type Survey, type Waiting } from '../../src/doctor/survey.ts'
import { checkMessages, checkOperations, checkWebhooks } from '../../src/doctor/waiting.ts'
import { putEvent } from '../../src/outbox/event.ts'
import { dueDeliveries, failed } from '../../src/outbox/lane.ts'
import { put } from '../../src/outbox/outbox.ts'
import { startAgent, type TestAgent } from '../_agent.ts'

test('a check that throws has failed, with its reason', async () => {
  expect(await run('x', () => Promise.reject(new Error('of the weather')), 10_000)).toEqual({
    name: 'x',
    status: 'failed',
    detail: 'of the weather',
  })
})

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [61_000, '1 min'],
  [7_200_000, '2 h'],
  [200_000_000, '2 d'],
  [-5, '0 ms'],
])('%d ms are %s', (ms, text) => expect(lasting(ms)).toBe(text))

test('a folder that is not there cannot be written, and little room is told', async () => {
  expect(await checkDataFolder('/nowhere/at/all')).toMatchObject({ status: 'failed', detail: expect.stringContaining('ENOENT') })
  expect([50e6, 500e6, 5e9].map((free) => judgeRoom('/data', free).status)).toEqual(['failed', 'warning', 'ok'])
})

describe('a ledger', () => {
  const at = (getState: () => Promise<DidState | undefined>) => checkLedger({ location: 'http://ledger.example', getState })

  test('that shows what cannot exist lies', async () => {
    expect(await at(() => Promise.resolve({} as DidState))).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('cannot exist'),
    })
  })

  test('that fails in a way nobody foresaw is a failure of the check', async () => {
    await expect(at(() => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug')
    const down = new Problem('error:ServiceUnavailable', 'It is away.')
    expect(await at(() => Promise.reject(down))).toMatchObject({ status: 'failed', detail: 'It is away.' })
  })
})

describe('a public address', () => {
  const answering = (status: number, body: unknown) => ({ exchange: () => Promise.resolve({ status, text: JSON.stringify(body) }) })
  const health = { version: '1.0.0' }
  const refusal = { status: 400, type: 'error:DIDCommControllerError:InvalidContentType' }

  test.each(['https://agent.example', 'http://192.0.2.1:8085', 'https://localhost.example'])('%s is well', async (url) => {
    expect(await checkApiUrl(answering(200, health), url)).toEqual({ status: 'ok', detail: expect.stringContaining(url) })
    expect(await checkDidcommUrl(answering(400, refusal), url)).toMatchObject({ status: 'ok' })
  })

  test.each(['http://localhost:1', 'http://127.0.0.2:1', 'http://[::1]:1', 'http://agent.localhost'])(
    '%s is for this machine only',
    async (url) => {
      expect((await checkApiUrl(answering(200, health), url)).status).toBe('warning')
    },
  )

  test('at which the two ports are mixed up has failed', async () => {
    expect((await checkApiUrl(answering(404, refusal), 'https://agent.example')).status).toBe('failed')
    expect((await checkDidcommUrl(answering(404, { type: 'error:ResourcePathNotFound' }), 'https://agent.example')).status).toBe('failed')
  })
})

describe('what waits', () => {
  const now = new Date('2026-11-21T12:00:00.000Z')
  const since = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()
  const operations = (...waiting: Partial<Waiting>[]) => {
    const each = waiting.map((one) => ({ count: 1, since: since(1), walletId: 'w', what: 'did:prism:x', ...one }))
    return checkOperations({ operations: each } as Survey, now)
  }

  test('an operation in whose way something stands is a warning, and after ten minutes a failure', () => {
    expect(operations({ since: since(9), reason: 'It is down.' })).toMatchObject({ status: 'warning' })
    const longer = operations({ count: 2, since: since(70) }, { since: since(11), what: 'did:prism:y', reason: 'It is down.' })
    expect(longer).toMatchObject({ status: 'failed' })
    // The one that fails is told of, and not the one that merely waits.
    expect(longer.detail).toMatch(/3 DID operations, since 11 min did:prism:y .* It is down\./)
  })

  test('an operation that nothing stands in the way of may take an hour', () => {
    expect([59, 61].map((minutes) => operations({ since: since(minutes) }).status)).toEqual(['ok', 'warning'])
  })
})

describe('a survey', () => {
  let agent: TestAgent
  beforeAll(async () => {
    agent = await startAgent()
    await agent.agent.courier[Symbol.asyncDispose]()
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  const survey = async (walletId: string) => surveyWallets(agent.agent.wallets, [walletId], { most: 1 })
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

  test('is of as many wallets as are asked for, first those that owe something', async () => {
    await agent.newTenant()
    const { walletId, call } = await agent.newTenant()
    const { longFormDid } = await call('POST /did-registrar/dids', { body: { documentTemplate: { publicKeys: [] } } })
    const { scheduledOperation } = await call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: longFormDid } })
    const total = (await agent.agent.wallets.ids()).length
    expect(await surveyWallets(agent.agent.wallets, ['a wallet that is gone', walletId], { most: 1 })).toMatchObject({
      total,
      seen: 1,
      operations: [{ walletId, count: 1, what: scheduledOperation.didRef }],
    })
  })

  test('counts messages that were not taken, and not those that are on their way', async () => {
    const { walletId } = await agent.newTenant()
    const message = { type: 'https://didcomm.org/empty/1.0/empty', body: {} }
    const debt = { kind: 'message' as const, protocol: 'connection', recordId: 'r-1', from: 'did:peer:2.a', to: 'did:peer:2.b', message }
    await agent.agent.wallets.use(walletId, (wallet) =>
      wallet.transaction(async (tx) => {
        const id = await put(tx, 'lane', debt)
        await put(tx, 'lane', debt)
        await tx
          .updateTable('outbox')
          .set({ attempts: 3, created_at: hoursAgo(2) })
          .where('id', '=', id)
          .execute()
      }),
    )
    const found = checkMessages(await survey(walletId))
    expect(found).toMatchObject({ status: 'warning', detail: expect.stringMatching(/: 1 message, since 2 h one of connection r-1 /) })
    expect(found.detail).toContain(walletId)
  })

  test('counts the dead letters of a day', async () => {
    const { walletId, call } = await agent.newTenant()
    const { id } = await call('POST /events/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
    const letters = [
      [25, 'long ago'],
      [3, 'earlier'],
      [2, 'last'],
    ] as const
    await agent.agent.wallets.use(walletId, (wallet) =>
      wallet.transaction(async (tx) => {
        for (const [hours, error] of letters) {
          await putEvent(tx, { type: 'ConnectionUpdated', subject: 'thread', data: {} })
          const delivery = (await dueDeliveries(tx, walletId)).deliveries[0]!
          await failed(tx, { ...delivery, attempts: 2 }, { attemptedAt: new Date(hoursAgo(hours)), durationMs: 1, error })
        }
      }),
    )
    const found = checkWebhooks(await survey(walletId))
    expect(found).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/: 2 events, the last 2 h ago for the webhook .*: last$/),
    })
    expect(found.detail).toContain(id)
  })
})
