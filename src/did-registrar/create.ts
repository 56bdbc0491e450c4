/** Creates did:prism DIDs from templates. */
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
import { type DidRow, newRow, nextDidIndex, toManagedDid, writeState } from './dids.ts'
import { createKeys, insertKeys, type KeyRow, toKeyRow, toPrismKey } from './keys.ts'
import type { CreateManagedDid } from './model.ts'
import type { OperationRow } from './operation.ts'
import { keysOfTemplate, refuseTemplate } from './template.ts'

/** The rows of a new DID. */
export type NewDid = { row: DidRow; operation?: OperationRow; keys: KeyRow[] }

/** Creates a did:prism and returns its long form. @throws {Problem} 422 when the template breaks a rule. */
export async function createDid(wallet: Wallet, template: CreateManagedDid): Promise<string> {
  const { long_form } = await insertDid(wallet, (didIndex) => createRows(wallet, template, didIndex))
  return long_form!
}

/** One queue per wallet: concurrent DIDs with the same DID index would have to be created again. */
const queues = new WeakMap<Db, PQueue>()

/** Creates and inserts a DID at the next free DID index. */
export async function insertDid(
  wallet: Wallet,
  create: (didIndex: number) => Promise<NewDid>,
): Promise<DidRow> {
  const queue = queues.get(wallet.db) ?? new PQueue({ concurrency: 1 })
  queues.set(wallet.db, queue)
  return queue.add(() => insertNext(wallet, create))
}

async function insertNext(wallet: Wallet, create: (didIndex: number) => Promise<NewDid>): Promise<DidRow> {
  for (;;) {
    const didIndex = await nextDidIndex(wallet.db)
    const { row, operation, keys } = await create(didIndex)
    const isInserted = await wallet.transaction(async (tx) => {
      // A restored DID may use the index since the keys were derived.
      if ((await nextDidIndex(tx)) !== didIndex) return false
      await tx.insertInto('did').values(row).execute()
      if (operation) await tx.insertInto('did_operation').values(operation).execute()
      await insertKeys(tx, keys)
      if (row.status === 'PUBLISHED')
        await appendEvent(tx, { type: 'DIDStatusUpdated', subject: row.did, data: toManagedDid(row) })
      return true
    })
    if (isInserted) return row
  }
}

/** The rows of a DID. Keys have the Cloud Agent's order: public keys, internal keys, master key. */
async function createRows(
  wallet: Wallet,
  { documentTemplate }: CreateManagedDid,
  didIndex: number,
): Promise<NewDid> {
  try {
    const { services, contexts } = documentTemplate
    const specs = keysOfTemplate(documentTemplate, 'prism')
    checkContextUris(contexts)
    const master = { id: masterKeyId, usage: 'master', curve: 'secp256k1' } as const
    const keys = await createKeys(wallet, didIndex, [...specs, master], new Map())
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
