/** A new DID from a template (api.md 4.4). */
import PQueue from 'p-queue'
import { toHex } from '../base/bytes.ts'
import { toLongForm, toShortForm } from '../did/prism/did.ts'
import { masterKeyId } from '../did/prism/model.ts'
import { encodeOperation, operationHash, operationId, signOperation } from '../did/prism/operations.ts'
import { checkContextUris } from '../did/prism/rules.ts'
import { toPrismService } from '../did/prism/service.ts'
import { createState } from '../did/prism/state.ts'
import { appendEvent } from '../events/event.ts'
import type { Db } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { newRow, nextDidIndex, toManagedDid, type DidRow } from './dids.ts'
import { makeKeys, putKeys, toKeyRow, toPrismKey, type KeyRow } from './keys.ts'
import type { CreateManagedDid } from './model.ts'
import type { OperationRow } from './operation.ts'
import { writeState } from './state.ts'
import { keysOfTemplate, refuseTemplate } from './template.ts'

/** The rows of a new DID. */
export type MadeDid = { row: DidRow; operation?: OperationRow; keys: KeyRow[] }

/** Makes a did:prism and returns its long form. @throws {Problem} 422 when the template breaks a rule. */
export async function createDid(wallet: Wallet, template: CreateManagedDid): Promise<string> {
  const { long_form } = await keepNewDid(wallet, (didIndex) => makeDid(wallet, template, didIndex))
  return long_form!
}

/** A wallet's new DIDs are made one after the other: of those that are made at once for the same place, all but one would have to be made again. */
const queues = new WeakMap<Db, PQueue>()

/** Keeps the DID that is made for the next place on the seed's path. */
export async function keepNewDid(
  wallet: Wallet,
  make: (didIndex: number) => Promise<MadeDid>,
): Promise<DidRow> {
  const queue = queues.get(wallet.db) ?? new PQueue({ concurrency: 1 })
  queues.set(wallet.db, queue)
  return queue.add(() => keepNext(wallet, make))
}

async function keepNext(wallet: Wallet, make: (didIndex: number) => Promise<MadeDid>): Promise<DidRow> {
  for (;;) {
    const didIndex = await nextDidIndex(wallet.db)
    const { row, operation, keys } = await make(didIndex)
    const isKept = await wallet.transaction(async (tx) => {
      // A DID that was found again may have taken the index while this one's keys were derived.
      if ((await nextDidIndex(tx)) !== didIndex) return false
      await tx.insertInto('did').values(row).execute()
      if (operation) await tx.insertInto('did_operation').values(operation).execute()
      await putKeys(tx, keys)
      if (row.status === 'PUBLISHED')
        await appendEvent(tx, { type: 'DIDStatusUpdated', subject: row.did, data: toManagedDid(row) })
      return true
    })
    if (isKept) return row
  }
}

/** Keys of the template in its order, then the internal ones, then the master key (wire.md 11.3). */
async function makeDid(
  wallet: Wallet,
  { documentTemplate }: CreateManagedDid,
  didIndex: number,
): Promise<MadeDid> {
  try {
    const { services, contexts } = documentTemplate
    const wanted = keysOfTemplate(documentTemplate)
    checkContextUris(contexts)
    const master = { id: masterKeyId, usage: 'master', curve: 'secp256k1' } as const
    const keys = await makeKeys(wallet, didIndex, [...wanted, master], new Map())
    const operation = encodeOperation({
      operation: 'create',
      publicKeys: keys.map(toPrismKey),
      services: services.map(toPrismService),
      contexts,
    })
    const state = createState(operation)
    const did = toShortForm(operationHash(operation))
    const signed = signOperation(operation, masterKeyId, keys.at(-1)!.jwk)
    const id = operationId(signed)
    const longForm = toLongForm(operation)
    const row = newRow({
      did,
      method: 'prism',
      long_form: longForm,
      did_index: didIndex,
      status: 'CREATED',
      state: writeState(state),
    })
    return {
      row,
      operation: {
        id,
        did,
        kind: 'create',
        signed_operation: toHex(signed),
        submitted_at: null,
        created_at: row.created_at,
      },
      keys: keys.map((key) => toKeyRow(wallet, did, id, key)),
    }
  } catch (error) {
    return refuseTemplate(error)
  }
}
