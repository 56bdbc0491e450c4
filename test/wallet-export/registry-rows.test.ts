/** Whatever a wallet has in the database of all wallets goes along with it, or is named here as what stays. */
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { RegistryRow } from '../../src/wallet-export/registry-rows.ts'
import { openAgentDb } from '../../src/storage/database.ts'

/** Who is let in is the agent's; aliases are read off the wallet's own file. */
const stays = ['entity', 'wallet_alias']

test('every table of agent.db that names a wallet is known to exports', async () => {
  const db = await openAgentDb(':memory:')
  onTestFinished(() => db.destroy())
  const { rows } = await sql<{ name: string }>`
    select distinct tables.name from sqlite_master as tables, pragma_table_info(tables.name) as columns
    where tables.type = 'table' and columns.name = 'wallet_id' order by tables.name`.execute(db)
  const goes = RegistryRow.options.map(({ shape }) => shape.kind.value)
  expect(rows.map(({ name }) => name)).toEqual([...goes, ...stays].toSorted())
})

test('every column of such a row goes along', async () => {
  const db = await openAgentDb(':memory:')
  onTestFinished(() => db.destroy())
  for (const { shape } of RegistryRow.options) {
    const { rows } = await sql<{
      name: string
    }>`select name from pragma_table_info(${shape.kind.value})`.execute(db)
    // The place among the definitions of all wallets is the agent's.
    const own = rows.map(({ name }) => name).filter((name) => name !== 'wallet_id' && name !== 'sequence')
    expect(Object.keys(shape.row.shape).toSorted(), shape.kind.value).toEqual(own.toSorted())
  }
})
