/**
 * Removes credential records (extension). It knows both credential protocols: a credential that is being
 * presented must stay.
 */
import { Problem } from '../foundation/problem.ts'
import { findEntry } from '../wallet/credential-status/lists.ts'
import type { Tx } from '../foundation/storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { removeRecord } from './engine/remove.ts'
import { removeGrantOf } from './oid4vci/grant.ts'
import { removeRenewal } from './oid4vci/holder/renewal-grant.ts'
import { issuanceFormats } from './issuance/format.ts'
import { issueCredential, type CredentialRecord } from './issuance/model.ts'
import { PresentationData, presentProof } from './presentation/model.ts'

/**
 * Removes a credential record in any state, the holder's with its credential. The index in the status list is
 * not reused, and a revoked credential stays revoked.
 *
 * @throws {Problem} 404; 400 for the issuer's record of a valid credential, which could no longer be revoked,
 * and for a credential that is being presented
 */
export function removeCredentialRecord(wallet: Wallet, recordId: string): Promise<void> {
  return removeRecord(wallet, issueCredential, recordId, async (tx, record) => {
    if (record.role === 'Issuer') {
      await requireInvalid(tx, record, wallet.env.config.CREDENTIAL_LEEWAY)
      await removeGrantOf(tx, record)
    } else {
      await requireUnused(tx, recordId)
      await removeRenewal(tx, record)
    }
    await tx.deleteFrom('credential').where('id', '=', recordId).execute()
  })
}

async function requireInvalid(tx: Tx, record: CredentialRecord, leewaySeconds: number): Promise<void> {
  const index = await findEntry(tx, record.id)
  if (!index || index.revokedAt !== undefined || hasExpired(record, leewaySeconds)) return
  throw new Problem(
    issueCredential.problems.wrongState,
    `The credential of the record ${record.id} is valid, and without the record it could not be revoked. Revoke it first.`,
  )
}

function hasExpired({ credentialFormat, credential }: CredentialRecord, leewaySeconds: number): boolean {
  if (credential === undefined) return false
  const { validUntil } = issuanceFormats[credentialFormat].read(credential)
  return validUntil !== undefined && validUntil + leewaySeconds <= Date.now() / 1_000
}

/** A presentation that is accepted but not made yet needs its credentials. */
async function requireUnused(tx: Tx, recordId: string): Promise<void> {
  const pending = await tx
    .selectFrom('record')
    .select(['id', 'data'])
    .where('protocol', '=', presentProof.name)
    .where('state', '=', 'PresentationPending')
    .execute()
  const user = pending.find(({ data }) =>
    PresentationData.shape.proofId.parse(JSON.parse(data).proofId)?.includes(recordId),
  )
  if (!user) return
  throw new Problem(
    issueCredential.problems.wrongState,
    `The credential ${recordId} is being presented in ${user.id}. Remove it afterwards, or remove the presentation first.`,
  )
}
