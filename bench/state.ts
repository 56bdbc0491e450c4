/**
 * A record created and changed by one step: two state changes with their events, each committed to disk, next
 * to the same prepared statements in as many commits. If `TMPDIR` is in memory, commits do not wait.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connection, toConnection, type ConnectionData } from '../src/exchange/protocols/connection/model.ts'
import { getRecord } from '../src/exchange/engine/find.ts'
import { advance, begin } from '../src/exchange/engine/record.ts'
import { openWalletDb } from '../src/foundation/storage/database.ts'
import { openSqlite } from '../src/foundation/storage/sqlite.ts'
import { startAgent } from '../test/support/agent.ts'
import { ofAgent, peer, type Suites, together } from './_harness.ts'

const theirDid = 'did:example:invitee'

/** Alone, and sixteen at once, which this agent commits in groups. */
export async function openState(): Promise<Suites> {
  const started = await startAgent()
  const { agent, tenant } = started
  await agent.worker[Symbol.asyncDispose]()
  const [walletId] = await agent.wallets.ids()
  const { connectionId } = await tenant('POST /connections', { body: { label: 'bench' } })
  const record = await agent.wallets.use(walletId!, (wallet) =>
    getRecord(wallet.db, connection, connectionId),
  )
  const { invitation } = record
  const once = () =>
    agent.wallets.use(walletId!, async (wallet) => {
      const start = { thid: randomUUID(), data: { invitation, metaRetries: 5 } as ConnectionData }
      const made = await wallet.transaction((tx) =>
        begin(tx, connection, 'Inviter', 'POST /connections', start),
      )
      return wallet.transaction((tx) => advance(tx, connection, made, 'received request', { theirDid }))
    })
  const bare = await openBare(record)
  const sixteen = Array.from({ length: 16 })
  const suites = {
    'One record, two steps, one after the other': [
      ofAgent(once),
      peer('the same statements, two commits', () => bare.inCommits(1), 1.5),
    ],
    'Sixteen records, two steps each, at once': [
      ofAgent(() => Promise.all(sixteen.map(once))),
      peer('the same statements, 32 commits', () => sixteen.forEach(() => bare.inCommits(1))),
      peer('the same statements, two commits', () => bare.inCommits(16)),
    ],
  }
  return { suites, [Symbol.asyncDispose]: together([started, bare]) }
}

/** The statements of both steps on a file with the same tables. */
async function openBare(record: Parameters<typeof toConnection>[0]) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bench-'))
  const path = join(folder, 'bare.db')
  await (await openWalletDb(path)).destroy()
  const database = openSqlite(path)
  const insert = database.prepare(
    `insert into record (id, protocol, role, state, thid, data, created_at) values (?, 'connection', 'Inviter', 'InvitationGenerated', ?, ?, ?)`,
  )
  const update = database.prepare(
    `update record set state = ?, data = ?, updated_at = ? where id = ? and state = 'InvitationGenerated'`,
  )
  const note = database.prepare(
    `insert into event (sequence, id, type, subject, data, ts) values ((select coalesce(max(sequence), 0) + 1 from event), ?, 'ConnectionUpdated', ?, ?, ?)`,
  )
  const now = () => new Date().toISOString()
  const { invitation } = record
  const make = () => {
    const [id, thid] = [randomUUID(), randomUUID()]
    insert.run(id, thid, JSON.stringify({ invitation, metaRetries: 5 }), now())
    note.run(randomUUID(), thid, JSON.stringify(toConnection({ ...record, id, thid })), now())
    return { id, thid }
  }
  const move = ({ id, thid }: { id: string; thid: string }) => {
    update.run(
      'ConnectionRequestReceived',
      JSON.stringify({ invitation, theirDid, metaRetries: 5 }),
      now(),
      id,
    )
    note.run(
      randomUUID(),
      thid,
      JSON.stringify(toConnection({ ...record, id, thid, state: 'ConnectionRequestReceived' })),
      now(),
    )
  }
  return {
    /** Creates records in two commits each. */
    inCommits(records: number) {
      const made = database.transaction(() => Array.from({ length: records }, make))()
      database.transaction(() => made.forEach(move))()
    },
    async [Symbol.asyncDispose]() {
      database.close()
      rmSync(folder, { recursive: true })
    },
  }
}
