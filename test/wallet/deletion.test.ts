/** Deleting a wallet: its key, rows and files are gone, also after a crash, and nothing else is. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { adminToken, sharedAgent } from '../support/agent.ts'
import { isOnPostgres } from '../support/store.ts'
import { ask } from '../support/ask.ts'
import { Daemon } from '../support/daemon.ts'
import { dyingAt } from '../support/kill-points.ts'
import { connect, newDid, publishSchema, refusal, until } from '../support/tenants.ts'
import { startWithParty, startWithCredential } from '../flows/_steps.ts'

const remove = (walletId: string) => ({ path: { walletId } })

/** Whether a file of a folder contains a text. */
const isInFiles = (folder: string, text: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text))

const filesOf = (dataDir: string, walletId: string) =>
  readdirSync(join(dataDir, 'wallets')).filter((name) => name.startsWith(walletId))

// It examines SQLite files.
test.skipIf(isOnPostgres)(
  'key, rows and files are removed, and the audit log, schemas and other tenants stay',
  async () => {
    const agent = await sharedAgent()
    const seed = randomBytes(64).toString('hex')
    const { id: walletId } = await agent.admin('POST /wallets', { body: { name: 'acme', seed } })
    const entity = await agent.admin('POST /iam/entities', { body: { name: 'acme', walletId } })
    const apiKey = randomUUID()
    await agent.admin('POST /iam/apikey-authentication', { body: { entityId: entity.id, apiKey } })
    const call = createClient(agent.url, { apikey: apiKey })
    const acme = { walletId, entityId: entity.id, apiKey, url: agent.url, call }
    const bob = await agent.newTenant('bob')
    await connect(bob, acme)
    const schema = await publishSchema(acme, (await newDid(acme, 'assertionMethod')).did)
    await call('POST /presentation-exchange/presentation-definitions', { body: { input_descriptors: [] } })
    const rows = await agent.agent.db
      .selectFrom('wallet')
      .select('wrapped_key')
      .where('id', '=', walletId)
      .execute()
    const wrappedKey = rows[0]!.wrapped_key
    expect(isInFiles(agent.dataDir, wrappedKey)).toBe(true)

    expect(await agent.admin('DELETE /wallets/{walletId}', remove(walletId))).toBe(undefined)

    expect(filesOf(agent.dataDir, walletId)).toEqual([])
    expect(isInFiles(agent.dataDir, wrappedKey)).toBe(false)
    expect(await refusal(call('GET /connections'))).toMatchObject({ status: 401 })
    expect(await refusal(agent.admin('GET /wallets/{walletId}', remove(walletId)))).toMatchObject({
      status: 404,
    })
    expect(await refusal(agent.admin('GET /iam/entities/{id}', { path: { id: entity.id } }))).toMatchObject({
      status: 404,
    })
    expect((await fetch(schema)).status).toBe(200)
    expect((await bob.call('GET /connections')).contents).toHaveLength(1)
    const { contents: audit } = await agent.admin('GET /audit')
    expect(
      audit.filter(({ subject }) => Object.values(subject ?? {}).includes(walletId)).length,
    ).toBeGreaterThan(1)
    expect(await agent.admin('GET /audit/verification')).toMatchObject({ isIntact: true })
    // The seed is free again.
    await agent.admin('POST /wallets', { body: { name: 'acme', seed, id: walletId } })
    expect(await agent.agent.db.selectFrom('presentation_definition').select('id').execute()).toEqual([])
  },
)

test('messages and answers for a deleted wallet are refused as for one that never existed', async () => {
  await using pair = await startWithParty()
  const { agent, tenant, say } = pair
  const { didRequest } = await tenant.call('POST /onboard/did-requests', { body: { from: 'Acme' } })
  expect((await fetch(didRequest.onboardEndpoint)).status).toBe(200)
  await agent.admin('DELETE /wallets/{walletId}', remove(tenant.walletId))
  const answer = await say({
    type: 'https://didcomm.org/basicmessage/2.0/message',
    body: { content: 'hello' },
  })
  expect(answer).toMatchObject({
    status: 422,
    detail: 'No wallet of this agent is the recipient of the message.',
  })
  const link = await fetch(didRequest.onboardEndpoint)
  expect([link.status, (await link.text()).includes(tenant.walletId)]).toEqual([404, false])
})

test('a status list of a deleted wallet is not found', async () => {
  await using pair = await startWithCredential()
  const { agent, issuer, credential } = pair
  const list = JSON.parse(Buffer.from(credential.split('.')[1]!, 'base64url').toString()).vc.credentialStatus
    .statusListCredential
  expect((await fetch(list)).status).toBe(200)
  await agent.admin('DELETE /wallets/{walletId}', remove(issuer.walletId))
  const answer = await ask(agent, `GET ${list}`)
  expect([answer.status, answer.body.type]).toEqual([
    404,
    'error:CredentialStatusListError:StatusListNotFound',
  ])
})

test('the default wallet, a shared wallet and an unknown one are refused, and a tenant may not delete its own', async () => {
  const agent = await sharedAgent()
  const alice = await agent.newTenant('alice')
  await agent.admin('POST /iam/entities', { body: { name: 'second', walletId: alice.walletId } })
  const drop = (walletId: string) => refusal(agent.admin('DELETE /wallets/{walletId}', remove(walletId)))
  expect(await drop('00000000-0000-0000-0000-000000000000')).toMatchObject({
    status: 409,
    detail: expect.stringContaining('DEFAULT_WALLET_ENABLED=false'),
  })
  expect(await drop(alice.walletId)).toMatchObject({
    status: 409,
    detail: expect.stringContaining('2 tenants'),
  })
  expect(await drop(randomUUID())).toMatchObject({ status: 404 })
  expect(await refusal(alice.call('DELETE /wallets/{walletId}', remove(alice.walletId)))).toMatchObject({
    status: 403,
  })
  expect((await alice.call('GET /connections')).contents).toEqual([])
})

test('requests and streams under way end, and the streams of others go on', async () => {
  const agent = await sharedAgent()
  const [alice, bob] = [await agent.newTenant('alice'), await agent.newTenant('bob')]
  const all = await fetch(`${agent.url}/events/stream`, { headers: { 'x-admin-api-key': adminToken } })
  const own = await fetch(`${agent.url}/events/stream`, { headers: { apikey: alice.apiKey } })
  const deleted = new AbortController()
  const statuses = new Set<number>()
  const load = Array.from({ length: 8 }, async () => {
    while (!deleted.signal.aborted)
      statuses.add(
        (await agent.send('POST', '/connections', { headers: { apikey: alice.apiKey }, body: '{}' })).status,
      )
  })
  await until(
    'load',
    () => Promise.resolve(statuses.size),
    (size) => size > 0,
  )
  await agent.admin('DELETE /wallets/{walletId}', remove(alice.walletId))
  deleted.abort()
  await Promise.all(load)
  expect([...statuses].filter((status) => ![201, 401, 404].includes(status))).toEqual([])
  expect(await own.text().catch(() => 'reset')).not.toContain('event: error')
  const next = all.body!.pipeThrough(new TextDecoderStream()).getReader()
  await bob.call('POST /connections', { body: { label: 'still here' } })
  let text = ''
  while (!text.includes('still here')) text += (await next.read()).value
  await next.cancel()
  expect(filesOf(agent.dataDir, alice.walletId)).toEqual([])
})

// It examines SQLite files.
test.skipIf(isOnPostgres)('a deletion that a crash interrupts is completed by the next start', async () => {
  await using daemon = await Daemon.start(dyingAt('wallet-deletion:before'))
  const alice = await daemon.newTenant('alice')
  await alice.call('POST /connections', { body: {} })
  await daemon.admin('DELETE /wallets/{walletId}', remove(alice.walletId)).catch(() => undefined)
  await daemon.ended
  expect(filesOf(daemon.dataDir, alice.walletId)).not.toEqual([])
  daemon.env['FAULTS'] = '{}'
  await daemon.start()
  expect(filesOf(daemon.dataDir, alice.walletId)).toEqual([])
  expect(await refusal(daemon.admin('GET /wallets/{walletId}', remove(alice.walletId)))).toMatchObject({
    status: 404,
  })
})
