/** Changes what the wallet's owner has said of a connection (ours). */
import { getOwnDid } from '../../did-registrar/dids.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getRecord } from '../engine/find.ts'
import { amend } from '../engine/record.ts'
import type { AutomaticAcceptance } from './acceptance.ts'
import { connection, type ConnectionRecord, type UpdateConnection } from './model.ts'

/**
 * Changes the label of a connection, and which offers over it are accepted from now on without a person. No step, so no event. An offer
 * that is there already waits for its answer as before.
 *
 * @throws {Problem} 404 when there is no such connection; as `mustAccept`.
 */
export async function updateConnection(
  wallet: Wallet,
  id: string,
  { label, automaticAcceptance }: UpdateConnection,
): Promise<ConnectionRecord> {
  await getRecord(wallet.db, connection, id)
  await mustAccept(wallet, automaticAcceptance?.acceptance)
  const change = {
    ...(label !== undefined && { label: label || undefined }),
    ...(automaticAcceptance && { automaticAcceptance: automaticAcceptance.acceptance }),
  }
  return wallet.transaction(async (tx) => {
    await amend(tx, connection, await getRecord(tx, connection, id), change)
    return getRecord(tx, connection, id)
  })
}

/** Makes sure that an acceptance could be made as it is said, as `accept-offer` would. @throws {Problem} 400 or 404 for a DID or a key that cannot be used. */
export async function mustAccept(
  wallet: Wallet,
  automaticAcceptance: AutomaticAcceptance | undefined,
): Promise<void> {
  if (!automaticAcceptance) return
  const { subjectId, keyId } = automaticAcceptance
  if (subjectId === undefined) return
  await getOwnDid(wallet.db, subjectId)
  await getSigningKey(wallet, subjectId, 'authentication', keyId)
}
