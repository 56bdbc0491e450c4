/** The driver `database`: entries are rows of agent.db, which all processes of an agent share. */
import { fromBase64 } from '../../foundation/bytes.ts'
import { randomId } from '../../foundation/id.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { assertNotTransferred } from '../../foundation/storage/transferred.ts'
import { assertByteQuota } from '../quotas.ts'
import { type Driver, tooManyEntries } from './driver.ts'

export function createDatabaseDriver(db: AgentDb, maxEntries: number): Driver {
  return {
    name: { family: 'database', id: 'database', version: '0.1.0' },

    async create(wallet, bytes) {
      const content = toText(bytes)
      await assertByteQuota(wallet, content.length)
      const [id, now] = [randomId(), new Date().toISOString()]
      await db.transaction().execute(async (tx) => {
        await assertNotTransferred(tx, wallet.id)
        const own = tx.selectFrom('vdr_entry').where('wallet_id', '=', wallet.id)
        const { count } = await own
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        if (count >= maxEntries) throw tooManyEntries(maxEntries)
        const row = { id, wallet_id: wallet.id, content, created_at: now, updated_at: now }
        await tx.insertInto('vdr_entry').values(row).execute()
      })
      return { entryId: id }
    },

    async find(id) {
      const row = await db.selectFrom('vdr_entry').select('content').where('id', '=', id).executeTakeFirst()
      return row && fromBase64(row.content)
    },

    async update(wallet, id, bytes) {
      const content = toText(bytes)
      await assertByteQuota(wallet, content.length)
      const { numUpdatedRows } = await db.transaction().execute(async (tx) => {
        await assertNotTransferred(tx, wallet.id)
        return tx
          .updateTable('vdr_entry')
          .set({ content, updated_at: new Date().toISOString() })
          .where('id', '=', id)
          .where('wallet_id', '=', wallet.id)
          .executeTakeFirstOrThrow()
      })
      return numUpdatedRows > 0n ? {} : undefined
    },

    async remove(wallet, id) {
      const { numDeletedRows } = await db.transaction().execute(async (tx) => {
        await assertNotTransferred(tx, wallet.id)
        const own = tx.deleteFrom('vdr_entry').where('id', '=', id).where('wallet_id', '=', wallet.id)
        return own.executeTakeFirstOrThrow()
      })
      return numDeletedRows > 0n ? {} : undefined
    },
  }
}

function toText(content: Uint8Array): string {
  return Buffer.from(content).toString('base64')
}
