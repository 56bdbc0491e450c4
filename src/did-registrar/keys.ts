/** The private keys of the wallet's did:prism DIDs: found by purpose, derived from the seed or unsealed. */
import type { Selectable } from 'kysely'
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import type { PrivateJwk } from '../crypto/keys.ts'
import { usages } from '../did/prism/model.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { getOwnDid } from './dids.ts'

const StoredJwk = z.object({ kty: z.literal('OKP'), crv: z.enum(['Ed25519', 'X25519']), x: z.string(), d: z.string() })

/** The words the real agent uses for a purpose that has no key. */
const names = { authentication: 'Authentication', assertionMethod: 'AssertionMethod' } as const

/**
 * The key of a DID of this wallet that signs for a purpose: the one that `keyId` names, or the first.
 *
 * @throws {Problem} 400 when the DID is not in the wallet, or has no such key.
 */
export async function getSigningKey(
  wallet: Wallet,
  didRef: string,
  purpose: 'authentication' | 'assertionMethod',
  keyId?: string,
): Promise<{ keyId: string; privateJwk: PrivateJwk }> {
  const { did } = await getOwnDid(wallet.db, didRef).catch((error: unknown) => {
    throw error instanceof Problem && error.status === 404 ? new Problem('BadRequest', error.message, { cause: error }) : error
  })
  const rows = await wallet.db
    .selectFrom('prism_key')
    .selectAll()
    .where('did', '=', did)
    .where('usage', '=', usages[purpose])
    .orderBy('key_id')
    .execute()
  const wanted = keyId?.replace(/^.*#/, '')
  const row = wanted === undefined ? rows[0] : rows.find((key) => key.key_id === wanted)
  if (!row) {
    const which = wanted === undefined ? '' : ` with the id ${wanted}`
    throw new Problem(
      'error:CredentialServiceError:KeyNotFoundInDID',
      `${names[purpose]} key${which} not found for the ${did}. Create a DID that has one.`,
    )
  }
  return { keyId: row.key_id, privateJwk: await openKey(wallet, row) }
}

async function openKey(
  wallet: Wallet,
  { did, key_id, usage, key_index, sealed }: Selectable<WalletTables['prism_key']>,
): Promise<PrivateJwk> {
  if (sealed !== null) return StoredJwk.parse(JSON.parse(wallet.unseal(`prism-key:${did}#${key_id}`, sealed)))
  const { did_index: didIndex } = await wallet.db
    .selectFrom('prism_did')
    .select('did_index')
    .where('did', '=', did)
    .executeTakeFirstOrThrow()
  return wallet.deriveKey({ didIndex, usage, keyIndex: key_index! })
}
