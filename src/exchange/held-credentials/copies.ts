/**
 * Copies of a credential, which an OpenID4VCI issuer has bound to a key each: verifiers cannot link
 * presentations of different copies. The first copy is the credential of the record, which is listed and
 * presented; the others wait in its `copies`.
 */
import type { Tx } from '../../foundation/storage/database.ts'
import { findRecord } from '../engine/find.ts'
import { updateData } from '../engine/record.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import { planForCopies } from '../issuance/renewal.ts'

/**
 * After a presentation: the next copy becomes the credential of the record, and the presented one goes to the
 * end. So each copy is presented once before one is repeated. Credentials without copies do not change. Few
 * unused copies lead to a renewal.
 */
export async function takeNextCopies(tx: Tx, recordIds: readonly string[]): Promise<void> {
  for (const id of recordIds) {
    const record = await findRecord(tx, issueCredential, id)
    const [next, ...others] = record?.copies ?? []
    if (!record || !next) continue
    const { credential, subjectId, presented: isRepeated } = next
    const presented = {
      credential: record.credential!,
      subjectId: record.subjectId!,
      presented: true as const,
    }
    const copies = [...others, presented]
    const unused = [...others, next].filter((copy) => !copy.presented).length
    const receivedOffer = isRepeated ? record.receivedOffer : await withRenewal(tx, record, unused)
    await updateData(tx, record, { credential, subjectId, copies, receivedOffer })
    const row = { credential, subject: subjectId }
    await tx.updateTable('credential').set(row).where('id', '=', id).execute()
  }
}

/** The number of unused copies that leads to a renewal. */
const fewCopies = 2

/** The offer of the record, with the renewal planned if few copies of a larger set are left. */
async function withRenewal(
  tx: Tx,
  { id, receivedOffer, copies }: CredentialRecord,
  unused: number,
): Promise<CredentialRecord['receivedOffer']> {
  const renewal = receivedOffer?.renewal
  const isLarge = copies!.length + 1 > fewCopies
  if (!isLarge || unused > fewCopies || renewal?.state !== 'possible') return receivedOffer
  return { ...receivedOffer!, renewal: await planForCopies(tx, id, renewal) }
}
