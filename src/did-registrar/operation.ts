/** Signed operations on the wallet's DIDs: kept, and owed to the ledger in the transaction that promises them. */
import type { Selectable } from 'kysely'
import { toHex } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { enqueue } from '../outbox/job.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'

export type OperationRow = Selectable<WalletTables['did_operation']>

/** Keeps a signed operation, and owes it to the ledger. */
export async function putOperation(
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
    // Signatures are deterministic: what was rejected once may come again with the same bytes.
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ submitted_at: null }))
    .execute()
  await owe(tx, did, id)
}

/** Owes an operation that is kept already to the ledger. */
export async function owe(tx: Tx, did: string, operationId: string): Promise<void> {
  await enqueue(tx, `did:${did}`, {
    kind: 'task',
    protocol: 'did-registrar',
    recordId: operationId,
    task: 'submit operation',
  })
}

/** The operation that makes a DID of the wallet. */
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
