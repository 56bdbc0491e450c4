/**
 * A process that increments a number in agent.db, `_count <file> <times>`, each time by reading and writing
 * it in one transaction.
 */
import { openAgentDb } from '../../../src/foundation/storage/database.ts'

const [path, times] = process.argv.slice(2)
const db = await openAgentDb(path!)
for (let n = 0; n < Number(times); n++) {
  await db.transaction().execute(async (tx) => {
    const row = await tx.selectFrom('setting').select('value').where('name', '=', 'count').executeTakeFirst()
    const value = String(Number(row?.value ?? 0) + 1)
    await tx
      .insertInto('setting')
      .values({ name: 'count', value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute()
  })
}
await db.destroy()
