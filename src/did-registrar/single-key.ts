/**
 * The wallet's did:key and did:jwk DIDs. Each is one key, which signs credentials and proofs. The DID contains
 * the key, so it resolves everywhere at once, and cannot change.
 */
import { Problem } from '../base/problem.ts'
import { toPublic, type PublicJwk } from '../crypto/keys.ts'
import { createJwkDid } from '../did/jwk.ts'
import { createKeyDid } from '../did/key.ts'
import { toMultikey } from '../did/multikey.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { insertDid, type NewDid } from './create.ts'
import { newRow, writeState } from './dids.ts'
import { createKeys, type NewKey, toKeyRow } from './keys.ts'
import type { CreateManagedDid } from './model.ts'
import { versionOf } from './web.ts'

export type SingleKeyMethod = 'key' | 'jwk'

/** The usage in the derivation path of a key. The key serves authentication too. */
export const singleKeyUsage = 'assertionMethod'

/** Creates a did:key or did:jwk and returns it. @throws {Problem} 422 for content that such a DID cannot have */
export async function createSingleKeyDid(
  wallet: Wallet,
  method: SingleKeyMethod,
  { curve, documentTemplate }: CreateManagedDid,
): Promise<string> {
  if (Object.values(documentTemplate).some((list) => list.length > 0))
    throw new Problem(
      'UnprocessableEntity',
      `documentTemplate: a did:${method} is one key and has no other content. Leave the template empty, and name the curve in 'curve'.`,
    )
  const spec = { id: 'key', usage: singleKeyUsage, curve: curve ?? 'P-256' } as const
  const { did } = await insertDid(wallet, async (didIndex) => {
    const [key] = await createKeys(wallet, didIndex, [spec], new Map())
    return toSingleKeyRows(wallet, method, didIndex, key!)
  })
  return did
}

/** The DID of a public key. */
export function toSingleKeyDid(method: SingleKeyMethod, jwk: PublicJwk): string {
  return method === 'key' ? createKeyDid(jwk) : createJwkDid(jwk)
}

/** The rows of a DID that is a key. */
export function toSingleKeyRows(
  wallet: Wallet,
  method: SingleKeyMethod,
  didIndex: number,
  key: NewKey,
): NewDid {
  const publicKey = toPublic(key.jwk)
  const did = toSingleKeyDid(method, publicKey)
  // The fragments in the documents of `did/key.ts` and `did/jwk.ts`.
  const id = method === 'key' ? toMultikey(publicKey) : '0'
  const state = writeState({
    publicKeys: (['authentication', 'assertionMethod'] as const).map((usage) => ({ id, usage, publicKey })),
    services: [],
    contexts: [],
    retiredKeyIds: [],
    retiredServiceIds: [],
    deactivated: false,
  })
  const row = newRow({ did, method, long_form: null, did_index: didIndex, status: 'PUBLISHED', state })
  return { row, keys: [toKeyRow(wallet, did, versionOf(state), { ...key, id })] }
}
