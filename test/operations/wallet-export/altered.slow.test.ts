/**
 * Exports that were altered by a holder of the passphrase: their content is validated like input from the
 * network.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../../src/foundation/secret.ts'
import {
  openChunks,
  sealChunks,
  newEnvelope,
  openEnvelope,
  type ChunkKey,
} from '../../../src/operations/wallet-export/envelope.ts'
import {
  readContents,
  writeContents,
  createReader,
  type Contents,
} from '../../../src/operations/wallet-export/contents.ts'
import { openSqlite, type Database } from '../../../src/foundation/storage/sqlite.ts'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { refusal } from '../../support/tenants.ts'
import { exportFrom, importInto, passphrase } from './_transfer.ts'

let agent: TestAgent
let folder: Awaited<ReturnType<typeof temporaryFolder>>
let contents: Contents
let file: Buffer
let envelope: { lines: string; chunkKey: ChunkKey }
beforeAll(async () => {
  ;[agent, folder] = [await startAgent(), await temporaryFolder()]
  const from = await sharedAgent()
  const { walletId } = await from.newTenant('alice')
  const reader = createReader(Readable.from([await exportFrom(from, walletId)]))
  const plain = createReader(openChunks(await openEnvelope(reader, new Secret(passphrase)), reader))
  contents = await readContents(plain)
  file = await buffer(plain.rest())
  envelope = await newEnvelope(new Secret(passphrase))
})
afterAll(() => Promise.all([agent[Symbol.asyncDispose](), folder[Symbol.asyncDispose]()]))

/** Returns an export with another file in it. */
async function withFile(bytes: Uint8Array): Promise<Buffer> {
  const path = join(folder.path, 'file')
  writeFileSync(path, bytes)
  const sealed = await buffer(sealChunks(envelope.chunkKey, createReader(writeContents(contents, path))))
  return Buffer.concat([Buffer.from(envelope.lines), sealed])
}

/** Returns the file after a change. */
function changed(work: (database: Database) => unknown): Buffer {
  const path = join(folder.path, 'changed.db')
  writeFileSync(path, file)
  const database = openSqlite(path)
  work(database)
  database.close()
  return readFileSync(path)
}

const long = (database: Database) =>
  database.prepare("insert into setting values ('long', ?)").run(randomBytes(5_000_000).toString('hex'))
const damage = (bytes: Buffer) => bytes.fill(0xff, bytes.length - 8_192)

test.each<[label: string, name: string, detail: string, bytes: () => Buffer]>([
  [
    'another table',
    'DamagedExport',
    'its database is damaged',
    () => changed((database) => database.exec('create table more (text text)')),
  ],
  [
    'a trigger',
    'DamagedExport',
    'its database is damaged',
    () =>
      changed((database) =>
        database.exec('create trigger t after insert on setting begin delete from setting; end'),
      ),
  ],
  [
    'a view in place of a table',
    'DamagedExport',
    'its database is damaged',
    () =>
      changed((database) =>
        database.exec("drop table setting; create view setting as select 'seed' as name, '' as value"),
      ),
  ],
  ['a damaged page', 'DamagedExport', 'its database is damaged', () => damage(Buffer.from(file))],
  ['a damaged page of many', 'DamagedExport', 'its database is damaged', () => damage(changed(long))],
  ['no database', 'DamagedExport', 'its database is damaged', () => Buffer.from('no database')],
  ['no file', 'DamagedExport', 'its database is damaged', () => Buffer.alloc(0)],
  [
    'tables of a newer release',
    'NewerExport',
    'database schema',
    () =>
      changed((database) =>
        database.exec("insert into kysely_migration values ('999-later', '2999-01-01T00:00:00.000Z')"),
      ),
  ],
])('%s is refused as %s', async (_, name, detail, bytes) => {
  expect(await refusal(importInto(agent, await withFile(bytes())))).toMatchObject({
    status: 422,
    type: `error:WalletPortabilityError:${name}`,
    detail: expect.stringContaining(detail),
  })
  expect(readdirSync(join(agent.dataDir, 'wallets', 'transit'))).toEqual([])
  expect(existsSync(agent.agent.wallets.folder.pathOf(contents.about.id))).toBe(false)
})

test('another wallet’s key is refused', async () => {
  const own = contents
  try {
    contents = { ...own, about: { ...own.about, key: randomBytes(32).toString('base64url') } }
    expect(await refusal(importInto(agent, await withFile(file)))).toMatchObject({
      type: 'error:WalletPortabilityError:DamagedExport',
    })
  } finally {
    contents = own
  }
})

test('a large export, which is checked in a worker, is imported', async () => {
  const { id } = await importInto(agent, await withFile(changed(long)))
  const read = agent.agent.wallets.use(id, ({ db }) =>
    db.selectFrom('setting').select('value').where('name', '=', 'long').executeTakeFirstOrThrow(),
  )
  expect((await read).value).toHaveLength(10_000_000)
})
