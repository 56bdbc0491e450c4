/** The doctor's checks one by one, with states that a running agent cannot easily reach. */
import { chmodSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import type { DidState } from '../../../src/did/prism/state.ts'
import { checkApiUrl, checkDidcommUrl } from '../../../src/operations/doctor/public-addresses.ts'
import { formatDuration, runCheck } from '../../../src/operations/doctor/check.ts'
import { fetchTime, compareClocks } from '../../../src/operations/doctor/clock.ts'
import { checkDataFolder, toDiskFinding } from '../../../src/operations/doctor/data-folder.ts'
import { checkLedger } from '../../../src/operations/doctor/ledger.ts'
import { surveyWallets, type Survey, type Waiting } from '../../../src/operations/doctor/survey.ts'
import { checkReceivers } from '../../../src/operations/doctor/webhook-receivers.ts'
import {
  checkMessages,
  checkOperations,
  checkRecords,
  checkWebhooks,
} from '../../../src/operations/doctor/waiting.ts'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import { UnreachableError } from '../../../src/foundation/net/unreachable-error.ts'
import { appendEvent } from '../../../src/wallet/events/event.ts'
import { dueDeliveries, fail } from '../../../src/wallet/events/deliveries.ts'
import { enqueue } from '../../../src/wallet/outbox/job.ts'
import { startServer } from '../../support/server.ts'
import { startAgent, type TestAgent } from '../../support/agent-from-sources.ts'
import { withDetail } from '../../support/detail.ts'
import { newFolder } from '../../support/folder.ts'

test('a check that throws has failed, with its reason', async () => {
  expect(await runCheck('x', () => Promise.reject(new Error('of the weather')), 10_000)).toEqual({
    name: 'x',
    status: 'failed',
    detail: 'of the weather',
    hint: 'agent daemon logs',
  })
})

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [61_000, '1 min'],
  [7_200_000, '2 h'],
  [200_000_000, '2 d'],
  [-5, '0 ms'],
])('%d ms are %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

describe('a data folder', () => {
  test('that only its owner can access and write is well, and is not changed', async () => {
    const folder = newFolder()
    expect(await checkDataFolder(folder)).toEqual(withDetail('ok', folder))
    expect(readdirSync(folder)).toEqual([])
  })

  test('that does not exist cannot be written', async () => {
    expect(await checkDataFolder('/nowhere/at/all')).toMatchObject(
      withDetail('failed', 'there is no such file or folder'),
    )
  })

  test('that others can access has failed, with the command that restricts it', async () => {
    const folder = newFolder()
    chmodSync(folder, 0o755)
    expect(await checkDataFolder(folder)).toEqual({
      status: 'failed',
      detail: expect.stringContaining('other users have access'),
      hint: `chmod 700 ${folder}`,
    })
  })

  // root can write everywhere.
  test.skipIf(process.getuid?.() === 0)('without write permission has failed', async () => {
    const folder = newFolder()
    chmodSync(folder, 0o500)
    onTestFinished(() => chmodSync(folder, 0o700))
    expect(await checkDataFolder(folder)).toMatchObject({
      status: 'failed',
      hint: expect.stringContaining('chown'),
    })
  })
})

test('a check of many open wallets yields to other work between two wallets', async () => {
  await using agent = await startAgent()
  for (let n = 0; n < 5; n++) await (await agent.newTenant()).call('GET /connections')
  let ticks = 0
  const count = () => {
    ticks++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const { read } = await surveyWallets(agent.agent.wallets, [])
  clearImmediate(next)
  expect(read).toBeGreaterThan(5)
  expect(ticks).toBeGreaterThanOrEqual(read - 1)
})

test('low disk space is reported', () => {
  expect([50e6, 500e6, 5e9].map((free) => toDiskFinding('/data', free).status)).toEqual([
    'failed',
    'warning',
    'ok',
  ])
  expect(toDiskFinding('/data', 50e6)).toMatchObject({
    detail: expect.stringContaining('50 MB'),
    hint: expect.stringMatching(/^du /),
  })
})

describe('a clock', () => {
  const now = Date.parse('2026-11-21T12:00:00.000Z')
  const judge = (clocks: Partial<Parameters<typeof compareClocks>[0]> = {}) =>
    compareClocks({ now, steady: now, ...clocks })

  test('that was not set and agrees with others is well', () => {
    expect(judge()).toMatchObject({ status: 'ok' })
    expect(
      judge({ newest: now - 1, other: { ms: now + 20_000, host: 'ledger.example' }, steady: now - 20_000 }),
    ).toMatchObject(withDetail('ok', 'ledger.example'))
  })

  test('that was set while the agent ran is a warning', () => {
    expect(judge({ steady: now - 3_600_000 })).toMatchObject(withDetail('warning', 'set forward by 1 h'))
    expect(judge({ steady: now + 90_000 })).toMatchObject(withDetail('warning', 'set back by 1 min'))
  })

  test('that differs from the ledger’s is a warning, and a failure above the tolerance of peers', () => {
    const beside = (ms: number) => judge({ other: { ms, host: 'ledger.example' } })
    expect(beside(now + 120_000)).toMatchObject(withDetail('warning', '2 min behind that of ledger.example'))
    expect(beside(now - 3_600_000)).toMatchObject(withDetail('failed', '1 h ahead of that of'))
  })

  test('that is behind stored timestamps has failed', () => {
    expect(judge({ newest: now + 86_400_000 })).toMatchObject(withDetail('failed', '1 d behind'))
  })

  test('of another server is read from the Date header', async () => {
    const date = 'Sat, 21 Nov 2026 12:00:00 GMT'
    await using server = await startServer((_, response) => response.writeHead(404, { date }).end())
    const http = createHttpClient({ allow: 'any' })
    onTestFinished(() => http.close())
    const remote = (await fetchTime(http, server.url))!
    expect(remote.host).toBe(new URL(server.url).host)
    expect(Math.abs(remote.ms - now)).toBeLessThan(5_000)
    expect(await fetchTime({ exchange: () => Promise.reject(new Error('away')) }, server.url)).toBeUndefined()
    expect(
      await fetchTime({ exchange: () => Promise.resolve({ status: 200, text: '' }) }, server.url),
    ).toBeUndefined()
  })
})

describe('a ledger', () => {
  const at = (getState: () => Promise<DidState | undefined>) =>
    checkLedger({ location: 'http://ledger.example', getState })

  test('with impossible data is reported as untrustworthy', async () => {
    expect(await at(() => Promise.resolve({} as DidState))).toMatchObject(
      withDetail('failed', 'cannot exist'),
    )
  })

  test('that fails unexpectedly is a failure of the check', async () => {
    await expect(at(() => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug')
    const down = new Problem('error:ServiceUnavailable', 'It is away.')
    expect(await at(() => Promise.reject(down))).toMatchObject({ status: 'failed', detail: 'It is away.' })
  })
})

describe('a public address', () => {
  const answering = (status: number, body: unknown) => ({
    exchange: () => Promise.resolve({ status, text: JSON.stringify(body) }),
  })
  const health = { version: '1.0.0' }
  const refusal = { status: 400, type: 'error:DIDCommControllerError:InvalidContentType' }

  test.each(['https://agent.example', 'http://192.0.2.1:8085', 'https://localhost.example'])(
    '%s is well',
    async (url) => {
      expect(await checkApiUrl(answering(200, health), url)).toEqual(withDetail('ok', url))
      expect(await checkDidcommUrl(answering(400, refusal), url)).toMatchObject({ status: 'ok' })
    },
  )

  test.each(['http://localhost:1', 'http://127.0.0.2:1', 'http://[::1]:1', 'http://agent.localhost'])(
    '%s is for this machine only',
    async (url) => {
      expect((await checkApiUrl(answering(200, health), url)).status).toBe('warning')
    },
  )

  test('that only this machine can reach, of an agent that others reach: the hint names the variable to set', async () => {
    const found = await checkDidcommUrl(answering(400, refusal), 'http://localhost:8090', '0.0.0.0')
    expect(found).toMatchObject(withDetail('warning', 'contain http://localhost:8090'))
    expect(found.hint).toMatch(/DIDCOMM_SERVICE_URL=http:\/\/[\w.<>]+:8090 agent daemon start/)
    expect((await checkApiUrl(answering(200, health), 'http://127.0.0.1:8085', '192.0.2.7')).hint).toContain(
      'REST_SERVICE_URL=http://192.0.2.7:8085',
    )
  })

  test('with the two ports swapped has failed', async () => {
    expect((await checkApiUrl(answering(404, refusal), 'https://agent.example')).status).toBe('failed')
    expect(
      (await checkDidcommUrl(answering(404, { type: 'error:ResourcePathNotFound' }), 'https://agent.example'))
        .status,
    ).toBe('failed')
  })
})

describe('pending work', () => {
  const now = new Date('2026-11-21T12:00:00.000Z')
  const since = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString()
  const operations = (...waiting: Partial<Waiting>[]) => {
    const operation = { count: 1, since: since(1), walletId: 'w', what: 'did:prism:x' }
    const each = waiting.map((one) => ({ ...operation, ...one }))
    return checkOperations({ operations: each } as Survey, now)
  }

  test('a failing operation is a warning, and after ten minutes a failure', () => {
    expect(operations({ since: since(9), reason: 'It is down.' })).toMatchObject({ status: 'warning' })
    const longer = operations(
      { count: 2, since: since(70) },
      { since: since(11), what: 'did:prism:y', reason: 'It is down.' },
    )
    expect(longer).toMatchObject({ status: 'failed' })
    // The failing operation is reported, not the one that merely waits.
    expect(longer.detail).toMatch(/3 DID operations, since 11 min did:prism:y .* It is down\./)
  })

  test('an operation without errors may take an hour', () => {
    expect([59, 61].map((minutes) => operations({ since: since(minutes) }).status)).toEqual(['ok', 'warning'])
  })

  test('a record is reported a day, and a tenth of its time, before it expires', () => {
    const waiting = (minutes: number, lifetimeDays = 30) => {
      const records = [
        { count: 2, since: since(minutes), walletId: 'w', what: 'issue-credential r-1 in OfferReceived' },
      ]
      return checkRecords({ records, tasks: [] as Waiting[] } as Survey, lifetimeDays * 86_400_000, now)
    }
    expect(waiting(60)).toEqual({
      status: 'ok',
      detail:
        '2 records waiting for a next step, the longest for 1 h: issue-credential r-1 in OfferReceived of the wallet w, which expires in 29 d.',
    })
    expect([29.5, 28.5].map((days) => waiting(days * 1_440).status)).toEqual(['warning', 'ok'])
    expect(waiting(29.5 * 1_440).hint).toMatch(/^agent credential show r-1 /)
    // Where flows expire within an hour, every record would be reported.
    expect(waiting(30, 1 / 24).status).toBe('ok')
  })

  test('a failing task is stuck', () => {
    const tasks = [{ count: 1, since: since(20), walletId: 'w', what: 'present-proof p-1' }]
    expect(checkRecords({ records: [] as Waiting[], tasks } as Survey, 1e9, now)).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('since 20 min present-proof p-1'),
      hint: expect.stringMatching(/^agent proof show p-1 /),
    })
  })
})

describe('the receivers of webhooks', () => {
  const of = (url: string, rest = {}) => ({ walletId: 'w-1', webhookId: 'h-1', url, waiting: 0, ...rest })
  const answering = { exchange: () => Promise.resolve({ status: 405, text: '' }) }
  const away = {
    exchange: () =>
      Promise.reject(new UnreachableError('refused', 'receiver.example could not be reached (ECONNREFUSED)')),
  }
  const check = (given: Partial<Parameters<typeof checkReceivers>[0]>) =>
    checkReceivers({ http: answering, operatorHttp: answering, globalUrl: undefined, webhooks: [], ...given })

  test('are well when any response arrives, or when there are none', async () => {
    expect(await check({})).toEqual({ status: 'ok', detail: 'There are no webhooks.' })
    expect(
      await check({ webhooks: [of('https://receiver.example/a')], globalUrl: 'https://global.example' }),
    ).toMatchObject(withDetail('ok', 'All 2'))
  })

  test('that cannot be reached are a warning, without secrets in the address; the global one has failed', async () => {
    const found = await check({ http: away, webhooks: [of('https://receiver.example/hooks?token=secret')] })
    expect(found).toMatchObject({
      status: 'warning',
      hint: expect.stringMatching(/^agent webhook test h-1 /),
    })
    expect(found.detail).toContain('https://receiver.example of the wallet w-1')
    expect(JSON.stringify(found)).not.toContain('secret')
    expect(
      await check({ operatorHttp: away, globalUrl: 'https://global.example/x?token=secret' }),
    ).toMatchObject({ status: 'failed', detail: expect.not.stringContaining('secret') })
  })

  test('that respond but refused the last event are a warning', async () => {
    const found = await check({
      webhooks: [of('https://receiver.example', { reason: 'The receiver answered 500.', waiting: 3 })],
    })
    expect(found).toMatchObject({
      status: 'warning',
      hint: expect.stringMatching(/^agent webhook deliveries h-1 /),
    })
    expect(found.detail).toContain('answered 500. 3 events are waiting.')
  })
})

describe('a survey', () => {
  let agent: TestAgent
  beforeAll(async () => {
    agent = await startAgent()
    await agent.agent.worker[Symbol.asyncDispose]()
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  const survey = async (walletId: string) => surveyWallets(agent.agent.wallets, [walletId], { maxWallets: 1 })
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

  test('covers the requested number of wallets, those with queued jobs first', async () => {
    await agent.newTenant()
    const { walletId, call } = await agent.newTenant()
    const { longFormDid } = await call('POST /did-registrar/dids', {
      body: { documentTemplate: { publicKeys: [] } },
    })
    const { scheduledOperation } = await call('POST /did-registrar/dids/{didRef}/publications', {
      path: { didRef: longFormDid },
    })
    const total = (await agent.agent.wallets.ids()).length
    expect(
      await surveyWallets(agent.agent.wallets, ['a wallet that is gone', walletId], { maxWallets: 1 }),
    ).toMatchObject({ total, read: 1, operations: [{ walletId, count: 1, what: scheduledOperation.didRef }] })
  })

  test('counts messages that were refused, not those in transit', async () => {
    const { walletId } = await agent.newTenant()
    const message = { type: 'https://didcomm.org/empty/1.0/empty', body: {} }
    const job = {
      kind: 'message' as const,
      protocol: 'connection',
      recordId: 'r-1',
      from: 'did:peer:2.a',
      to: 'did:peer:2.b',
      message,
    }
    await agent.agent.wallets.use(walletId, (wallet) =>
      wallet.transaction(async (tx) => {
        const id = await enqueue(tx, 'queue', job)
        await enqueue(tx, 'queue', job)
        await tx
          .updateTable('job')
          .set({ attempts: 3, created_at: hoursAgo(2) })
          .where('id', '=', id)
          .execute()
      }),
    )
    const found = checkMessages(await survey(walletId))
    expect(found).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/: 1 message, for 2 h one of connection r-1 /),
    })
    expect(found.detail).toContain(walletId)
  })

  test('counts the dead letters of a day', async () => {
    const { walletId, call } = await agent.newTenant()
    const { id } = await call('POST /events/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
    const deadLetters = [
      [25, 'long ago'],
      [3, 'earlier'],
      [2, 'last'],
    ] as const
    await agent.agent.wallets.use(walletId, (wallet) =>
      wallet.transaction(async (tx) => {
        for (const [hours, error] of deadLetters) {
          await appendEvent(tx, { type: 'ConnectionUpdated', subject: 'thread', data: {} })
          const delivery = (await dueDeliveries(tx, walletId)).deliveries[0]!
          await fail(
            tx,
            { ...delivery, attempts: 2 },
            { attemptedAt: new Date(hoursAgo(hours)), durationMs: 1, error },
          )
        }
      }),
    )
    const found = checkWebhooks(await survey(walletId))
    expect(found).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/: 2 events, the last 2 h ago for the webhook .*: last$/),
    })
    expect(found.detail).toContain(id)
    const { webhooks } = await survey(walletId)
    expect(webhooks).toEqual([
      { walletId, webhookId: id, url: 'http://127.0.0.1:9/', waiting: 0, reason: 'last' },
    ])
  })

  test('counts waiting records and finds the one that waits longest', async () => {
    const { walletId, call } = await agent.newTenant()
    const ask = () => call('POST /present-proof/presentations/invitation', { body: { proofs: [] } })
    const { presentationId } = await ask()
    await ask()
    const { records, newest } = await survey(walletId)
    expect(records).toMatchObject([
      { walletId, count: 2, what: `present-proof ${presentationId} in InvitationGenerated` },
    ])
    expect(Math.abs(Date.parse(newest!) - Date.now())).toBeLessThan(60_000)
  })
})
