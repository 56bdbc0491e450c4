/** The bytes of a wallet in the file of all wallets: every text column of its tables counts. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { countedColumns } from '../../src/wallet/quotas.ts'
import { sharedAgent } from '../support/agent.ts'

/** Tables with rows of wallets that do not count. */
const notCounted: Record<string, string> = {
  wallet_alias: 'an import writes them',
  entity: 'the administrator writes them',
  wallet_permission: 'the administrator writes them',
  web_did: 'each has a DID in the wallet',
}

test('every text column of the tables that tenants share counts', async () => {
  const { agent } = await sharedAgent()
  const { rows } = await sql<{ table: string; name: string }>`
    select m.name as "table", c.name from sqlite_master m, pragma_table_info(m.name) c
    where m.type = 'table' and lower(c.type) = 'text' and c.name <> 'wallet_id'
      and exists (select 1 from pragma_table_info(m.name) w where w.name = 'wallet_id')`.execute(agent.db)
  const found = rows.filter(({ table }) => !(table in notCounted))
  const counted = Object.entries(countedColumns).flatMap(([table, names]) =>
    names.map((name) => `${table}.${name}`),
  )
  expect(found.map(({ table, name }) => `${table}.${name}`).toSorted()).toEqual(counted.toSorted())
})
