/** Copies the content of a wallet's file many times by SQL while no daemon has it open, to simulate long use. */
import { openSqlite } from '../../src/foundation/storage/sqlite.ts'

const hex = (bytes: number) => `lower(hex(randomblob(${bytes})))`
const newId = `${hex(4)} || '-' || ${hex(2)} || '-7' || substr(${hex(2)}, 2) || '-8' || substr(${hex(2)}, 2) || '-' || ${hex(6)}`

/** SQLite's page cache while rows are created. */
const cacheKb = 2_000_000

/** Tables that grow with every flow, and their unique columns. Jobs and waiting rows are not copied. */
const growing: Record<string, { own: Record<string, string>; where?: string }> = {
  record: { own: { id: newId, thid: newId }, where: 'waits_since is null' },
  event: { own: { id: newId, subject: newId } },
  inbox: { own: { id: newId } },
  message_log: { own: { id: newId, thread: newId } },
  peer_did: { own: { did: `'did:peer:2.' || ${hex(40)}`, record_id: newId } },
  credential: { own: { id: newId } },
}

/**
 * Copies the rows of a wallet's file until it has the given number of records, and other rows in proportion.
 * @throws if there is no record.
 */
export async function seedWallet(path: string, records: number): Promise<void> {
  const database = openSqlite(path)
  try {
    // No durability needed: after a power cut, the benchmark starts again.
    database.pragma('journal_mode = off')
    database.pragma('synchronous = off')
    // A large cache, because index pages are read at random.
    database.pragma(`cache_size = -${cacheKb}`)
    const count = (table: string) => database.prepare(`select count(*) from ${table}`).pluck().get() as number
    const times = Math.ceil(records / count('record'))
    database.transaction(() => {
      for (const [table, { own, where = 'true' }] of Object.entries(growing)) {
        const columns = (database.pragma(`table_info(${table})`) as { name: string }[])
          .map(({ name }) => name)
          .filter((name) => name !== 'sequence')
        const values = columns.map((name) => own[name] ?? `each.${name}`)
        database.exec(`
          create temp table each as select * from ${table} where ${where};
          with recursive n(i) as (select 2 union all select i + 1 from n where i < ${times})
          insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from n, each;
          drop table each;
        `)
      }
      // Copied events count as delivered.
      database.exec('update webhook set cursor = (select max(sequence) from event)')
    })()
    database.pragma('journal_mode = wal')
  } finally {
    database.close()
  }
}
