/**
 * Restores did:key and did:jwk DIDs, which no ledger lists: their keys are searched for in the derivation
 * path.
 */
import { setImmediate as nextTick } from 'node:timers/promises'
import { Problem } from '../../foundation/problem.ts'
import { keyMethods, namesOf } from '../../definitions/did-names.ts'
import type { Wallet } from '../wallet.ts'
import { isManagedDid, nextDidIndex, toDetail } from './dids.ts'
import { insertRows, type NewDid } from './insert.ts'
import { deriveKey } from './keys.ts'
import type { RestoredDid } from './model.ts'
import { singleKeyUsage, toSingleKeyRows } from './single-key.ts'

/** DID indexes to search beyond those that the wallet has used. */
const searched = 200

const derivedCurves = ['P-256', 'secp256k1'] as const

/**
 * Inserts the given DIDs with their keys. DIDs that the wallet has are skipped.
 *
 * @throws {Problem} 422 when a DID is not of the wallet's seed. Nothing is inserted then.
 */
export async function restoreSingleKeyDids(wallet: Wallet, dids: readonly string[]): Promise<RestoredDid[]> {
  const missing = new Set<string>()
  for (const did of dids) if (!(await isManagedDid(wallet.db, did))) missing.add(did)
  const found: NewDid[] = []
  const end = (await nextDidIndex(wallet.db)) + searched
  for (let didIndex = 0; missing.size > 0 && didIndex < end; didIndex++) {
    for (const curve of derivedCurves) {
      // Deriving a key blocks for milliseconds.
      await nextTick()
      const spec = { id: 'key', usage: singleKeyUsage, curve } as const
      const key = { ...spec, ...deriveKey(wallet, didIndex, spec, 0) }
      for (const method of keyMethods) {
        const rows = toSingleKeyRows(wallet, method, didIndex, key)
        if (missing.delete(rows.row.did)) found.push(rows)
      }
    }
  }
  const [unknown] = missing
  if (unknown !== undefined)
    throw new Problem(
      'UnprocessableEntity',
      `dids: no key that this wallet's seed derives for its first ${end} DIDs is ${unknown.slice(0, 100)}. Only ${namesOf(keyMethods, 'and')} DIDs on P-256 and secp256k1 can be restored.`,
    )
  await wallet.transaction(async (tx) => {
    for (const rows of found) await insertRows(tx, rows)
  })
  return found.map(({ row }) => ({ ...toDetail(row), missingKeys: [] }))
}
