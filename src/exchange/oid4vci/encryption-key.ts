/**
 * The key to which wallets encrypt requests: P-256, one of each issuer. Its private part is sealed with the
 * key of the wallet.
 */
import * as z from 'zod'
import { newId } from '../../foundation/id.ts'
import { generateKey, toPublic, type PrivateJwk } from '../../foundation/crypto/keys.ts'
import { P256PrivateJwk } from '../../foundation/oauth/secrets.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { IssuerRow } from './issuers.ts'

const PublicKey = P256PrivateJwk.omit({ d: true }).extend({
  kid: z.string(),
  use: z.literal('enc'),
  alg: z.literal('ECDH-ES'),
})
export type EncryptionJwk = z.output<typeof PublicKey>

const Stored = z.object({ jwk: PublicKey, sealed: z.string() })

const contextOf = (issuerId: string) => `credential-issuer-encryption:${issuerId}`

/** A new key, for the column. */
export function newEncryptionKey(wallet: Wallet, issuerId: string): string {
  const key = generateKey('P-256')
  const jwk = PublicKey.parse({ ...toPublic(key), kid: newId(), use: 'enc', alg: 'ECDH-ES' })
  const sealed = wallet.seal(contextOf(issuerId), JSON.stringify(key))
  return JSON.stringify({ jwk, sealed } satisfies z.output<typeof Stored>)
}

/** The public key of an issuer. Undefined for an issuer of an earlier release until `provideEncryptionKey`. */
export function findEncryptionJwk({ encryption_key: stored }: IssuerRow): EncryptionJwk | undefined {
  return stored === null ? undefined : Stored.parse(JSON.parse(stored)).jwk
}

/** Stores a key of an issuer that has none. Another process may do so at the same time. */
export async function provideEncryptionKey(db: AgentDb, wallet: Wallet, issuerId: string): Promise<void> {
  const own = db.updateTable('credential_issuer').set({ encryption_key: newEncryptionKey(wallet, issuerId) })
  await own.where('id', '=', issuerId).where('encryption_key', 'is', null).execute()
}

/** The private key, and its id. Undefined as in `findEncryptionJwk`. */
export function findPrivateKey(
  wallet: Wallet,
  { id, encryption_key: stored }: IssuerRow,
): { key: PrivateJwk; kid: string } | undefined {
  if (stored === null) return undefined
  const { jwk, sealed } = Stored.parse(JSON.parse(stored))
  const key = wallet.unsealCached(contextOf(id), sealed, (text) => P256PrivateJwk.parse(JSON.parse(text)))
  return { key, kid: jwk.kid }
}
