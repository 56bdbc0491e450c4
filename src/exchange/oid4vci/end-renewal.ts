/** The tenant ends the renewal of a credential, alone or with the credential. */
import { Problem } from '../../foundation/problem.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { requireIssuer } from '../issuance/issuer.ts'
import { issueCredential, type CredentialRecord } from '../issuance/model.ts'
import { findGrantById, findRecords, recordIdsOf } from './grant.ts'
import { endByTenant } from './renewal.ts'

/**
 * Ends the refresh token of the grant of a record. Its credentials stay valid. A second call changes nothing.
 *
 * @throws {Problem} 404; 422 for a holder's record; 400 for a credential without a refresh token
 */
export function endRenewalOf(wallet: Wallet, recordId: string): Promise<void> {
  return wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    requireIssuer(record)
    const grant = await findGrantById(tx, record.thid)
    if (!grant || !(await endByTenant(tx, grant, 'issuer')))
      throw new Problem(
        issueCredential.problems.wrongState,
        `The credential of the record ${recordId} is not renewed: its wallet has no refresh token that could be ended.`,
      )
  })
}

/** Ends the grant of a record whose credential is revoked, once no other credential of it is valid. */
export async function endGrantOf(tx: Tx, { id, thid }: CredentialRecord): Promise<void> {
  const grant = await findGrantById(tx, thid)
  if (!grant) return
  const records = await findRecords(tx, recordIdsOf(grant))
  if (records.every((each) => each.id === id || each.revocation)) await endByTenant(tx, grant, 'revoked')
}
