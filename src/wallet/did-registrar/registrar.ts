/** Creates, publishes, changes and restores the DIDs of a wallet. The row of a DID's method does the work. */
import { Problem } from '../../foundation/problem.ts'
import { usualMethod } from '../../definitions/did-names.ts'
import { InvalidOperation } from '../../did/prism/model.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Wallet } from '../wallet.ts'
import { type DidRow, getDidRow, operationPending, readContent, updateDidRow, versionOf } from './dids.ts'
import { managed } from './methods.ts'
import type { CreateManagedDid, DidOperationResponse, RestoredDid, UpdateManagedDid } from './model.ts'
import { restoreSingleKeyDids } from './restore-single-key.ts'
import { storeVerdict } from './submit.ts'

/**
 * Creates a DID and returns the form that resolves.
 *
 * @throws {Problem} 409, 422 for a template that breaks a rule
 */
export async function createDid(wallet: Wallet, request: CreateManagedDid, db: AgentDb): Promise<string> {
  return orRefuse(
    () => managed[request.method ?? usualMethod].create(wallet, request, db),
    'UnprocessableEntity',
    'document template',
  )
}

/** Enqueues the publication of a DID, once. @throws {Problem} 404 when the DID is not in the wallet */
export async function publishDid(wallet: Wallet, didRef: string): Promise<DidOperationResponse> {
  const row = await getDidRow(wallet.db, didRef)
  const { publish } = managed[row.method]
  return publish?.(wallet, row) ?? { scheduledOperation: { id: versionOf(row.state), didRef: row.did } }
}

/**
 * Updates a DID, or enqueues the update.
 *
 * @throws {Problem} 400 for an invalid action, 404 for a DID that is not in the wallet, 409 for a DID that is
 * its key, and for one that is not published, is deactivated, or has a pending operation.
 */
export async function updateDid(
  wallet: Wallet,
  didRef: string,
  { actions }: UpdateManagedDid,
): Promise<DidOperationResponse> {
  const row = await getChangeable(wallet, didRef, 'update')
  return orRefuse(() => managed[row.method].update!(wallet, row, actions), 'BadRequest', 'update')
}

/** Deactivates a DID, or enqueues that. @throws {Problem} as `updateDid`. */
export async function deactivateDid(wallet: Wallet, didRef: string): Promise<DidOperationResponse> {
  const row = await getChangeable(wallet, didRef, 'deactivate')
  return orRefuse(() => managed[row.method].deactivate!(wallet, row), 'BadRequest', 'update')
}

/** Sets or removes the wallet's name for a DID. @throws {Problem} as `getManagedDid` */
export async function labelDid(wallet: Wallet, didRef: string, label: string): Promise<DidRow> {
  const { did } = await getDidRow(wallet.db, didRef)
  return wallet.transaction(async (tx) => {
    await updateDidRow(tx, did, { label: label || null })
    return getDidRow(tx, did)
  })
}

/**
 * Restores the given DIDs, each of which is a key, or else the published DIDs of the seed.
 *
 * @throws {Problem} 422, 503
 */
export async function restoreDids(
  wallet: Wallet,
  dids: readonly string[] | null | undefined,
): Promise<RestoredDid[]> {
  if (dids) return restoreSingleKeyDids(wallet, dids)
  const restored: RestoredDid[] = []
  for (const { restore } of Object.values(managed)) restored.push(...((await restore?.(wallet)) ?? []))
  return restored
}

async function getChangeable(
  wallet: Wallet,
  didRef: string,
  change: 'update' | 'deactivate',
): Promise<DidRow> {
  const row = await readResolved(wallet, didRef)
  if (!managed[row.method][change])
    throw new Problem(
      'Conflict',
      `The DID ${row.did.slice(0, 100)} is its key, and cannot be changed or deactivated. Create another.`,
    )
  if (row.status !== 'PUBLISHED')
    throw new Problem(
      'Conflict',
      `The DID ${row.did} is ${row.status}: it must be PUBLISHED before it can be changed.`,
    )
  if (readContent(row.state).deactivated)
    throw new Problem('Conflict', `The DID ${row.did} is deactivated, which is final.`)
  if (row.pending_operation !== null) throw operationPending(row.did)
  return row
}

/** A DID's row, after storing the verdict of its pending operation. The worker may not have stored it yet. */
async function readResolved(wallet: Wallet, didRef: string): Promise<DidRow> {
  const row = await getDidRow(wallet.db, didRef)
  if (row.pending_operation === null) return row
  try {
    await storeVerdict(wallet, row)
  } catch (error) {
    if (!(error instanceof Problem && error.type === 'error:ServiceUnavailable')) throw error
    return row
  }
  return getDidRow(wallet.db, didRef)
}

async function orRefuse<T>(
  work: () => Promise<T>,
  type: 'BadRequest' | 'UnprocessableEntity',
  what: string,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof InvalidOperation)) throw error
    throw new Problem(type, `The ${what} is not accepted: ${error.message}.`, { cause: error })
  }
}
