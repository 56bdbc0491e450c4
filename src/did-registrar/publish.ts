/** Publication of a DID on the ledger (service §3.4, api.md 4.4, 5.4): promised with the state, done by the courier. */
import { fromHex } from '../base/bytes.ts'
import { operationId } from '../did/prism/operations.ts'
import { putEvent } from '../outbox/event.ts'
import * as outbox from '../outbox/outbox.ts'
import type { Tx } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { LaterError, type Work } from '../wallet/work.ts'
import { getDidRow, toManagedDid } from './dids.ts'
import type { DidOperationResponse, ManagedDid } from './model.ts'

/** How long a ledger that says nothing of when is left alone. */
const patienceMs = 1_000

/** Promises to publish a DID; doing it again changes nothing. @throws {Problem} when the DID is not in the wallet. */
export async function publishDid(wallet: Wallet, didRef: string): Promise<DidOperationResponse> {
  const { did, create_operation } = await getDidRow(wallet.db, didRef)
  await wallet.transaction(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('prism_did')
      .set({ status: 'PUBLICATION_PENDING', updated_at: new Date().toISOString() })
      .where('did', '=', did)
      .where('status', '=', 'CREATED')
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    await outbox.put(tx, `did:${did}`, { kind: 'work', protocol: 'did-registrar', recordId: did, work: 'publish DID' })
  })
  return { scheduledOperation: { id: operationId(fromHex(create_operation)), didRef: did } }
}

/** Hands the create operation to the ledger, as often as asked, and tells what came of it once that is certain. */
export const publishWork: Work = async (wallet, did) => {
  const { create_operation } = await getDidRow(wallet.db, did)
  const { operationId: id } = await wallet.env.ledger.submit(fromHex(create_operation))
  const operation = await wallet.env.ledger.getOperation(id)
  if (!operation || operation.status === 'pending') {
    throw new LaterError(operation?.confirmsAt === undefined ? new Date(Date.now() + patienceMs) : new Date(operation.confirmsAt))
  }
  if (operation.status === 'rejected')
    wallet.env.log.warn({ walletId: wallet.id, did, reason: operation.details }, 'the ledger rejected a DID')
  return (tx) => setStatus(tx, did, operation.status === 'confirmed' ? 'PUBLISHED' : 'CREATED')
}

async function setStatus(tx: Tx, did: string, status: ManagedDid['status']): Promise<void> {
  const before = await getDidRow(tx, did)
  if (before.status === status) return
  await tx.updateTable('prism_did').set({ status, updated_at: new Date().toISOString() }).where('did', '=', did).execute()
  // Publication alone is announced (service §3.4).
  if (status !== 'PUBLISHED') return
  await putEvent(tx, { type: 'DIDStatusUpdated', subject: did, data: toManagedDid({ ...before, status }) })
}
