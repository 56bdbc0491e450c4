/** Takes an invitation back (api.md 4.6). */
import { Problem } from '../../base/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { connection } from './model.ts'

/** Deletes a connection that is no more than an invitation. @throws {Problem} 404; 403 once somebody has answered. */
export function deleteConnection(wallet: Wallet, id: string): Promise<void> {
  return wallet.transaction(async (tx) => {
    const { role, state } = await getRecord(tx, connection, id)
    if (role !== 'Inviter' || state !== 'InvitationGenerated') {
      throw new Problem(
        'Not Allowed',
        `The connection ${id} is in state ${state}; only an invitation that nobody answered can be deleted.`,
      )
    }
    await tx.deleteFrom('record').where('id', '=', id).execute()
    await tx.deleteFrom('peer_did').where('record_id', '=', id).execute()
  })
}
