/** Signed operations on the wallet's DIDs: stored together with the job that submits them to the ledger. */
import type { Selectable } from 'kysely'
import { toHex } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { enqueue } from '../outbox/job.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { getDidRow } from './dids.ts'
import type { DidOperationResponse } from './model.ts'
import { versionOf } from './web.ts'

export type OperationRow = Selectable<WalletTables['did_operation']>

/** Stores a signed operation and the job to submit it. */
export async function insertOperation(
  tx: Tx,
  { id, did, kind, signed }: { id: string; did: string; kind: OperationRow['kind']; signed: Uint8Array },
): Promise<void> {
  const row = {
    id,
    did,
    kind,
    signed_operation: toHex(signed),
    submitted_at: null,
    created_at: new Date().toISOString(),
  }
  await tx
    .insertInto('did_operation')
    .values(row)
    // Signatures are deterministic, so a rejected operation may be stored again with the same bytes.
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ submitted_at: null }))
    .execute()
  await enqueueSubmit(tx, did, id)
}

async function enqueueSubmit(tx: Tx, did: string, operationId: string): Promise<void> {
  await enqueue(tx, `did:${did}`, {
    kind: 'task',
    protocol: 'did-registrar',
    recordId: operationId,
    task: 'submit operation',
  })
}

async function getCreateOperation(db: Db, did: string): Promise<OperationRow> {
  return db
    .selectFrom('did_operation')
    .selectAll()
    .where('did', '=', did)
    .where('kind', '=', 'create')
    .executeTakeFirstOrThrow(
      () => new Problem('Conflict', `The DID ${did} was found on the ledger: it is published already.`),
    )
}

/** Enqueues the publication of a DID, once. @throws {Problem} 404 when the DID is not in the wallet */
export async function publishDid(wallet: Wallet, didRef: string): Promise<DidOperationResponse> {
  const { did, method, state } = await getDidRow(wallet.db, didRef)
  if (method !== 'prism') return { scheduledOperation: { id: versionOf(state), didRef: did } }
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
    if (numUpdatedRows !== 0n) await enqueueSubmit(tx, did, id)
  })
  return { scheduledOperation: { id, didRef: did } }
}
