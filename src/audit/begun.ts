/** Acts that were begun: on the disk before anything is done, and away with the entry that says what has become of them. */
import { newId } from '../base/id.ts'
import { canonicalize } from '../base/json.ts'
import { keyedDigest } from '../base/seal.ts'
import type { AuditDb, AuditTx } from '../storage/database.ts'
import { toAct, toActRow, type Act, type Result } from './entry.ts'

/** An act with what became of it, and the row of `begun` that its entry takes away. */
export type Draft = { act: Act & { at: string }; result: Result; begun?: string }

/** The action of an entry that stands for something begun that is not as it was written. */
export const altered = 'altered'

/** Writes an act down, and returns the id of its row. */
export async function putBegun(tx: AuditTx, key: Uint8Array, act: Act): Promise<string> {
  const row = { id: newId(), ...toActRow(act) }
  await tx
    .insertInto('begun')
    .values({ ...row, mac: macOf(key, row) })
    .execute()
  return row.id
}

/** Takes the row of an act away; false when it was taken away before. */
export async function takeBegun(tx: AuditTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('begun').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** What an earlier process had begun: nobody knows what became of it. */
export async function leftBegun(db: AuditDb, key: Uint8Array): Promise<Draft[]> {
  const rows = await db.selectFrom('begun').selectAll().orderBy('id').execute()
  return rows.map(({ mac, ...row }) => {
    const act: Draft['act'] =
      mac === macOf(key, row)
        ? { ...toAct(row), at: row.at }
        : { at: new Date().toISOString(), actor: 'agent', action: altered }
    return { act, result: { outcome: 'unknown' }, begun: row.id }
  })
}

/** So that nobody without the key has something entered that was never begun. */
function macOf(key: Uint8Array, row: object): string {
  return keyedDigest(key, canonicalize({ begun: row }))
}
