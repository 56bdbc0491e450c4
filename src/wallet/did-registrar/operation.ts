/** Signed operations on the wallet's DIDs: stored together with the job that submits them to the ledger. */
import type { Selectable } from 'kysely'
import { toHex } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { enqueue } from '../outbox/job.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'

export type OperationRow = Selectable<WalletTables['did_operation']>

type Signed = Pick<OperationRow, 'id' | 'did' | 'kind'> & { signed: Uint8Array }

export function toOperationRow({ signed, ...known }: Signed): OperationRow {
  return {
    ...known,
    signed_operation: toHex(signed),
    submitted_at: null,
    created_at: new Date().toISOString(),
  }
}

/** Stores a signed operation and the job to submit it. */
export async function insertOperation(tx: Tx, operation: Signed): Promise<void> {
  await tx
    .insertInto('did_operation')
    .values(toOperationRow(operation))
    // Signatures are deterministic, so a rejected operation may be stored again with the same bytes.
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ submitted_at: null }))
    .execute()
  await enqueueSubmit(tx, operation.did, operation.id)
}

export async function enqueueSubmit(tx: Tx, did: string, operationId: string): Promise<void> {
  await enqueue(tx, `did:${did}`, {
    kind: 'task',
    protocol: 'did-registrar',
    recordId: operationId,
    task: 'submit operation',
  })
}

/** @throws {Problem} 409 for a DID that the wallet did not create */
export async function getCreateOperation(db: Db, did: string): Promise<OperationRow> {
  return db
    .selectFrom('did_operation')
    .selectAll()
    .where('did', '=', did)
    .where('kind', '=', 'create')
    .executeTakeFirstOrThrow(
      () => new Problem('Conflict', `The DID ${did} was found on the ledger: it is published already.`),
    )
}
