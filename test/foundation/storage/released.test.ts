/**
 * Data folders of every released schema version can be opened. Those of newer releases are refused and not
 * changed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../../daemon/client/client.ts'
import { StartError } from '../../../src/foundation/start-error.ts'
import {
  normalizeSql,
  openAgentDb,
  openAuditDb,
  openMediatorDb,
  openWalletDb,
} from '../../../src/foundation/storage/database.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import { openLedgerFile } from '../../../src/did/ledger/operation-table.ts'
import { startAgent } from '../../support/agent-from-sources.ts'
import { refusal } from '../../support/tenants.ts'
import { readAs, unpack, variablesOf, versions } from './_folder.ts'
import { gatewayHost } from './_open-flows.ts'
import { newFolder } from '../../support/folder.ts'

let dataDir: string
beforeEach(() => (dataDir = newFolder()))

const databases = () =>
  readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.db'))

/** The SQL of all tables and indexes of a file. */
function schemaOf(path: string): unknown[] {
  const database = openSqlite(path, { readonly: true })
  const rows = database
    .prepare<[], { sql: string | null }>('select type, name, tbl_name, sql from sqlite_master order by name')
    .all()
    .map((row) => ({ ...row, sql: row.sql && normalizeSql(row.sql) }))
  const version = database.pragma('user_version', { simple: true })
  database.close()
  return [...rows, version]
}

/** A new file of the same kind. */
async function fresh(name: string): Promise<string> {
  const path = join(dataDir, `fresh-${basename(name)}`)
  const open = name.startsWith('wallets')
    ? openWalletDb
    : name === 'agent.db'
      ? openAgentDb
      : name === 'audit.db'
        ? openAuditDb
        : openMediatorDb
  await (await (name === 'vdr.db' ? openLedgerFile(path) : open(path))).destroy()
  return path
}

describe('a data folder of a release', () => {
  test('opens, and answers requests as before', async () => {
    const folder = unpack('1', dataDir)
    await using agent = await startAgent(variablesOf(folder), { dataDir })
    for (const { apiKey, reads } of folder.tenants) expect(await readAs(agent.url, apiKey)).toEqual(reads)
    expect(agent.agent.mediator!.owns(folder.mediatorDid)).toBe(true)
    const [{ did }] = (folder.tenants[0]!.reads[2] as { contents: [{ did: string }] }).contents
    expect((await agent.send('GET', `/dids/${did}`)).status).toBe(200)
    // The numbers of the wallets, which short URLs contain.
    for (const { apiKey } of folder.tenants) {
      const { thid, invitation } = await createClient(agent.url, { apikey: apiKey })('POST /connections')
      const retrieved = await agent.send('GET', `/i${new URL(invitation.shortUrl!).search}`)
      expect(await retrieved.json()).toMatchObject({ id: thid })
    }
    // A secret of each wallet, by its seed and by its key.
    for (const { walletId } of folder.tenants) {
      const { id } = await agent.agent.wallets.use(walletId, (wallet) => {
        wallet.deriveKey({ didIndex: 0, usage: 1, keyIndex: 0 })
        return wallet.db.selectFrom('peer_did').select('did as id').executeTakeFirstOrThrow()
      })
      expect(id).toMatch(/^did:peer:2/)
    }
  })

  test.each(versions())('%s has the tables of a new folder after it is opened', async (version) => {
    // The agent sends no jobs of the folder while another test continues them.
    const variables = { ...variablesOf(unpack(version, dataDir)), AGENT_DENY_HOSTS: gatewayHost }
    await (await startAgent(variables, { dataDir }))[Symbol.asyncDispose]()
    const names = databases()
    expect(names).toHaveLength(6)
    for (const name of names) {
      const hint = `${name}: a released migration was changed`
      expect(schemaOf(join(dataDir, name)), hint).toEqual(schemaOf(await fresh(name)))
    }
  })
})

describe('a file of a newer release', () => {
  /** Marks a file as written by a later release, and returns its bytes. */
  function age(name: string): Buffer {
    const database = openSqlite(join(dataDir, name))
    database.exec(
      name === 'vdr.db'
        ? 'pragma user_version = 1000'
        : "insert into kysely_migration values ('999-later', '2100-01-01T00:00:00.000Z')",
    )
    database.close()
    return readFileSync(join(dataDir, name))
  }

  test.each(['agent.db', 'audit.db', 'mediator.db', 'vdr.db'])(
    '%s: the start is refused, and the file left as it is',
    async (name) => {
      const folder = unpack('1', dataDir)
      // The fixture has it since its release.
      if (name === 'audit.db') await (await openAuditDb(join(dataDir, name))).destroy()
      const before = age(name)
      const error: unknown = await startAgent(variablesOf(folder), { dataDir }).catch(
        (error: unknown) => error,
      )
      expect(error).toBeInstanceOf(StartError)
      expect((error as StartError).message).toContain(`${join(dataDir, name)} was written by a newer release`)
      expect((error as StartError).exitCode).toBe(1)
      expect(readFileSync(join(dataDir, name)).equals(before)).toBe(true)
    },
  )

  test('a wallet: its tenant gets the reason, the file is not set aside, and other tenants are not affected', async () => {
    const folder = unpack('1', dataDir)
    const [first, second] = folder.tenants as [(typeof folder.tenants)[0], (typeof folder.tenants)[0]]
    const path = join(dataDir, 'wallets', `${first.walletId}.db`)
    const before = age(join('wallets', basename(path)))
    {
      await using agent = await startAgent(variablesOf(folder), { dataDir })
      expect(await refusal(readAs(agent.url, first.apiKey))).toMatchObject({
        status: 503,
        type: 'error:WalletManagementServiceError:WalletUnreadable',
        detail: expect.stringContaining('newer release'),
      })
      expect(await readAs(agent.url, second.apiKey)).toEqual(second.reads)
    }
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(
      readdirSync(join(dataDir, 'wallets'))
        .filter((name) => name.startsWith(first.walletId))
        .toSorted(),
    ).toEqual([basename(path)])
  })
})
