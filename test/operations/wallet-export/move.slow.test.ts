/** `agent wallet move`: from SQLite files to PostgreSQL and back. */
import { readdirSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../../daemon/client/client.ts'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { adminToken } from '../../support/api.ts'
import { fails, newUser, prints, words } from '../../commands/_cli.ts'
import { newFolder } from '../../support/folder.ts'
import { missingPostgres } from '../../support/postgres-programs.ts'
import { openServer } from '../../support/shared-postgres.ts'
import { connect, issue, newDid, until, type Tenant } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { openFront } from './_front.ts'

async function newKey(agent: TestAgent, walletId: string): Promise<Tenant['call']> {
  const entity = await agent.admin('POST /iam/entities', { body: { name: 'moved', walletId } })
  const path = { id: entity.id }
  const { apiKey } = await agent.admin('POST /iam/entities/{id}/api-keys', { path, body: {} })
  return createClient(agent.url, { apikey: apiKey })
}

/** What the tenant has: without the fields that name the agent. */
const contentsOf = async (call: Tenant['call']) => ({
  connections: (await call('GET /connections')).contents.map(({ self: _self, ...each }: any) => each),
  messages: (await call('GET /messages', { query: {} })).contents,
  records: (await call('GET /issue-credentials/records')).contents.map(
    ({ self: _self, ...each }: any) => each,
  ),
  events: (await call('GET /events', { query: { limit: 1_000 } })).contents,
  webhooks: (await call('GET /events/webhooks')).contents.map(({ id, url }: any) => ({ id, url })),
})

test('a wallet keeps all it has, there and back; messages, events and webhooks continue', async ({
  skip,
}) => {
  skip(missingPostgres !== undefined, missingPostgres)
  await using front = await openFront()
  await using hook = await Webhook.open()
  const server = await openServer()
  const ledger = { VDR_URL: `sqlite:${join(newFolder(), 'vdr.db')}` }
  const urls = { REST_SERVICE_URL: front.restUrl, DIDCOMM_SERVICE_URL: front.didcommUrl, ...ledger }
  await using files = await startAgent({ ...urls, AGENT_DATABASE_URL: '' })
  await using rows = await startAgent({
    ...urls,
    AGENT_DATABASE_URL: await server.createDatabase(),
    AGENT_MASTER_KEY: Buffer.alloc(32, 7).toString('base64url'),
  })
  await using peer = await startAgent(ledger)
  front.leadTo(files)
  const [issuer, holder] = [await files.newTenant('issuer'), await peer.newTenant('holder')]
  const { walletId } = issuer
  await issuer.call('POST /events/webhooks', { body: { url: hook.url } })
  const { inviterConnectionId, inviteeConnectionId } = await connect(issuer, holder)
  const [issuing, subject] = [await newDid(issuer, 'assertionMethod'), await newDid(holder, 'authentication')]
  await issue(issuer, holder, inviterConnectionId, issuing.did, subject.did)

  using user = newUser()
  for (const [name, { url }] of Object.entries({ files, rows }))
    await user.as({ AGENT_ADMIN_KEY: adminToken }).run`profile add ${name} --url ${url}`
  const move = (from: string, to: string) =>
    user.run(words`wallet move ${walletId} --to ${to} --profile ${from} --json`)
  const say = async (text: string, call: Tenant['call']) => {
    await holder.call('POST /messages', { body: { connectionId: inviteeConnectionId, content: text } })
    await until(
      text,
      () => call('GET /messages', { query: { connectionId: inviterConnectionId } }),
      ({ contents }) => contents.some(({ content }) => content === text),
    )
  }

  await say('before', issuer.call)
  let call = issuer.call
  for (const [from, to, agent] of [
    ['files', 'rows', rows],
    ['rows', 'files', files],
  ] as const) {
    const before = await contentsOf(call)
    const moved = await move(from, to)
    expect(moved).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(moved.out)).toMatchObject({ id: walletId, name: 'issuer' })
    front.leadTo(agent)
    call = await newKey(agent, walletId)
    expect(await contentsOf(call)).toEqual(before)
    // It was done already.
    expect(await move(from, to)).toMatchObject({ code: 0, out: moved.out })
    await say(`at ${to}`, call)
  }
  expect((await user.run(words`wallet move ${walletId} --to files --profile files`)).code).toBe(2)
  expect(await user.run(words`wallet move ${walletId} --to rows --profile nobody`)).toMatchObject(
    fails(3, 'nobody'),
  )
  expect(readdirSync(user.folder).filter((name) => name.startsWith('agent-wallet-'))).toEqual([])

  const { events } = await contentsOf(call)
  await until(
    'all deliveries',
    () => Promise.resolve(hook.events.length),
    (count) => count >= events.length,
  )
  expect(hook.events.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
  expect(hook.deliveries).toHaveLength(events.length)
  expect(hook.changed).toEqual([])
})

/**
 * An address of an agent that breaks the connection of an import, before or after the agent has handled it,
 * while `breaks` says so.
 */
async function openBreaking(url: string) {
  const state: { url: string; breaks: 'before' | 'after' | undefined } = { url: '', breaks: undefined }
  const server = createServer((asked, answer) => {
    const breaks = asked.url === '/wallets/import' ? state.breaks : undefined
    if (breaks === 'before') return asked.socket.destroy()
    const { method, headers } = asked
    asked.pipe(
      request(url + asked.url!, { method: method!, headers }, (got) => {
        if (breaks === 'after') return asked.socket.destroy()
        got.pipe(answer.writeHead(got.statusCode!, got.headers))
      }),
    )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}

test('a lost answer: the command finds out whether the import was done, and can be repeated', async () => {
  const from = await sharedAgent()
  await using to = await startAgent()
  const breaking = await openBreaking(to.url)
  using user = newUser()
  const admin = user.as({ AGENT_ADMIN_KEY: adminToken })
  await admin.run`profile add from --url ${from.url}`
  await admin.run`profile add to --url ${breaking.url}`
  await user.as({ AGENT_ADMIN_KEY: 'another' }).run`profile add wrong --url ${to.url}`
  const [{ walletId: first }, { walletId: second }] = [await from.newTenant('a'), await from.newTenant('b')]
  const move = (id: string, target = 'to') =>
    user.run(words`wallet move ${id} --to ${target} --profile from --quiet`)
  const here = (id: string) => from.admin('GET /wallets/{walletId}', { path: { walletId: id } })

  // Nothing is suspended before the other agent has accepted the key.
  expect((await move(first, 'wrong')).code).toBe(4)
  expect(await here(first)).not.toHaveProperty('movedAt')

  breaking.breaks = 'after'
  expect(await move(first)).toMatchObject({ code: 0, out: first })
  expect(await here(first)).toHaveProperty('movedAt')

  breaking.breaks = 'before'
  expect(await move(second)).toMatchObject(fails(7, `agent wallet resume ${second}`))
  expect(await here(second)).toHaveProperty('movedAt')
  breaking.breaks = undefined
  expect(await move(second)).toMatchObject(prints(0, second))
  expect((await to.admin('GET /wallets', { query: {} })).contents.map(({ id }) => id)).toEqual(
    expect.arrayContaining([first, second]),
  )
})
