/**
 * Backups of agents over PostgreSQL, and the way of a whole agent from one store to the other, by the
 * commands of the built program.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createClient } from '../../../daemon/client/client.ts'
import { createPostgresSource } from '../../../src/operations/backup/postgres-snapshot.ts'
import { openPostgres } from '../../../src/foundation/storage/postgres/open.ts'
import { adminOf, adminToken } from '../../support/api.ts'
import { Daemon } from '../../support/daemon.ts'
import { newFolder } from '../../support/folder.ts'
import { needsPostgres } from '../../support/needs-postgres.ts'
import type { Server } from '../../support/postgres.ts'
import { openServer } from '../../support/shared-postgres.ts'
import { connect, credentialIn, newDid, type Tenant } from '../../support/tenants.ts'
import { newUser } from '../../commands/_cli.ts'
import {
  forwardOf,
  mediateRequest,
  mediation2,
  newWallet,
  packFor,
  pickup,
  type TestWallet,
} from '../../exchange/mediator/_mediator.ts'
import { openSocket } from '../../exchange/mediator/_socket.ts'
import { rowsOf } from './_rows.ts'

needsPostgres()

let server: Server
beforeAll(async () => void (server = await openServer()))

const masterKey = Buffer.alloc(32, 7).toString('base64url')

/** Backs a daemon up by the command. */
async function backUp({ url }: Daemon, folder: string) {
  using user = newUser()
  return user.as({ AGENT_URL: url, AGENT_ADMIN_KEY: adminToken }).json(['backup', 'create', folder])
}

/** Restores a backup by the command. */
async function restore(folder: string, to: string[], env: Record<string, string> = {}) {
  using user = newUser()
  const { json } = user.as({ AGENT_MASTER_KEY: masterKey, ...env })
  expect(await json(['backup', 'restore', folder, ...to])).toMatchObject({ masterKey: 'opens' })
}

/** The files of a database, without a daemon, whose acts would add to it. */
async function filesOf(url: string): Promise<string> {
  const folder = newFolder()
  mkdirSync(join(folder, 'wallets'))
  const connections = await openPostgres({ url, connections: 8, nodeName: 'test' })
  try {
    await createPostgresSource(connections).takeSnapshot(folder, new AbortController().signal)
    return folder
  } finally {
    await connections.close()
  }
}

type Issuance = { issuer: Tenant; holder: Tenant; connectionId: string; did: string; subjectId: string }

/** Issues a credential over a connection, and waits until the holder has it. @returns the thread */
async function issue({ issuer, holder, connectionId, did, subjectId }: Issuance, url: string) {
  const as = ({ apiKey }: Tenant) => createClient(url, { apikey: apiKey })
  const body = { connectionId, issuingDID: did, claims: { name: 'Ada' }, automaticIssuance: true }
  const { thid } = await as(issuer)('POST /issue-credentials/credential-offers', { body })
  const { recordId } = await credentialIn(as(holder), thid, 'OfferReceived')
  const path = { recordId }
  await as(holder)('POST /issue-credentials/records/{recordId}/accept-offer', { path, body: { subjectId } })
  await credentialIn(as(holder), thid, 'CredentialReceived')
  return thid
}

/** Enrols a wallet at the mediator, and leaves a message for it. */
async function leaveMessage({ didcommUrl }: Daemon, wallet: TestWallet): Promise<void> {
  const did = await mediatorOf(didcommUrl)
  using socket = await openSocket(didcommUrl, wallet)
  socket.send(wallet.pack(did, { type: mediateRequest }))
  await socket.next()
  const body = { updates: [{ recipient_did: wallet.did, action: 'add' }] }
  socket.send(wallet.pack(did, { type: `${mediation2}/recipient-update`, body }))
  await socket.next()
  const { status } = await fetch(didcommUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/didcomm-encrypted+json' },
    body: packFor(did, forwardOf(wallet.did, packFor(wallet.did, { type: 'x:y' }))),
  })
  expect(status).toBe(202)
}

const mediatorOf = async (didcommUrl: string) => (await fetch(`${didcommUrl}/did`)).text()

/** The messages that wait for a wallet at the mediator. */
async function countMessages({ didcommUrl }: Daemon, wallet: TestWallet): Promise<unknown> {
  using socket = await openSocket(didcommUrl, wallet)
  socket.send(wallet.pack(await mediatorOf(didcommUrl), { type: `${pickup}/status-request` }))
  return (await socket.next()).body['message_count']
}

test('an agent moves from PostgreSQL to files and to another database, and keeps everything', async () => {
  const root = newFolder()
  const [first, second] = [await server.createDatabase(), await server.createDatabase({ isEmpty: true })]
  const overPostgres = (url: string) => ({ AGENT_DATABASE_URL: url, AGENT_LEASE_SECONDS: '2' })
  const wallet = newWallet()
  const settings = { AGENT_MASTER_KEY: masterKey, AGENT_MEDIATOR: 'true' }
  await using daemon = await Daemon.start({ ...settings, ...overPostgres(first) })
  const [issuer, holder] = [await daemon.newTenant('issuer'), await daemon.newTenant('holder')]
  const { inviterConnectionId: connectionId } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod')
  const { longFormDid: subjectId } = await newDid(holder, 'authentication')
  const issuance = { issuer, holder, connectionId, did, subjectId }
  const threads = [await issue(issuance, daemon.url)]
  await leaveMessage(daemon, wallet)

  /** The agent has all that it had, and works. */
  const check = async (restored: Daemon) => {
    const call = createClient(restored.url, { apikey: holder.apiKey })
    const { contents } = await call('GET /issue-credentials/records')
    expect(contents.map(({ thid }) => thid).toSorted()).toEqual(threads.toSorted())
    expect((await restored.call(`GET /dids/${did}`)).status).toBe(200)
    expect(await adminOf(restored.url)('GET /audit/verification')).toMatchObject({ isIntact: true })
    expect(await countMessages(restored, wallet)).toBe(threads.length)
    await leaveMessage(restored, wallet)
    threads.push(await issue(issuance, restored.url))
    await newDid(
      { ...issuer, call: createClient(restored.url, { apikey: issuer.apiKey }) },
      'assertionMethod',
    )
  }
  await check(daemon)

  const fromPostgres = join(root, 'from-postgres')
  expect(await backUp(daemon, fromPostgres)).toMatchObject({ wallets: 3, heldMs: 0, missing: [] })
  await daemon.stop()
  const dataDir = join(root, 'data')
  await restore(fromPostgres, ['--data-dir', dataDir])
  const fromFiles = join(root, 'from-files')
  {
    const { AGENT_HTTP_PORT, AGENT_DIDCOMM_PORT } = daemon.env as Record<string, string> & {
      AGENT_HTTP_PORT: string
      AGENT_DIDCOMM_PORT: string
    }
    await using restored = await Daemon.start({
      ...settings,
      AGENT_HTTP_PORT,
      AGENT_DIDCOMM_PORT,
      AGENT_DATA_DIR: dataDir,
      AGENT_CONFIG_DIR: join(root, 'config'),
      ADMIN_TOKEN: adminToken,
    })
    await check(restored)
    await backUp(restored, fromFiles)
  }
  await restore(fromFiles, ['--database'], { AGENT_DATABASE_URL: second })
  expect(rowsOf(await filesOf(second))).toEqual(rowsOf(fromFiles))
  daemon.env['AGENT_DATABASE_URL'] = second
  await daemon.start()
  await check(daemon)
})
