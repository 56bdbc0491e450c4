/**
 * Acts that have begun: each is stored before it changes anything, and removed in the transaction that adds
 * its entry. The rows of a process that was killed show the acts whose result is unknown.
 */
import type { Selectable } from 'kysely'
import { newId } from '../../foundation/id.ts'
import { canonicalize } from '../../foundation/json.ts'
import { keyedDigest } from '../../foundation/seal.ts'
import type { AuditTables } from '../../foundation/storage/audit-tables.ts'
import type { AuditDb, AuditTx } from '../../foundation/storage/database.ts'
import { toAct, toActRow, type Act, type Result } from './entry.ts'

/** An entry to add, and the row of `begun` to remove with it. */
export type Draft = { act: Act & { at: string }; result: Result; begun?: string }

/** The action of the entry for a row of `begun` whose MAC is wrong. */
export const altered = 'altered'

/** Stores an act that begins in the process with a name. Returns the id of its row. */
export async function insertBegun(tx: AuditTx, key: Uint8Array, process: string, act: Act): Promise<string> {
  const row = { id: newId(), process, ...toActRow(act) }
  await tx
    .insertInto('begun')
    .values({ ...row, mac: macOf(key, row) })
    .execute()
  return row.id
}

/** Removes the row of an act. Returns false if it was removed before. */
export async function deleteBegun(tx: AuditTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('begun').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** The acts that a process began and did not finish before it ended, as entries of unknown outcome. */
export async function listUnfinished(
  db: AuditDb,
  key: Uint8Array,
  hasEnded: (process: string) => boolean,
): Promise<Draft[]> {
  const rows = await db.selectFrom('begun').selectAll().orderBy('id').execute()
  const unfinished = rows.filter(({ process }) => hasEnded(process))
  return unfinished.map(({ mac, ...row }) => {
    const act: Draft['act'] =
      mac === macOf(key, row)
        ? { ...toAct(row), at: row.at }
        : { at: new Date().toISOString(), actor: 'agent', action: altered }
    return { act, result: { outcome: 'unknown' }, begun: row.id }
  })
}

type Row = Omit<Selectable<AuditTables['begun']>, 'mac'>

/**
 * The MAC prevents that a row inserted without the key becomes an entry. Rows of earlier releases had no
 * process and no login.
 */
function macOf(key: Uint8Array, { process, issuer, login, ...row }: Row): string {
  const later = {
    ...(process !== '' && { process }),
    ...(issuer !== null && { issuer }),
    ...(login !== null && { login }),
  }
  return keyedDigest(key, canonicalize({ begun: { ...row, ...later } }))
}
