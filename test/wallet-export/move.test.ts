/** `agent wallet move`: from SQLite files to PostgreSQL and back. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { startAgent } from '../_agent.ts'
import { adminToken } from '../_api.ts'
import { fails, newUser, words } from '../commands/_cli.ts'
import { Daemon } from '../_daemon.ts'
import { newFolder } from '../_folder.ts'
import { startPostgres } from '../_postgres.ts'
import { connect, issue, newDid, until, type Tenant } from '../_tenants.ts'
import { Webhook } from '../_webhook.ts'
import { openFront } from './_front.ts'

async function newKey(daemon: Daemon, walletId: string): Promise<Tenant['call']> {
  const entity = await daemon.admin('POST /iam/entities', { body: { name: 'moved', walletId } })
  const path = { id: entity.id }
  const { apiKey } = await daemon.admin('POST /iam/entities/{id}/api-keys', { path, body: {} })
  return createClient(daemon.url, { apikey: apiKey })
}

/** What the tenant has: without the fields that name the agent. */
const contentsOf = async (call: Tenant['call']) => ({
  connections: (await call('GET /connections')).contents.map(({ self: _, ...each }: any) => each),
  messages: (await call('GET /messages', { query: {} })).contents,
  records: (await call('GET /issue-credentials/records')).contents.map(({ self: _, ...each }: any) => each),
  events: (await call('GET /events', { query: { limit: 1_000 } })).contents,
  webhooks: (await call('GET /events/webhooks')).contents.map(({ id, url }: any) => ({ id, url })),
})

test('a wallet keeps all it has, there and back; messages, events and webhooks continue', async () => {
  await using front = await openFront()
  await using hook = await Webhook.open()
  const server = await startPostgres()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const ledger = { VDR_URL: `sqlite:${join(newFolder(), 'vdr.db')}` }
  const urls = { REST_SERVICE_URL: front.restUrl, DIDCOMM_SERVICE_URL: front.didcommUrl, ...ledger }
  await using files = await Daemon.start({ ...urls, AGENT_DATABASE_URL: '' })
  await using rows = await Daemon.start({
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
  for (const [from, to, daemon] of [
    ['files', 'rows', rows],
    ['rows', 'files', files],
  ] as const) {
    const before = await contentsOf(call)
    const moved = await move(from, to)
    expect(moved).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(moved.out)).toMatchObject({ id: walletId, name: 'issuer' })
    front.leadTo(daemon)
    call = await newKey(daemon, walletId)
    expect(await contentsOf(call)).toEqual(before)
    // It was done already.
    expect(await move(from, to)).toMatchObject({ code: 0, out: moved.out })
    await say(`at ${to}`, call)
  }
  expect((await user.run(words`wallet move ${walletId} --to files --profile files`)).code).toBe(2)
  expect(await user.run(words`wallet move ${walletId} --to rows --profile nobody`)).toMatchObject(
    fails(2, 'nobody'),
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
