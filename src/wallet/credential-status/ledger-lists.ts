/**
 * Status lists that are VDR entries on the ledger. Credentials refer to the URL of the entry, which every
 * reader of the ledger can resolve while this agent is away.
 *
 * The list names its own URL. So an empty entry is created first, and a task of the worker writes the signed
 * list when the ledger has confirmed that, and again after each revocation.
 */
import { steadyNow } from '../../foundation/clock.ts'
import { findVdrKeyRef } from '../did-registrar/vdr-key.ts'
import { createEntry, updateEntry } from '../vdr-entries/entries.ts'
import type { LedgerOperation } from '../../did/ledger/ledger.ts'
import { LaterError, type Task, type Wallet } from '../wallet.ts'
import { findList, type ListMedia, type StatusList } from './lists.ts'
import { publishList } from './publish.ts'

/** The pause before the ledger is asked again, if it does not say when it confirms. */
const pauseMs = 5_000

/** An operation without a verdict after this time may be lost. The list is written again. */
const lostAfterMs = 6 * 3_600_000

/**
 * Creates the empty entry of a new list.
 *
 * @throws {Problem} 400 without a VDR key, 503 if the ledger is away
 */
export async function createListEntry(
  wallet: Wallet,
  { id, did, media }: { id: string; did: string; media: ListMedia },
): Promise<StatusList> {
  const keyRef = await findVdrKeyRef(wallet, did)
  const { url, operationId } = await createEntry(wallet, new Uint8Array(), { id: 'ledger' }, keyRef)
  const now = new Date().toISOString()
  const list = { id, did, url, media, used: 0, revision: 0, written_revision: null, created_at: now }
  return { ...list, operation_id: operationId!, submitted_at: now }
}

/** Writes the signed list if it has changed since it was written. Ends when the ledger has confirmed it. */
export const writeList: Task = async (wallet, listId) => {
  const list = await findList(wallet.db, listId)
  if (!list || list.operation_id === null) return () => Promise.resolve()
  const operation = await wallet.env.ledger.getOperation(list.operation_id)
  if (isPending(wallet, list, operation)) throw new LaterError(confirmationOf(operation))
  const isWritten = operation?.status === 'confirmed' && list.written_revision === list.revision
  if (isWritten) return () => Promise.resolve()
  if (operation?.status === 'rejected')
    wallet.env.log.warn(
      { walletId: wallet.id, url: list.url, reason: operation.details },
      'the ledger rejected a status list',
    )
  const { body } = await publishList(wallet, listId, list.media as ListMedia)
  const keyRef = await findVdrKeyRef(wallet, list.did)
  const written = await updateEntry(wallet, list.url, Buffer.from(body), keyRef)
  const change = {
    operation_id: written.operationId!,
    submitted_at: new Date().toISOString(),
    written_revision: list.revision,
  }
  await wallet.transaction((tx) =>
    tx.updateTable('status_list').set(change).where('id', '=', listId).execute(),
  )
  throw new LaterError(confirmationOf(await wallet.env.ledger.getOperation(change.operation_id)))
}

function isPending(
  { env: { ledger } }: Wallet,
  { submitted_at }: StatusList,
  operation: LedgerOperation | undefined,
): boolean {
  if (operation && operation.status !== 'pending') return false
  const isLost = Date.now() - Date.parse(submitted_at ?? '') >= lostAfterMs
  return !isLost && (operation !== undefined || ledger.hidesPending === true)
}

function confirmationOf(operation: LedgerOperation | undefined): Date {
  if (operation && operation.status !== 'pending') return new Date(steadyNow())
  const at = operation?.confirmsAt
  const waitMs = at === undefined ? pauseMs : Math.max(0, Date.parse(at) - Date.now())
  return new Date(steadyNow() + waitMs)
}
