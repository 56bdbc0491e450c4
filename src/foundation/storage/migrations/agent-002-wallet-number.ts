/** Numbers the wallets: short links contain the number of their wallet. Frozen. */
import { sql, type Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table wallet add column number integer not null default 0`.execute(db)
  await sql`
    update wallet set number = ranked.position
    from (select id, row_number() over (order by created_at, id) as position from wallet) as ranked
    where ranked.id = wallet.id`.execute(db)
  await sql`create unique index wallet_number on wallet (number)`.execute(db)
}
