/**
 * The wallet's did:key and did:jwk DIDs. Each is one key, which signs credentials and proofs. The DID
 * contains the key, so it resolves everywhere at once, and cannot change.
 */
import { Problem } from '../../foundation/problem.ts'
import { toPublic, type PublicJwk } from '../../foundation/crypto/keys.ts'
import { createJwkDid } from '../../did/jwk.ts'
import { createKeyDid } from '../../did/key.ts'
import { toMultikey } from '../../did/multikey.ts'
import type { keyCurves, KeyMethodName } from '../../definitions/did-names.ts'
import type { Wallet } from '../wallet.ts'
import { empty } from './content.ts'
import { newRow, versionOf, writeState } from './dids.ts'
import { insertDid, type NewDid } from './insert.ts'
import { createKeys, type NewKey, toKeyRow } from './keys.ts'
import type { ManagedMethod } from './methods.ts'

/** The usage in the derivation path of a key. The key serves authentication too. */
export const singleKeyUsage = 'assertionMethod'

/** The DID of a public key, and the fragment of the key's id in its document. */
const forms: Record<KeyMethodName, (jwk: PublicJwk) => { did: string; id: string }> = {
  key: (jwk) => ({ did: createKeyDid(jwk), id: toMultikey(jwk) }),
  jwk: (jwk) => ({ did: createJwkDid(jwk), id: '0' }),
}

export const singleKey = (method: KeyMethodName): ManagedMethod => ({
  async create(wallet, { curve, label, documentTemplate }) {
    if (Object.values(documentTemplate).some((list) => list.length > 0))
      throw new Problem(
        'UnprocessableEntity',
        `documentTemplate: a did:${method} is one key and has no other content. Leave the template empty, and name the curve in 'curve'.`,
      )
    return createSingleKeyDid(wallet, method, curve ?? 'P-256', { label })
  },
})

/** Creates a did:key or did:jwk and returns it. */
export async function createSingleKeyDid(
  wallet: Wallet,
  method: KeyMethodName,
  curve: (typeof keyCurves)[number],
  { label, ...more }: { ofHolder?: true; label?: string | null | undefined } = {},
): Promise<string> {
  const spec = { id: 'key', usage: singleKeyUsage, curve } as const
  const create = async (didIndex: number) => {
    const [key] = await createKeys(wallet, didIndex, [spec], new Map())
    return toSingleKeyRows(wallet, method, didIndex, key!, more)
  }
  const { did } = await insertDid(wallet, create, label)
  return did
}

export function toSingleKeyRows(
  wallet: Wallet,
  method: KeyMethodName,
  didIndex: number,
  key: NewKey,
  more: { ofHolder?: true } = {},
): NewDid {
  const publicKey = toPublic(key.jwk)
  const { did, id } = forms[method](publicKey)
  const usages = ['authentication', 'assertionMethod'] as const
  const state = writeState({
    ...empty,
    publicKeys: usages.map((usage) => ({ id, usage, publicKey })),
    ...more,
  })
  const row = newRow({ did, method, long_form: null, did_index: didIndex, status: 'PUBLISHED', state })
  return { row, keys: [toKeyRow(wallet, did, versionOf(state), { ...key, id })] }
}
