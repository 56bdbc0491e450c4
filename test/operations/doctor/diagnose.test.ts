/** `GET /_system/doctor`: results for an intact agent, and for faults of a ledger, a wallet or an address. */
import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diagnoseAgent } from '../../../src/operations/doctor/diagnose.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { adminToken, startAgent, type TestAgent } from '../../support/agent.ts'
import { until } from '../../support/tenants.ts'
import { startServer } from '../../support/server.ts'
import { withDetail } from '../../support/detail.ts'
import { newFolder } from '../../support/folder.ts'

const template = { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'assertionMethod' as const }] } }

async function checksOf({ admin }: TestAgent) {
  const { checks } = await admin('GET /_system/doctor')
  return Object.fromEntries(checks.map(({ name, ...finding }) => [name, finding]))
}

async function publishOne(agent: TestAgent) {
  const { call, walletId } = await agent.newTenant()
  const { longFormDid } = await call('POST /did-registrar/dids', { body: template })
  const { scheduledOperation } = await call('POST /did-registrar/dids/{didRef}/publications', {
    path: { didRef: longFormDid },
  })
  return { call, walletId, did: scheduledOperation.didRef }
}

/** An address of this machine without a listener. */
async function nowhere(): Promise<string> {
  await using server = await startServer(() => undefined)
  return server.url
}

test('an intact agent has no failures, and addresses that only this machine reaches are a warning', async () => {
  await using agent = await startAgent()
  const { disk, ...others } = await checksOf(agent)
  expect(disk!.detail).toContain(agent.dataDir)
  expect(Object.entries(others).map(([name, { status }]) => [name, status])).toEqual([
    ['packages', 'ok'],
    ['ports', 'ok'],
    ['data-folder', 'ok'],
    ['master-key', 'ok'],
    ['databases', 'ok'],
    ['ledger', 'ok'],
    ['api-url', 'warning'],
    ['didcomm-url', 'warning'],
    ['openid4vci', 'ok'],
    ['document-elements', 'ok'],
    ['bearer-deferral', 'ok'],
    ['outgoing-calls', 'ok'],
    ['known-address', 'ok'],
    ['clock', 'ok'],
    ['wallets', 'ok'],
    ['issuer-certificates', 'ok'],
    ['trust-lists', 'ok'],
    ['held-credentials', 'ok'],
    ['did-operations', 'ok'],
    ['messages', 'ok'],
    ['records', 'ok'],
    ['webhooks', 'ok'],
    ['webhook-targets', 'ok'],
  ])
  expect(others['ports']!.detail).toContain(new URL(agent.url).port)
  // agent.db, the ledger, the audit log and the default wallet.
  expect(others['databases']!.detail).toBe('4 database files are sound.')
  expect(others['ledger']!.detail).toContain(join(agent.dataDir, 'vdr.db'))
  expect(others['outgoing-calls']!.detail).toContain(
    'and this machine’s, because the whole deployment is on this machine.',
  )
  expect(others['api-url']!.hint).toContain('REST_SERVICE_URL')
  expect(others['didcomm-url']!.hint).toContain('DIDCOMM_SERVICE_URL')
})

test('a deep examination returns the same checks', async () => {
  await using agent = await startAgent()
  const { checks } = await agent.admin('GET /_system/doctor', { query: { deep: 'true' } })
  expect(checks.find(({ name }) => name === 'databases')).toMatchObject({
    status: 'ok',
    detail: '4 database files are sound.',
  })
})

test('only the administrator may call it', async () => {
  await using agent = await startAgent()
  await expect(agent.tenant('GET /_system/doctor')).rejects.toMatchObject({ problem: { status: 403 } })
  expect((await agent.send('GET', '/_system/doctor')).status).toBe(401)
})

test('an unreachable ledger has failed by name, and explains why a publication waits', async () => {
  const VDR_URL = await nowhere()
  await using agent = await startAgent({ VDR_URL })
  const { call, walletId, did } = await publishOne(agent)
  await until(
    'the reason of the wait',
    () => call('GET /did-registrar/dids/{didRef}', { path: { didRef: did } }),
    ({ metaLastFailure }) => metaLastFailure !== undefined,
  )
  expect(agent.agent.worker.busy()).toEqual([walletId])
  const checks = await checksOf(agent)
  expect(checks['ledger']).toEqual({
    status: 'failed',
    detail: expect.stringContaining(VDR_URL),
    hint: expect.stringContaining('VDR_URL'),
  })
  expect(checks['did-operations']).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/: 1 DID operation,/),
  })
  for (const part of [did, walletId, VDR_URL]) expect(checks['did-operations']!.detail).toContain(part)
})

test('a ledger that times out has failed, and delays no other check', async () => {
  await using mute = await startServer(() => undefined)
  await using agent = await startAgent({ VDR_URL: mute.url })
  const { checks } = await diagnoseAgent(agent.agent, { limitMs: 1_000 })
  expect(checks.find(({ name }) => name === 'ledger')).toMatchObject(withDetail('failed', 'within 1 s'))
  expect(checks.find(({ name }) => name === 'wallets')).toMatchObject({ status: 'ok' })
})

test('an operation that the ledger has not finished yet is reported, and is not a fault', async () => {
  await using agent = await startAgent({ VDR_CONFIRM_AFTER: '3600' })
  const { did } = await publishOne(agent)
  expect((await checksOf(agent))['did-operations']).toEqual(withDetail('ok', did))
})

test('a wallet with a damaged file is named, and the others are well', async () => {
  const dataDir = newFolder()
  const damaged = await (async () => {
    await using agent = await startAgent({}, { dataDir })
    await agent.newTenant()
    return (await agent.newTenant()).walletId
  })()
  writeFileSync(
    join(dataDir, 'wallets', `${damaged}.db`),
    'no database, for longer than the hundred bytes of a header'.repeat(5),
  )
  await using agent = await startAgent({}, { dataDir })
  const checks = await checksOf(agent)
  expect(checks['wallets']).toMatchObject(withDetail('failed', `wallets/${damaged}.db`))
  expect(checks['did-operations']!.status).toBe('ok')
})

test('a damaged open database is named, and all tenants are served meanwhile', async () => {
  await using agent = await startAgent()
  const path = join(agent.dataDir, 'vdr.db')
  // Pages in the WAL override the file: only checkpointed pages can be read wrongly.
  await publishOne(agent)
  const database = openSqlite(path)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  const size = statSync(path).size
  const file = openSync(path, 'r+')
  for (let at = 4_096; at < size; at += 4_096) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, at)
  closeSync(file)
  const { databases } = await checksOf(agent)
  expect(databases).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('vdr.db'),
    hint: expect.stringMatching(/^agent daemon stop/),
  })
})

test('a master key that is missing, wrong or readable by others has failed while the agent still runs', async () => {
  await using agent = await startAgent()
  const path = join(agent.dataDir, 'master.key')
  const key = readFileSync(path)
  chmodSync(path, 0o644)
  expect((await checksOf(agent))['master-key']).toMatchObject({ status: 'failed', hint: `chmod 600 ${path}` })
  writeFileSync(path, Buffer.alloc(32, 7).toString('base64url'))
  expect((await checksOf(agent))['master-key']).toMatchObject(withDetail('failed', 'does not belong'))
  rmSync(path)
  const gone = (await checksOf(agent))['master-key']!
  expect(gone).toMatchObject(withDetail('failed', path))
  for (const secret of [key.toString().trim(), Buffer.alloc(32, 7).toString('base64url')])
    expect(JSON.stringify(gone)).not.toContain(secret)
})

test('an unreachable webhook receiver is reported with its wallet and webhook', async () => {
  await using agent = await startAgent()
  const { call, walletId } = await agent.newTenant()
  const { id } = await call('POST /events/webhooks', {
    body: { url: `${await nowhere()}/hook?token=hidden` },
  })
  const targets = (await checksOf(agent))['webhook-targets']!
  expect(targets).toMatchObject({ status: 'warning', hint: expect.stringContaining(id) })
  expect(targets.detail).toContain(walletId)
  expect(targets.detail).not.toContain('hidden')
})

test('public addresses that lead nowhere, or to another agent, have failed', async () => {
  await using other = await startServer((_, response) => response.writeHead(200).end('welcome'))
  const REST_SERVICE_URL = await nowhere()
  await using agent = await startAgent({ REST_SERVICE_URL, DIDCOMM_SERVICE_URL: other.url })
  const checks = await checksOf(agent)
  expect(checks['api-url']).toMatchObject(withDetail('failed', `${REST_SERVICE_URL} cannot be reached`))
  expect(checks['didcomm-url']).toMatchObject(withDetail('failed', 'Another server replies'))
})

test('the report contains no secret', async () => {
  const secrets = {
    GLOBAL_WEBHOOK_API_KEY: 'a-secret-of-webhooks',
    DEFAULT_WALLET_AUTH_API_KEY: 'a-secret-of-a-tenant',
  }
  await using agent = await startAgent({
    ...secrets,
    GLOBAL_WEBHOOK_URL: await nowhere(),
    VDR_URL: await nowhere(),
  })
  const report = JSON.stringify(await agent.admin('GET /_system/doctor'))
  for (const secret of [adminToken, ...Object.values(secrets)]) expect(report).not.toContain(secret)
})
