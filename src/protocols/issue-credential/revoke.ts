/** The issuer revokes a credential (api.md 4.9). */
import { Problem } from '../../base/problem.ts'
import { revokePlace } from '../../credential-status/lists.ts'
import type { Tx } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { announce } from '../engine/record.ts'
import { putRevocation } from '../revocation-notification/flow.ts'
import { issueCredential, type CredentialRecord } from './model.ts'

/**
 * Revokes the credential of an issuer's record, for good and at once, and tells the holder; a second call changes nothing.
 *
 * @throws {Problem} 404 when there is no such record, or no credential of it with a status; 422 for a holder's record.
 */
export async function revokeCredential(wallet: Wallet, recordId: string): Promise<void> {
  await wallet.transaction(async (tx) => {
    const record = await getRecord(tx, issueCredential, recordId)
    if (record.role !== 'Issuer') {
      throw new Problem(
        'error:CredentialStatusListError:InvalidRoleForOperation',
        `The record ${recordId} is of the role ${record.role}: only its issuer can revoke a credential.`,
      )
    }
    const revoked = await revokePlace(tx, recordId)
    if (!revoked) {
      throw new Problem(
        'error:CredentialStatusListError:StatusListNotFoundForIssueCredentialRecord',
        `The record ${recordId} is in ${record.state} and has no credential with a status that could be revoked.`,
      )
    }
    if (!revoked.isNew) return
    await announce(tx, issueCredential, record, { revocation: { at: revoked.revokedAt } })
    await tell(tx, record)
  })
}

/** Without a connection any more there is nobody to tell; the list says it to whoever asks. */
async function tell(tx: Tx, record: CredentialRecord): Promise<void> {
  try {
    await putRevocation(tx, record)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}
