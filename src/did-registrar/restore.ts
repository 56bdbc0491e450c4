/** A seed's DIDs found again on the ledger (wire.md 11.3): every one that was published has a master key from the seed's path. */
import { setImmediate as turn } from 'node:timers/promises'
import { toPublic, isSameKey } from '../crypto/keys.ts'
import { toShortForm } from '../did/prism/did.ts'
import { type PrismKey, usages } from '../did/prism/model.ts'
import type { DidState } from '../did/prism/state.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { newRow, toDetail } from './dids.ts'
import { putKeys, type KeyRow } from './keys.ts'
import type { RestoredDid } from './model.ts'
import { writeState } from './state.ts'

/** How many places on the seed's path without a DID end the search, as wallets of other ledgers do (BIP-44, "gap limit"). */
const gap = 20

/** How far beyond the keys that a DID has its derived keys are looked for: some may have been removed, or passed over. */
const keyGap = 10

/**
 * Finds the published DIDs of the wallet's seed that the wallet does not know, and keeps them with the keys that the seed gives.
 * Unpublished DIDs, and keys that are not on secp256k1, are in no seed: the latter are named.
 *
 * @throws {Problem} 503 when the ledger does not answer; DIDs that were found before that are kept.
 */
export async function restoreDids(wallet: Wallet): Promise<RestoredDid[]> {
  const restored: RestoredDid[] = []
  for (let didIndex = 0, unused = 0; unused < gap; didIndex++, unused++) {
    // To derive a key takes milliseconds: others have a turn after each.
    await turn()
    const masterKey = wallet.deriveKey({ didIndex, usage: usages.master, keyIndex: 0 })
    for (const suffix of await wallet.env.ledger.findByMasterKey(toPublic(masterKey))) {
      const state = await wallet.env.ledger.getState(suffix)
      if (!state) continue
      unused = -1
      const made = await restore(wallet, didIndex, state)
      if (made) restored.push(made)
    }
  }
  return restored
}

/** Keeps a DID, unless the wallet has it. */
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
    await putKeys(tx, keys)
    return true
  })
  if (!isNew) return undefined
  return {
    ...toDetail(row),
    missingKeys: found.flatMap(({ key, keyIndex }) => (keyIndex === undefined ? [key.id] : [])),
  }
}

/** Where on the seed's path a key is. */
async function findKeyIndex(
  wallet: Wallet,
  didIndex: number,
  { usage, publicKey }: PrismKey,
  state: DidState,
): Promise<number | undefined> {
  if (publicKey.crv !== 'secp256k1') return undefined
  const last = state.publicKeys.length + state.retiredKeyIds.length + keyGap
  for (let keyIndex = 0; keyIndex < last; keyIndex++) {
    await turn()
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
