/** Restores the published DIDs of a seed: their first master key is derived from it. */
import { setImmediate as nextTick } from 'node:timers/promises'
import { toPublic, isSameKey } from '../../foundation/crypto/keys.ts'
import { toShortForm } from '../../did/prism/did.ts'
import { type PrismKey, usages } from '../../did/prism/model.ts'
import type { DidState } from '../../did/prism/state.ts'
import type { Wallet } from '../wallet.ts'
import { newRow, toDetail, writeState } from './dids.ts'
import { insertKeys, type KeyRow } from './keys.ts'
import type { RestoredDid } from './model.ts'

/** The search ends after this number of consecutive DID indexes without a DID (gap limit, BIP-44). */
const didGap = 20

/** Key indexes to search beyond the number of a DID's keys, because indexes may have been skipped. */
const keyGap = 10

/**
 * Finds published DIDs of the wallet's seed that are not in the wallet, and inserts them with their derived
 * keys. Unpublished DIDs cannot be restored, nor can keys on other curves than secp256k1, which are reported
 * in `missingKeys`.
 *
 * @throws {Problem} 503 when the ledger does not answer. DIDs inserted before that stay.
 */
export async function restoreDids(wallet: Wallet): Promise<RestoredDid[]> {
  const restored: RestoredDid[] = []
  for (let didIndex = 0, unused = 0; unused < didGap; didIndex++, unused++) {
    // Deriving a key blocks for milliseconds.
    await nextTick()
    const masterKey = wallet.deriveKey({ didIndex, usage: usages.master, keyIndex: 0 })
    for (const suffix of await wallet.env.ledger.findByMasterKey(toPublic(masterKey))) {
      const state = await wallet.env.ledger.getState(suffix)
      if (!state) continue
      unused = -1
      const did = await restore(wallet, didIndex, state)
      if (did) restored.push(did)
    }
  }
  return restored
}

async function restore(wallet: Wallet, didIndex: number, state: DidState): Promise<RestoredDid | undefined> {
  const did = toShortForm(state.suffix)
  const row = newRow({
    did,
    method: 'prism',
    long_form: null,
    did_index: didIndex,
    status: 'PUBLISHED',
    state: writeState(state),
  })
  const found: { key: PrismKey; keyIndex: number | undefined }[] = []
  for (const key of state.publicKeys)
    found.push({ key, keyIndex: await findKeyIndex(wallet, didIndex, key, state) })
  const keys = found.flatMap(({ key, keyIndex }) =>
    keyIndex === undefined ? [] : [toRestoredKey(did, key, keyIndex)],
  )
  const isNew = await wallet.transaction(async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('did')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (!numInsertedOrUpdatedRows) return false
    await insertKeys(tx, keys)
    return true
  })
  if (!isNew) return undefined
  return {
    ...toDetail(row),
    missingKeys: found.flatMap(({ key, keyIndex }) => (keyIndex === undefined ? [key.id] : [])),
  }
}

async function findKeyIndex(
  wallet: Wallet,
  didIndex: number,
  { usage, publicKey }: PrismKey,
  state: DidState,
): Promise<number | undefined> {
  if (publicKey.crv !== 'secp256k1') return undefined
  const last = state.publicKeys.length + state.retiredKeyIds.length + keyGap
  for (let keyIndex = 0; keyIndex < last; keyIndex++) {
    await nextTick()
    if (isSameKey(toPublic(wallet.deriveKey({ didIndex, usage: usages[usage], keyIndex })), publicKey))
      return keyIndex
  }
  return undefined
}

function toRestoredKey(did: string, { id, usage }: PrismKey, keyIndex: number): KeyRow {
  return {
    did,
    key_id: id,
    operation_id: 'restored',
    usage: usages[usage],
    curve: 'secp256k1',
    key_index: keyIndex,
    sealed: null,
  }
}
