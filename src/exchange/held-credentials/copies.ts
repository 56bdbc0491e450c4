/**
 * Copies of a credential, which an OpenID4VCI issuer has bound to a key each: verifiers cannot link
 * presentations of different copies. The first copy is the credential of the record, which is listed and
 * presented; the others wait in its `copies`.
 */
import type { Tx } from '../../foundation/storage/database.ts'
import { findRecord } from '../engine/find.ts'
import { updateData } from '../engine/record.ts'
import { issueCredential } from '../issuance/model.ts'

/**
 * After a presentation: the next copy becomes the credential of the record, and the presented one goes to the
 * end. So each copy is presented once before one is repeated. Credentials without copies do not change.
 */
export async function takeNextCopies(tx: Tx, recordIds: readonly string[]): Promise<void> {
  for (const id of recordIds) {
    const record = await findRecord(tx, issueCredential, id)
    const [next, ...others] = record?.copies ?? []
    if (!record || !next) continue
    const presented = { credential: record.credential!, subjectId: record.subjectId! }
    await updateData(tx, record, { ...next, copies: [...others, presented] })
    const row = { credential: next.credential, subject: next.subjectId }
    await tx.updateTable('credential').set(row).where('id', '=', id).execute()
  }
}
