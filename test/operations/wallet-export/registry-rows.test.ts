/** Every row of a wallet in agent.db is exported, or listed here as excluded. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { RegistryRow } from '../../../src/operations/wallet-export/registry-rows.ts'
import { openAgentDb } from '../../../src/foundation/storage/database.ts'

/** Access rights belong to the agent; aliases are derived from the wallet's own file. */
const excluded = ['entity', 'wallet_alias', 'wallet_permission']

test('every table of agent.db that names a wallet is known to exports', async () => {
  const db = await openAgentDb(':memory:')
  onTestFinished(() => db.destroy())
  const { rows } = await sql<{ name: string }>`
    select distinct tables.name from sqlite_master as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and columns.name = 'wallet_id' order by tables.name`.execute(db)
  const exported = RegistryRow.options.map(({ shape }) => shape.kind.value)
  expect(rows.map(({ name }) => name)).toEqual([...exported, ...excluded].toSorted())
})

test('every column of such a row is exported', async () => {
  const db = await openAgentDb(':memory:')
  onTestFinished(() => db.destroy())
  for (const { shape } of RegistryRow.options) {
    const { rows } = await sql<{
      name: string
    }>`select name from pragma_table_info(${shape.kind.value})`.execute(db)
    // The position among the definitions of all wallets belongs to the agent.
    const own = rows.map(({ name }) => name).filter((name) => name !== 'wallet_id' && name !== 'sequence')
    expect(Object.keys(shape.row.shape).toSorted(), shape.kind.value).toEqual(own.toSorted())
  }
})
