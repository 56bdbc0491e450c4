/** Publication of a DID on the ledger (service §3.4, api.md 4.4, 5.4): promised with the state, done by the worker. */
import type { Wallet } from '../wallet/wallet.ts'
import { getDidRow } from './dids.ts'
import type { DidOperationResponse } from './model.ts'
import { getCreateOperation, owe } from './operation.ts'
import { versionOf } from './web.ts'

/** Promises to publish a DID; doing it again changes nothing. @throws {Problem} when the DID is not in the wallet. */
export async function publishDid(wallet: Wallet, didRef: string): Promise<DidOperationResponse> {
  const { did, method, state } = await getDidRow(wallet.db, didRef)
  if (method === 'web') return { scheduledOperation: { id: versionOf(state), didRef: did } }
  const { id } = await getCreateOperation(wallet.db, did)
  await wallet.transaction(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('did')
      .set({
        status: 'PUBLICATION_PENDING',
        pending_operation: id,
        failure: null,
        updated_at: new Date().toISOString(),
      })
      .where('did', '=', did)
      .where('status', '=', 'CREATED')
      .executeTakeFirst()
    if (numUpdatedRows !== 0n) await owe(tx, did, id)
  })
  return { scheduledOperation: { id, didRef: did } }
}
